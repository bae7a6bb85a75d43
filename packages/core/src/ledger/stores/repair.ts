/** Checks, reads and repairs the files of ledgers for `toolwell ledger`. */
import { constants } from 'node:fs'
import { link, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { LedgerEvent } from '../event.js'
import { readLedger } from '../log.js'
import { syncFolder } from './folders.js'
import {
  type Damage,
  decodeLedgerFile,
  type LedgerContent,
  ledgerFile,
  openLedgerFile,
  readLedgerFile,
} from './jsonl.js'

export interface LedgerReport {
  readonly file: string
  /** Events that count: all of them, or those before the damage. */
  readonly events: number
  /** Appends that were cut off. Readers ignore them. */
  readonly torn: number
  readonly damage?: Damage
}

/** Finds the files of the ledgers at a path, which is a folder or one file. */
export async function findLedgerFiles(path: string): Promise<string[]> {
  if (path.endsWith('.jsonl') && (await stat(path)).isFile()) return [path]
  const found = await readdir(path, { recursive: true })
  return found.filter((each) => decodeLedgerFile(each) !== undefined).map((each) => join(path, each))
}

async function readContent(file: string): Promise<LedgerContent & { readonly id: string }> {
  const name = decodeLedgerFile(basename(file)) ?? basename(file)
  const handle = await openLedgerFile(file, constants.O_RDONLY)
  if (!handle) throw new Error('there is no such file')
  try {
    const { id = name, ...content } = await readLedgerFile(handle, undefined)
    if (resolve(file).endsWith(ledgerFile('/', id))) return { ...content, id }
    // The store goes by the name of the file, and so finds the lines of another ledger.
    return { ...(await readLedgerFile(handle, name)), id: name }
  } finally {
    await handle.close()
  }
}

export async function checkLedger(file: string): Promise<LedgerReport> {
  const { place, torn, damage } = await readContent(file)
  return { file, events: place.count, torn, ...(damage ? { damage } : {}) }
}

/** Reads all intact events, of a fork with those of its origin, and the id of the conversation. */
export async function readLedgerEvents(file: string): Promise<{
  readonly id: string
  readonly events: readonly LedgerEvent[]
  readonly damage?: Damage
}> {
  const { id, damage } = await readContent(file)
  const root = resolve(file).slice(0, -ledgerFile('/', id).length)
  const events = await readLedger(
    { read: async (ledger) => [...(await readContent(ledgerFile(root, ledger))).events], append: refuse },
    id,
  )
  return { id, events, ...(damage ? { damage } : {}) }
}

async function refuse(): Promise<never> {
  throw new Error('it is only read')
}

export interface Repair {
  readonly damage: Damage
  /** Events that the ledger keeps. */
  readonly events: number
  /** Path of the damaged file. */
  readonly kept: string
}

/**
 * Replaces a damaged file by its intact lines and keeps the old file next to it. A process that is appending gets a conflict, because
 * the path leads to another file. Undefined if nothing is damaged.
 */
export async function repairLedger(file: string): Promise<Repair | undefined> {
  const { damage, place } = await readContent(file)
  if (!damage) return undefined
  if (damage.format !== undefined)
    throw new Error('another version of Toolwell wrote it, and it is not damaged')
  const draft = `${file}.repaired`
  await rm(draft, { force: true })
  const old = await openLedgerFile(file, constants.O_RDONLY)
  const handle = await openLedgerFile(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL)
  try {
    const intact = Buffer.alloc(place.end)
    await old?.read(intact, 0, place.end, 0)
    await handle?.writeFile(place.end === 0 ? '' : Buffer.concat([intact, Buffer.from('\n')]))
    await handle?.sync()
  } finally {
    await Promise.all([old?.close(), handle?.close()])
  }
  const kept = await keepOldFile(file)
  await rename(draft, file)
  await syncFolder(dirname(file))
  return { damage, events: place.count, kept }
}

async function keepOldFile(file: string): Promise<string> {
  for (let number = 1; ; number++) {
    const kept = `${file}.damaged-${number}`
    try {
      await link(file, kept)
      return kept
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}
