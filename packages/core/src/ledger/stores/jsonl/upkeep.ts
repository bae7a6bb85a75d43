/** What a person does with the files of ledgers: look whether they are whole, cut off what is damaged, end a lock. */
import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { LedgerEvent } from '../../event.js'
import { numbered } from '../../open-ledger.js'
import { type Damage, readChain, topOf } from './chain.js'
import { sizeOf } from './files.js'
import { baseOf, ledgerAt } from './names.js'
import { hold, holdNext, type LockState, lockState } from './ownership.js'
import { followOn } from './takeover.js'

export interface LedgerReport {
  /** The path of its first file. */
  readonly file: string
  readonly events: number
  readonly segments: number
  /** Bytes of an append that was cut off. They count for nothing, and the next append removes them. */
  readonly torn: number
  readonly damage?: Damage
  /** Who holds it right now, or did when it died. */
  readonly lock?: LockState
}

/** The first file of every ledger at a path: of a folder, or the file itself. */
export async function ledgersAt(path: string): Promise<string[]> {
  if (path.endsWith('.jsonl') && sizeOf(path) !== undefined) return [path]
  const found = await readdir(path, { recursive: true })
  return found.filter((each) => ledgerAt(each) !== undefined).map((each) => join(path, each))
}

const baseOfFile = (file: string) => file.replace(/(?:\.\d+)?\.jsonl$/, '')

export async function checkLedger(file: string): Promise<LedgerReport> {
  const base = baseOfFile(file)
  const { extent, torn, damage } = await readChain(base)
  const segments = topOf(base)
  const lock = await lockState(base, Math.max(1, segments))
  return {
    file: `${base}.jsonl`,
    events: extent.count,
    segments,
    torn,
    ...(damage ? { damage } : {}),
    ...(lock ? { lock } : {}),
  }
}

/** Everything that is whole in it, of a fork with what it goes on from, and the id of its conversation. */
export async function readLedger(file: string): Promise<{
  readonly id: string
  readonly file: string
  readonly events: readonly LedgerEvent[]
  readonly damage?: Damage
}> {
  const base = baseOfFile(file)
  const { events: own, damage } = await readChain(base)
  const id = ledgerAt(`${basename(base)}.jsonl`) ?? basename(base)
  const events = await withOrigin(base, own)
  return { id, file: `${base}.jsonl`, events, ...(damage ? { damage } : {}) }
}

/** Its origin is looked for beside it. Where that is not whole, what is its own is all there is. */
async function withOrigin(base: string, own: readonly LedgerEvent[]): Promise<readonly LedgerEvent[]> {
  const [first] = own
  if (first?.kind !== 'forked') return own
  const { ledger, events: count } = first.origin
  const other = baseOf(dirname(base), ledger)
  const before = (await withOrigin(other, (await readChain(other)).events)).slice(0, count)
  return before.length < count ? own : [...before, ...own.map((event) => numbered(event, count))]
}

/**
 * The ledger then ends before its damage. Nothing is removed: a new segment says how far the damaged one counts. Gives what was
 * damaged; undefined where nothing was.
 */
export async function repairLedger(file: string): Promise<Damage | undefined> {
  const base = baseOfFile(file)
  const holding = await hold(base, topOf(base), 0)
  try {
    const { damage } = await readChain(base)
    if (!damage) return undefined
    if (damage.tooNew !== undefined) throw new Error('it was written by a newer version, and is not damaged')
    const next = await holdNext(base)
    try {
      await followOn(base, next.segment, damage.at)
    } finally {
      await next.release()
    }
    return damage
  } finally {
    await holding.release()
  }
}

/** Ends a lock whose owner is gone. Gives whose it was; undefined where there was none. A process that is alive keeps its lock. */
export async function unlockLedger(file: string): Promise<LockState | undefined> {
  const base = baseOfFile(file)
  const lock = await lockState(base, Math.max(1, topOf(base)))
  if (!lock) return undefined
  if (lock.standing === 'alive')
    throw new Error(
      `process ${lock.owner?.pid} is alive and holds it; end that process, and its lock ends with it`,
    )
  const next = await holdNext(base)
  try {
    await followOn(base, next.segment)
  } finally {
    await next.release()
  }
  return lock
}
