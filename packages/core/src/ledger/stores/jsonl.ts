/**
 * Stores ledgers as files, one line per append, for hosts on one machine.
 *
 * Every append is one write of `\n<checksum> {v, id, first, prev, key, events}\n`. The order of the lines decides: a line counts if
 * `first` is the number of events before it and `prev` is the checksum of the last line that counts.
 */
import { randomBytes } from 'node:crypto'
import { constants, existsSync, fstatSync, lstatSync, statSync } from 'node:fs'
import { type FileHandle, open, readdir, rm, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { crc32 } from 'node:zlib'
import { ToolwellError } from '../../base/errors.js'
import { LEDGER_FORMAT, type LedgerEvent } from '../event.js'
import { assertLedgerId, conflict, eventsToJson, type LedgerStore, stillNeeded } from '../store.js'
import { makeOwnFolder, syncFolder } from './folders.js'

/** Ledgers whose last line is remembered. For any other, the next append reads the whole file. */
const REMEMBERED_LEDGERS = 1000

const APPEND = constants.O_RDWR | constants.O_APPEND

/** The last unfinished task of each ledger, for all stores of this process: a server may make one store per request. */
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
  /** The last known line, and the last line of the caller: after a conflict, the caller asks for the events after its line. */
  const places = new Map<string, readonly Place[]>()
  let isLocal = false

  function remember(file: string, ...known: Place[]): void {
    places.delete(file)
    places.set(file, known)
    const [oldest = ''] = places.keys()
    if (places.size > REMEMBERED_LEDGERS) places.delete(oldest)
  }

  /** Adds the ledger and the folder to errors of the task. */
  async function explain<T>(ledger: string, doing: string, task: (file: string) => Promise<T>): Promise<T> {
    assertLedgerId(ledger)
    try {
      assertOwnFolder(root)
      return await task(ledgerFile(root, ledger))
    } catch (error) {
      if (ToolwellError.is(error)) throw error
      const message = `Ledger ${JSON.stringify(ledger)} could not be ${doing} ${root}: ${(error as Error).message}.`
      throw new ToolwellError('store-failed', message, { ledger }, { cause: error })
    }
  }

  async function readFile(ledger: string, file: string, known?: Place) {
    const handle = await openLedgerFile(file, constants.O_RDONLY)
    if (!handle) return { events: [], place: BEFORE_FIRST_LINE }
    try {
      return await readIntact(handle, ledger, file, known)
    } finally {
      await handle.close()
    }
  }

  async function append(ledger: string, file: string, expected: number, events: string): Promise<void> {
    let handle = await openLedgerFile(file, APPEND)
    try {
      const [latest, seen] = places.get(file) ?? []
      const before = handle ? (await readIntact(handle, ledger, file, latest)).place : BEFORE_FIRST_LINE
      remember(file, before, seen ?? latest ?? before)
      if (before.count !== expected) throw conflict(ledger, expected, before.count)
      if (events === '[]') return
      if (!isLocal) await assertLocalDisk(root)
      isLocal = true
      handle ??= (await openLedgerFile(file, APPEND | constants.O_CREAT)) as FileHandle
      const key = randomBytes(9).toString('base64url')
      const bytes = encodeLine(ledger, before, key, events)
      const failure = await writeOnce(handle, bytes).catch((error: Error) => error)
      const unsynced = await handle.datasync().catch((error: Error) => error)
      // Also if another process created the file: it may not have reached this step.
      if (!before.synced) await syncFolder(dirname(file))
      const { own, place } = await readIntact(handle, ledger, file, before, key).catch((error: Error) => {
        throw ToolwellError.is(error) ? error : describeUnknown(error)
      })
      if (!own) throw failure ?? conflict(ledger, expected, place.count)
      if (unsynced) throw describeUnknown(unsynced)
      const { dev, ino } = lstatSync(file, { bigint: true, throwIfNoEntry: false }) ?? {}
      // Deleted or repaired meanwhile.
      if (own.identity !== `${dev}:${ino}`)
        throw conflict(ledger, expected, (await readFile(ledger, file)).place.count)
      remember(file, { ...own, synced: true })
    } finally {
      // The outcome is already known, and an error of closing would hide it.
      await handle?.close().catch(() => {})
    }
  }

  return {
    read: (ledger, from = 0) =>
      explain(ledger, 'read from', async (file) => {
        const known = places.get(file)?.find(({ count }) => count <= from)
        const { events, place } = await readFile(ledger, file, known)
        if (from > place.count) throw conflict(ledger, from, place.count)
        remember(file, place)
        return events.slice(events.length - (place.count - from))
      }),

    append: (ledger, expected, events) =>
      explain(ledger, 'written to', (file) => {
        // Before the first wait: later changes to the objects of the caller have no effect.
        const json = eventsToJson(ledger, expected, events)
        return inTurn(file, () => append(ledger, file, expected, json))
      }),

    list: () => listLedgers(root),

    delete: (ledger) =>
      explain(ledger, 'deleted from', (file) =>
        inTurn(file, async () => {
          await assertNoForks(root, ledger)
          places.delete(file)
          await rm(file, { force: true })
          await syncFolder(dirname(file))
        }),
      ),
  }
}

/** Runs the task after every earlier task for the same file. */
function inTurn<T>(file: string, task: () => Promise<T>): Promise<T> {
  const result = (queues.get(file) ?? Promise.resolve()).then(task)
  const done = () => {
    if (queues.get(file) === settled) queues.delete(file)
  }
  const settled = result.then(done, done)
  queues.set(file, settled)
  return result
}

/** Never continues a short write: another process may have written after it. */
async function writeOnce(handle: FileHandle, bytes: Buffer): Promise<void> {
  const { bytesWritten } = await handle.write(bytes, 0, bytes.length, null)
  if (bytesWritten < bytes.length)
    throw new Error(`the disk took ${bytesWritten} of ${bytes.length} bytes; it may be full`)
}

async function listLedgers(root: string): Promise<string[]> {
  const found = existsSync(root) ? await readdir(root, { recursive: true }) : []
  return found.flatMap((path) => {
    const ledger = decodeLedgerFile(path)
    return ledger !== undefined && ledgerFile('', ledger) === path ? [ledger] : []
  })
}

/** A fork does not copy the events of its origin, so its origin must stay. */
async function assertNoForks(root: string, ledger: string): Promise<void> {
  for (const other of await listLedgers(root)) {
    const handle = await openLedgerFile(ledgerFile(root, other), constants.O_RDONLY)
    // The first line of a fork is short.
    const bytes = await (handle && readBytes(handle, 0, 0x10000).finally(() => handle.close()))
    const [first] = bytes ? readLines(bytes, BEFORE_FIRST_LINE).events : []
    if (first?.kind === 'forked' && first.origin.ledger === ledger) throw stillNeeded(ledger, other)
  }
}

/** In a folder that everybody may write to, others could replace our files. Windows has no such mode. */
function assertOwnFolder(folder: string): void {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  if (process.platform !== 'win32' && (mode & 0o002) !== 0)
    throw new Error(`everybody may write to that folder; run chmod o-w ${folder}, or use another folder`)
}

/** Numbers that Linux gives to file systems. */
const DISKS = { NFS: [0x6969], SMB: [0x517b, 0xff534d42, 0xfe534d42], '9p': [0x1021997], FUSE: [0x65735546] }

/** Network file systems do not keep the appends of several writers whole and in order. Known on Linux only. */
async function assertLocalDisk(folder: string): Promise<void> {
  if (process.platform !== 'linux') return
  let existing = folder
  while (!existsSync(existing)) existing = dirname(existing)
  const type = (await statfs(existing)).type >>> 0
  const [system] = Object.entries(DISKS).find(([, numbers]) => numbers.includes(type)) ?? []
  const place = `${folder} is on ${system}, a file system that may not keep appends whole and in order`
  if (system === 'FUSE') process.emitWarning(`${place}. Check that it does.`, { code: 'TOOLWELL_FUSE' })
  else if (system !== undefined)
    throw new Error(`${place}; use a folder on a local disk, or a database store such as Postgres`)
}

/** Throws if the file is damaged or another version wrote it. */
async function readIntact(handle: FileHandle, ledger: string, file: string, known?: Place, key?: string) {
  const content = await readLedgerFile(handle, ledger, known, key)
  if (!content.damage) return content
  const { line, problem, format } = content.damage
  const intact = content.place.count
  const data = { ledger, file, line, intact, found: format, known: LEDGER_FORMAT }
  const name = JSON.stringify(ledger)
  const damaged = `Ledger ${name} is damaged: line ${line} of ${file} ${problem}. The ${intact} events before it are intact. Restore the file from a backup, or continue after those events: toolwell ledger repair ${file}`
  const newer = `Ledger ${name} was written by a newer version: line ${line} of ${file} has format ${format}, this version reads format ${LEDGER_FORMAT}. Nothing was changed. Upgrade @toolwell/core, or start another ledger.`
  const older = `Ledger ${name} was written by an older version of Toolwell, which this version does not read: start another ledger, or delete ${file}.`
  if (format === undefined) throw new ToolwellError('ledger-corrupt', damaged, data)
  if (format > LEDGER_FORMAT) throw new ToolwellError('ledger-too-new', newer, data)
  throw new ToolwellError('ledger-corrupt', older, data)
}

/** The error for an append that was written, if nobody knows whether it survives a crash. */
function describeUnknown(cause: Error): Error {
  const next = 'it may or may not hold the new events; open the ledger again before you continue'
  return new Error(`the disk did not confirm the write (${cause.message}), so ${next}`, { cause })
}

/** First letter of a device name, which Windows gives to no file. */
const RESERVED_START = /^(?=(?:con|prn|aux|nul|com\d|lpt\d)$)./

/**
 * Path of a ledger's file. The name can be decoded and never leads outside the folder: everything but `[a-z0-9_-]` becomes `%xx` or
 * `%uxxxx`, one per UTF-16 code unit, which keeps lone surrogates distinct. Upper case too, because some file systems fold it. Most
 * disks allow 255 bytes, so a longer name continues in folders.
 */
export function ledgerFile(root: string, ledger: string): string {
  const pieces = ledger.replace(/[^a-z0-9_-]/g, encodeUnit).match(/.{1,200}/g) ?? []
  return `${join(root, ...pieces.map((piece) => piece.replace(RESERVED_START, encodeUnit)))}.jsonl`
}

/** Id of the ledger whose file has this path below the root; undefined if the path cannot belong to a ledger. */
export function decodeLedgerFile(path: string): string | undefined {
  const encoded = /^([a-z0-9_%-]+)\.jsonl$/.exec(path.replaceAll(/[\\/]/g, ''))?.[1]
  return encoded?.replace(/%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/g, (_, long?: string, short?: string) =>
    String.fromCharCode(Number.parseInt(long ?? short ?? '', 16)),
  )
}

function encodeUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return code < 0x80 ? `%${code.toString(16).padStart(2, '0')}` : `%u${code.toString(16).padStart(4, '0')}`
}

/** Opens the file of a ledger, never through a link. Undefined if there is none and `flags` do not create it. */
export async function openLedgerFile(file: string, flags: number): Promise<FileHandle | undefined> {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (!found && (flags & constants.O_CREAT) === 0) return undefined
  if (found?.isSymbolicLink())
    throw new Error(`${file} is a link, and links are not followed; put the file itself there`)
  if (found && !found.isFile()) throw new Error(`${file} is not a file`)
  if (!found) await makeOwnFolder(dirname(file))
  return open(file, flags | (constants.O_NOFOLLOW ?? 0), 0o600)
}

/** The last line that counts, and the number of events up to and including it. */
interface Place {
  /** Device and inode of the file. */
  readonly identity: string
  readonly start: number
  readonly end: number
  readonly sum: string
  readonly count: number
  /** The name of the file survives a crash, because this store has synced its folder. */
  readonly synced?: boolean
}

const BEFORE_FIRST_LINE: Place = { identity: '', start: 0, end: 0, sum: '', count: 0 }

/** The first place where a file breaks the rule. The lines before it count. */
export interface Damage {
  /** As editors count, from 1. */
  readonly line: number
  /** Continues the sentence "line 3 of FILE …". */
  readonly problem: string
  /** The line is intact, but another version wrote it. */
  readonly format?: number | undefined
}

export interface LedgerContent {
  /** Events after the place from which the file was read. */
  readonly events: readonly LedgerEvent[]
  readonly place: Place
  /** Place of the line with the key that was looked for, if it counts. */
  readonly own?: Place | undefined
  /** Appends that were cut off. Readers ignore them. */
  readonly torn: number
  /** Id in the lines. */
  readonly id: string | undefined
  readonly damage?: Damage
}

const NEWLINE = 0x0a
const SPACE = 0x20
const SUM_LENGTH = 8

/** Bytes of an append. Its writer recognises it by the random key. */
function encodeLine(id: string, before: Place, key: string, events: string): Buffer {
  const head = `{"v":${LEDGER_FORMAT},"id":${JSON.stringify(id)},"first":${before.count},"prev":"${before.sum}"`
  const body = `${head},"key":"${key}","events":${events}}`
  return Buffer.from(`\n${checksum(body)} ${body}\n`)
}

function checksum(body: string | Uint8Array): string {
  return crc32(body).toString(16).padStart(SUM_LENGTH, '0')
}

/**
 * Reads the lines that count. From `known`, only later lines are read, unless the file was replaced or shortened. Without an `id`, the
 * first line decides which ledger it is.
 */
export async function readLedgerFile(handle: FileHandle, id?: string, known?: Place, key?: string) {
  // Not asynchronous: the system knows it without the disk, and each append asks twice.
  const { dev, ino, size } = fstatSync(handle.fd, { bigint: true })
  const identity = `${dev}:${ino}`
  if (known?.identity === identity && size >= known.end) {
    const bytes = await readBytes(handle, known.start, Number(size))
    // A new file may get the number of a deleted one.
    const isSame = bytes.toString('latin1', 0, SUM_LENGTH) === known.sum
    const content = isSame ? readLines(bytes, known, id, key) : undefined
    if (content && !content.damage) return content
  }
  return readLines(await readBytes(handle, 0, Number(size)), { ...BEFORE_FIRST_LINE, identity }, id, key)
}

async function readBytes(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(to - from)
  for (let read = 0; ; ) {
    const { bytesRead } = await handle.read(bytes, read, bytes.length - read, from + read)
    read += bytesRead
    if (bytesRead === 0 || read === bytes.length) return bytes.subarray(0, read)
  }
}

/** Applies the rule to bytes that begin at `from.start`. */
function readLines(bytes: Buffer, from: Place, id?: string, key?: string): LedgerContent {
  const events: LedgerEvent[] = []
  let place = from
  let own: Place | undefined
  let torn = 0
  const stop = (start: number, problem: string, format?: number): LedgerContent => {
    const line = bytes.subarray(0, start).filter((byte) => byte === NEWLINE).length + 1
    return { events, place, own, torn, id, damage: { line, problem, format } }
  }
  // Zeros are from a crash, if the disk had not written the first append yet.
  if (from.end === 0 && (bytes.find((byte) => byte !== 0) ?? NEWLINE) !== NEWLINE)
    return bytes.toString('latin1', 0, 5) === '{"v":'
      ? stop(0, 'was written by an older version', 0)
      : stop(0, 'is not a line of a ledger')
  for (let start = from.end - from.start, end = start; start < bytes.length; start = end + 1) {
    const newline = bytes.indexOf(NEWLINE, start)
    end = newline === -1 ? bytes.length : newline
    if (start === end) continue
    // The last byte may be a damaged newline.
    const line = decodeLine(bytes.subarray(start, end)) ?? decodeLine(bytes.subarray(start, end - 1))
    if (!line) {
      // With its own newline, it was written whole and then damaged. Without one, the write was cut off.
      const isClosed = newline !== -1 && (end + 1 === bytes.length || bytes[end + 1] === NEWLINE)
      if (isClosed) return stop(start, 'does not have its checksum')
      torn++
      continue
    }
    const { v, first, prev, sum } = line
    if (v !== LEDGER_FORMAT) return stop(start, `has format ${v}`, v)
    id ??= line.id
    if (line.id !== id) return stop(start, `belongs to ledger ${JSON.stringify(line.id)}`)
    // Another append came first: the writer of this line got a conflict.
    if (first < place.count) continue
    if (first > place.count) return stop(start, `follows ${first} events, but ${place.count} come before it`)
    if (prev !== place.sum) return stop(start, 'follows another line than the one before it')
    const count = first + line.events.length
    place = { ...from, start: from.start + start, end: from.start + end, sum, count }
    for (const event of line.events) events.push(event)
    if (line.key === key) own = place
  }
  return { events, place, own, torn, id }
}

interface Line {
  readonly sum: string
  readonly v: number
  readonly id: string
  readonly first: number
  readonly prev: string
  readonly key: string
  readonly events: readonly LedgerEvent[]
}

/** Undefined if the checksum does not fit. A line of another version may have other fields. */
function decodeLine(bytes: Buffer): Line | undefined {
  const sum = bytes.toString('latin1', 0, SUM_LENGTH)
  const body = bytes.subarray(SUM_LENGTH + 1)
  if (bytes[SUM_LENGTH] !== SPACE || checksum(body) !== sum) return undefined
  try {
    const line = JSON.parse(body.toString('utf8')) as Line
    const { v, first, events } = line
    const isWhole =
      v === LEDGER_FORMAT
        ? events.length > 0 && events.every(({ id }, index) => id === first + index)
        : typeof v === 'number'
    return isWhole ? { ...line, sum } : undefined
  } catch {
    return undefined
  }
}
