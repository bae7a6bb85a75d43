/** Ledgers as files, one line per append: the durable place below the ledger for hosts on one machine. */
import { type FileHandle, readdir, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ToolwellError } from '../../base/errors.js'
import { LEDGER_FORMAT, type LedgerEvent } from '../event.js'
import { assertLedgerId, conflict, eventsToJson, type LedgerStore, stillNeeded } from '../store.js'
import {
  type Chain,
  type Damage,
  type Extent,
  firstEvent,
  isFenced,
  readChain,
  topOf,
} from './jsonl/chain.js'
import { assertOwnFolder, isMissing, openToAppend, sizeOf, syncFolder } from './jsonl/files.js'
import { eventsLine } from './jsonl/lines.js'
import { baseOf, ledgerAt, lockFile, segmentFile } from './jsonl/names.js'
import { hold } from './jsonl/ownership.js'
import { readSnapshotFile, removeSnapshotFile, writeSnapshotFile } from './jsonl/snapshots.js'
import { DamageFound, followOn } from './jsonl/takeover.js'

/** Ledgers whose length is remembered. A forgotten one costs a read of its files at the next append. */
const REMEMBERED_LEDGERS = 1000

/**
 * The last queued append of each ledger. Shared by all stores of this process on purpose: two stores on one folder,
 * say one per request of a server, would otherwise wait for each other's lock instead of in line.
 * Holds only ledgers with an append under way.
 */
const queues = new Map<string, Promise<unknown>>()

/**
 * One file `<folder>/<encoded id>.jsonl` per ledger, and a further one for each time a writer did not end in order; the folder is
 * created at the first append. Each append is one line with a checksum, so a crash in the middle of it leaves an unfinished last
 * line, which reads ignore and the next append cuts off. Appends of other processes are kept apart by a lock: one of two that
 * expected the same length wins, the other gets `ledger-conflict`. Replicas on several machines want a database.
 */
export function jsonlStore(folder: string): LedgerStore {
  if (typeof folder !== 'string' || folder === '')
    throw new ToolwellError('invalid-option', 'jsonlStore needs the path of a folder.', { path: 'folder' })
  const root = resolve(folder)
  const extents = new Map<string, Extent>()
  /** Where the snapshots belong that were read. */
  const places = new Map<string, Extent>()

  function remember(into: Map<string, Extent>, base: string, extent: Extent): void {
    into.delete(base)
    into.set(base, extent)
    if (into.size <= REMEMBERED_LEDGERS) return
    for (const oldest of into.keys()) {
      into.delete(oldest)
      return
    }
  }

  /** What the disk says, in words; damage as what it is. */
  async function reading<T>(ledger: string, problem: string, task: () => Promise<T>): Promise<T> {
    assertLedgerId(ledger)
    try {
      assertOwnFolder(root)
      return await task()
    } catch (error) {
      if (error instanceof DamageFound) throw damaged(ledger, error.damage)
      throw ToolwellError.is(error) ? error : storeFailed(ledger, problem, error)
    }
  }

  async function whole(base: string, known?: Extent): Promise<Chain> {
    const chain = await readChain(base, known)
    if (chain.damage) throw new DamageFound(chain.damage)
    remember(extents, base, chain.extent)
    return chain
  }

  /** For the holder of the segment's lock. What is known already is not read again. */
  async function chainOf(base: string, segment: number, isAgain: boolean): Promise<Chain> {
    const known = isAgain ? undefined : extents.get(base)
    if (known?.segment === segment && sizeOf(segmentFile(base, segment)) === known.size)
      return { events: [], extent: known, torn: 0 }
    await followOn(base, segment)
    return whole(base, known)
  }

  /** False where somebody took over in the middle of it: then it has to be seen whether it counts. */
  async function tryAppend(ledger: string, base: string, given: Given, isAgain: boolean): Promise<boolean> {
    const { expected, added, events, line } = given
    const { segment, release } = await hold(base, extents.get(base)?.segment ?? 1)
    let handle: FileHandle | undefined
    try {
      const chain = await chainOf(base, segment, isAgain)
      const { extent } = chain
      const isThere = isAgain && JSON.stringify(chain.events.slice(expected, expected + added)) === events
      if (isThere) return true
      if (extent.count !== expected) throw conflict(ledger, expected, extent.count)
      if (added === 0) return true
      extents.delete(base)
      handle = await openToAppend(segmentFile(base, segment))
      await writeLine(handle, chain, line)
      if (extent.segment === 0) await syncFolder(dirname(base))
      if (isFenced(base, segment)) return false
      extents.set(base, {
        segment,
        size: extent.size + line.length,
        count: expected + added,
        line: { size: extent.size, count: extent.count },
      })
      return true
    } finally {
      // The events are on the disk, or the failure is already known: an error of closing would only hide which.
      await Promise.all([handle?.close().catch(() => {}), release()])
    }
  }

  return {
    read: (ledger, from = 0) =>
      reading(ledger, `could not be read from ${root}`, async () => {
        const base = baseOf(root, ledger)
        const known = [extents.get(base), places.get(base)].find((place) => place && place.count <= from)
        const { events, extent } = await whole(base, from > 0 ? known : undefined)
        if (from > extent.count) throw conflict(ledger, from, extent.count)
        // All that follow, however many of those before were read.
        const { length } = events
        return events.slice(length - (extent.count - from)) as LedgerEvent[]
      }),

    async append(ledger, expected, events) {
      assertLedgerId(ledger)
      const base = baseOf(root, ledger)
      // Taken down before the first wait, so that what the caller does to the events afterwards changes nothing.
      const json = eventsToJson(ledger, expected, events)
      const given = { expected, added: events.length, events: json, line: eventsLine(json) }
      await inTurn(base, () =>
        reading(ledger, `could not be written to ${segmentFile(base, 1)}`, async () => {
          for (let isAgain = false; !(await tryAppend(ledger, base, given, isAgain)); ) isAgain = true
        }),
      )
    },

    snapshot: {
      read: (ledger) =>
        reading(ledger, `could not be read from ${root}`, async () => {
          const base = baseOf(root, ledger)
          const found = await readSnapshotFile(base)
          if (found) remember(places, base, found.at)
          return found && { count: found.count, text: found.text }
        }),
      write: (ledger, { count, text }) =>
        reading(ledger, `could not be written to ${root}`, async () => {
          const base = baseOf(root, ledger)
          const known = extents.get(base)
          // Somebody has written since: the next one will do.
          if (known?.count !== count || !known.line) return
          await writeSnapshotFile(base, { count, text, at: { segment: known.segment, ...known.line } })
        }),
    },

    list: () => ledgersIn(root),

    async delete(ledger) {
      assertLedgerId(ledger)
      const base = baseOf(root, ledger)
      await inTurn(base, () =>
        reading(ledger, `could not be removed from ${root}`, async () => {
          const { release } = await hold(base, extents.get(base)?.segment ?? 1)
          extents.delete(base)
          places.delete(base)
          try {
            await assertNoForks(root, ledger)
            await removeSnapshotFile(base)
            // The newest first: what is left after a crash is an older state of the same ledger.
            for (let each = topOf(base); each > 0; each--) {
              await rm(segmentFile(base, each), { force: true })
              await rm(lockFile(base, each - 1), { force: true })
            }
            await syncFolder(dirname(base))
          } finally {
            await release()
          }
        }),
      )
    },
  }
}

async function ledgersIn(root: string): Promise<string[]> {
  const found = await readdir(root, { recursive: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  // Where it would be kept: in a folder of somebody else's, a file of this ending is none of ours.
  return found.flatMap((path) => {
    const ledger = ledgerAt(path)
    return ledger !== undefined && segmentFile(baseOf('', ledger), 1) === path ? [ledger] : []
  })
}

/** What a fork goes on from is not copied: it must stay. */
async function assertNoForks(root: string, ledger: string): Promise<void> {
  for (const other of await ledgersIn(root)) {
    const first = await firstEvent(baseOf(root, other))
    if (first?.kind === 'forked' && first.origin.ledger === ledger) throw stillNeeded(ledger, other)
  }
}

interface Given {
  readonly expected: number
  readonly added: number
  /** As JSON. */
  readonly events: string
  readonly line: Buffer
}

/** Runs the task once every earlier task for the same ledger has settled. */
function inTurn<T>(base: string, task: () => Promise<T>): Promise<T> {
  const result = (queues.get(base) ?? Promise.resolve()).then(task)
  const settled = result.then(
    () => {},
    () => {},
  )
  queues.set(base, settled)
  void settled.then(() => {
    if (queues.get(base) === settled) queues.delete(base)
  })
  return result
}

/**
 * Cuts off an unfinished last line, writes at the end and waits for the disk. After a failure the file has its whole
 * size again where the disk still allows it; where not, the unfinished line is ignored like any other.
 */
async function writeLine(handle: FileHandle, { extent, torn }: Chain, line: Buffer): Promise<void> {
  if (torn > 0) await handle.truncate(extent.size)
  try {
    // One write as a rule. A full disk takes a part first and says why only when asked for the rest.
    for (let written = 0; written < line.length; )
      written += (await handle.write(line, written, line.length - written)).bytesWritten
    await (extent.segment === 0 ? handle.sync() : handle.datasync())
  } catch (error) {
    await handle.truncate(extent.size).catch(() => {})
    throw error
  }
}

function damaged(ledger: string, { file, line, problem, at, tooNew }: Damage): ToolwellError {
  const id = JSON.stringify(ledger)
  if (tooNew !== undefined)
    return new ToolwellError(
      'ledger-too-new',
      `Ledger ${id} was written by a newer version: line ${line} of ${file} has format ${tooNew}, this version reads up to ${LEDGER_FORMAT}. Nothing was changed. Upgrade @toolwell/core, or start another ledger.`,
      { ledger, found: tooNew, known: LEDGER_FORMAT, file, line },
    )
  const place = line === 0 ? file : `line ${line} of ${file}`
  return new ToolwellError(
    'ledger-corrupt',
    `Ledger ${id} cannot be read: ${place} ${problem}. The ${at.count} events before it are whole. Nothing was changed. Restore it from a backup, or go on from those events: toolwell ledger repair ${file.replace(/(?:\.\d+)?\.jsonl$/, '.jsonl')}`,
    { ledger, line, file, whole: at.count },
  )
}

function storeFailed(ledger: string, problem: string, cause: unknown): ToolwellError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new ToolwellError(
    'store-failed',
    `Ledger ${JSON.stringify(ledger)} ${problem}: ${reason}.`,
    { ledger },
    { cause },
  )
}
