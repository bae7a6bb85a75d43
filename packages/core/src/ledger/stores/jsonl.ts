/** Stores ledgers as files, one line per append, for hosts on one machine. `jsonl-file.ts` has the rule for the lines. */
import { constants, existsSync, statSync } from 'node:fs'
import { type FileHandle, readdir, rm, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ToolwellError } from '../../base/errors.js'
import { assertLedgerId, conflict, eventsToJson, type LedgerStore, stillNeeded } from '../store.js'
import { isMissing, makeOwnFolder, syncFolder } from './folders.js'
import {
  decodeLedgerFile,
  describeDamage,
  encodeLine,
  type LedgerContent,
  leadsTo,
  ledgerFile,
  openLedgerFile,
  type Place,
  readFirstEvent,
  readLedgerFile,
} from './jsonl-file.js'

/** Ledgers whose last line is remembered. For any other, the next append reads the whole file. */
const REMEMBERED_LEDGERS = 1000

const READ = constants.O_RDONLY
const APPEND = constants.O_RDWR | constants.O_APPEND
const NOTHING: Place = { identity: '', start: 0, end: 0, sum: '', count: 0 }

interface Remembered {
  /** The last line that is known. */
  readonly latest: Place
  /** The last line that the caller has read or written. After a conflict, the caller asks for the events after it. */
  readonly seen: Place
  /** Identity of the file whose name survives a crash, because this store has synced its folder. */
  readonly synced?: string | undefined
}

/**
 * The last queued task of each ledger, for all stores of this process: a server may make one store per request. Holds only ledgers
 * with a task under way.
 */
const queues = new Map<string, Promise<unknown>>()

/**
 * Keeps each ledger in one file, `<folder>/<encoded id>.jsonl`. The first append creates the folder. Any number of processes may append
 * without locks: of two appends that expected the same length, the first line in the file wins and the other writer gets
 * `ledger-conflict`. A crash leaves an unfinished line at most, which readers ignore. For several machines, use a database store.
 */
export function jsonlStore(folder: string): LedgerStore {
  if (typeof folder !== 'string' || folder === '')
    throw new ToolwellError('invalid-option', 'jsonlStore needs the path of a folder.', { path: 'folder' })
  const root = resolve(folder)
  const places = new Map<string, Remembered>()
  let isLocal = false

  function remember(file: string, remembered: Remembered): void {
    places.delete(file)
    places.set(file, remembered)
    const [oldest = ''] = places.keys()
    if (places.size > REMEMBERED_LEDGERS) places.delete(oldest)
  }

  async function explained<T>(ledger: string, problem: string, task: () => Promise<T>): Promise<T> {
    try {
      assertOwnFolder(root)
      return await task()
    } catch (error) {
      throw ToolwellError.is(error) ? error : storeFailed(ledger, problem, error)
    }
  }

  /** Throws if the file is damaged. */
  async function readAll(ledger: string, handle: FileHandle, known?: Place, key?: string) {
    const content = await readLedgerFile(handle, ledger, known, key)
    const { damage, place } = content
    if (damage) throw describeDamage(ledger, ledgerFile(root, ledger), place.count, damage)
    return content
  }

  async function readPath(ledger: string, known?: Place): Promise<Pick<LedgerContent, 'events' | 'place'>> {
    const handle = await openLedgerFile(ledgerFile(root, ledger), READ)
    if (!handle) return { events: [], place: NOTHING }
    try {
      return await readAll(ledger, handle, known)
    } finally {
      await handle.close()
    }
  }

  async function createFile(file: string): Promise<FileHandle> {
    await makeOwnFolder(dirname(file))
    return (await openLedgerFile(file, APPEND | constants.O_CREAT)) as FileHandle
  }

  async function append(ledger: string, expected: number, count: number, events: string): Promise<void> {
    const file = ledgerFile(root, ledger)
    let handle = await openLedgerFile(file, APPEND)
    try {
      const { latest, seen, synced } = places.get(file) ?? {}
      const before = handle ? (await readAll(ledger, handle, latest)).place : NOTHING
      remember(file, { latest: before, seen: seen ?? before, synced })
      if (before.count !== expected) throw conflict(ledger, expected, before.count)
      if (count === 0) return
      if (!isLocal) await assertLocalDisk(root)
      isLocal = true
      handle ??= await createFile(file)
      const { bytes, key } = encodeLine(ledger, before, events)
      const failure = await writeLine(handle, bytes)
      const unsynced = await handle.datasync().then(() => undefined, toError)
      // Also if another process created the file: it may not have reached this step.
      if (before.identity === '' || synced !== before.identity) await syncFolder(dirname(file))
      const { own, place } = await readAll(ledger, handle, before, key).catch((error: unknown) => {
        throw ToolwellError.is(error) ? error : describeUnknown(ledger, error)
      })
      if (!own) throw failure ?? conflict(ledger, expected, place.count)
      if (unsynced) throw describeUnknown(ledger, unsynced)
      // Deleted or repaired meanwhile.
      if (!leadsTo(file, own.identity)) throw conflict(ledger, expected, (await readPath(ledger)).place.count)
      remember(file, { latest: own, seen: own, synced: own.identity })
    } finally {
      // The outcome is already known, and an error of closing would hide it.
      await handle?.close().catch(() => {})
    }
  }

  return {
    async read(ledger, from = 0) {
      assertLedgerId(ledger)
      return explained(ledger, `could not be read from ${root}`, async () => {
        const file = ledgerFile(root, ledger)
        const { latest, seen, synced } = places.get(file) ?? {}
        const known = [latest, seen].find((each) => each && each.count <= from)
        const { events, place } = await readPath(ledger, known)
        if (from > place.count) throw conflict(ledger, from, place.count)
        remember(file, { latest: place, seen: place, synced })
        return events.slice(events.length - (place.count - from))
      })
    },

    async append(ledger, expected, events) {
      assertLedgerId(ledger)
      const file = ledgerFile(root, ledger)
      // Before the first wait: later changes to the objects of the caller have no effect.
      const json = eventsToJson(ledger, expected, events)
      const { length } = events
      await inTurn(file, () =>
        explained(ledger, `could not be written to ${file}`, () => append(ledger, expected, length, json)),
      )
    },

    list: () => listLedgers(root),

    async delete(ledger) {
      assertLedgerId(ledger)
      const file = ledgerFile(root, ledger)
      await inTurn(file, () =>
        explained(ledger, `could not be deleted from ${root}`, async () => {
          await assertNoForks(root, ledger)
          places.delete(file)
          await rm(file, { force: true })
          await syncFolder(dirname(file))
        }),
      )
    },
  }
}

/** Runs the task after every earlier task for the same file. */
function inTurn<T>(file: string, task: () => Promise<T>): Promise<T> {
  const result = (queues.get(file) ?? Promise.resolve()).then(task)
  const settled = result.then(
    () => {},
    () => {},
  )
  queues.set(file, settled)
  void settled.then(() => {
    if (queues.get(file) === settled) queues.delete(file)
  })
  return result
}

/** One write, never continued: another process may have written after it. Gives the reason if it is incomplete. */
async function writeLine(handle: FileHandle, bytes: Buffer): Promise<Error | undefined> {
  try {
    const { bytesWritten } = await handle.write(bytes, 0, bytes.length, null)
    if (bytesWritten === bytes.length) return undefined
    return new Error(`the disk took ${bytesWritten} of ${bytes.length} bytes; it may be full`)
  } catch (error) {
    return toError(error)
  }
}

async function listLedgers(root: string): Promise<string[]> {
  const found = await readdir(root, { recursive: true }).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
  return found.flatMap((path) => {
    const ledger = decodeLedgerFile(path)
    return ledger !== undefined && ledgerFile('', ledger) === path ? [ledger] : []
  })
}

/** A fork does not copy the events of its origin, so its origin must stay. */
async function assertNoForks(root: string, ledger: string): Promise<void> {
  for (const other of await listLedgers(root)) {
    const handle = await openLedgerFile(ledgerFile(root, other), READ)
    const first = handle && (await readFirstEvent(handle).finally(() => handle.close()))
    if (first?.kind === 'forked' && first.origin.ledger === ledger) throw stillNeeded(ledger, other)
  }
}

/** In a folder that everybody may write to, others could replace our files. Windows has no such mode. */
function assertOwnFolder(folder: string): void {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  if (process.platform !== 'win32' && (mode & 0o002) !== 0)
    throw new Error(
      `everybody may write to the folder ${folder}; take that right away (chmod o-w) or use another folder`,
    )
}

/** Numbers that Linux gives to file systems. */
const NETWORK_DISKS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
])
const FUSE = 0x65735546

/** Network file systems do not keep the appends of several writers whole and in order. Known on Linux only. */
async function assertLocalDisk(folder: string): Promise<void> {
  if (process.platform !== 'linux') return
  let existing = folder
  while (!existsSync(existing)) existing = dirname(existing)
  const type = (await statfs(existing)).type >>> 0
  const network = NETWORK_DISKS.get(type)
  if (network !== undefined)
    throw new Error(
      `${folder} is on ${network}, a file system that does not keep appends in order; use a folder on a local disk, or a database store such as Postgres`,
    )
  if (type === FUSE)
    process.emitWarning(
      `${folder} is on a FUSE file system. Ledgers are safe there only if it writes appends whole and in order.`,
      { code: 'TOOLWELL_FUSE' },
    )
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function storeFailed(ledger: string, problem: string, cause: unknown, next = ''): ToolwellError {
  return new ToolwellError(
    'store-failed',
    `Ledger ${JSON.stringify(ledger)} ${problem}: ${toError(cause).message}.${next}`,
    { ledger },
    { cause },
  )
}

/** The error for an append that was written, if nobody knows whether it survives a crash. */
function describeUnknown(ledger: string, cause: unknown): ToolwellError {
  const problem = 'may or may not hold the new events, because the disk did not confirm them'
  return storeFailed(ledger, problem, cause, ' Open the ledger again before you continue.')
}
