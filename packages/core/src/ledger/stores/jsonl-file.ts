/**
 * The file of one ledger: its name, its lines, and the rule that decides which lines count.
 *
 * Every append is one write of `\n<checksum> {v, id, first, prev, key, events}\n`. The order of the lines decides: a line counts if
 * `first` is the number of events before it and `prev` is the checksum of the last line that counts.
 */
import { randomBytes } from 'node:crypto'
import { constants, fstatSync, lstatSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { isRecord } from '../../base/data.js'
import { ToolwellError } from '../../base/errors.js'
import { LEDGER_FORMAT, type LedgerEvent } from '../event.js'

/** File names end at 255 bytes on nearly every disk. A longer name continues in folders of this length. */
const LONGEST_NAME_PIECE = 200

/** Device names that Windows gives to no file, whatever its extension. */
const RESERVED_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

const LEDGER_NAME = /^([a-z0-9_%-]+)\.jsonl$/

/**
 * Path of a ledger's file. The name can be decoded and never leads outside the folder: everything but `[a-z0-9_-]` becomes `%xx` or
 * `%uxxxx`, one per UTF-16 code unit, which keeps lone surrogates distinct. Upper case too, because some file systems fold it.
 */
export function ledgerFile(root: string, ledger: string): string {
  const pieces: string[] = []
  const encoded = ledger.replace(/[^a-z0-9_-]/g, encodeUnit)
  for (let start = 0; start < encoded.length; start += LONGEST_NAME_PIECE) {
    const piece = encoded.slice(start, start + LONGEST_NAME_PIECE)
    pieces.push(RESERVED_NAME.test(piece) ? encodeUnit(piece.slice(0, 1)) + piece.slice(1) : piece)
  }
  return `${join(root, ...pieces)}.jsonl`
}

/** Id of the ledger whose file has this path below the root; undefined if the path cannot belong to a ledger. */
export function decodeLedgerFile(path: string): string | undefined {
  const encoded = LEDGER_NAME.exec(path.replaceAll('\\', '/').replaceAll('/', ''))?.[1]
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
  return open(file, flags | (constants.O_NOFOLLOW ?? 0), 0o600)
}

/** Whether the path still leads to the file with this device and inode. */
export function leadsTo(file: string, identity: string): boolean {
  const found = lstatSync(file, { bigint: true, throwIfNoEntry: false })
  return found !== undefined && `${found.dev}:${found.ino}` === identity
}

/** The last line that counts, and the number of events up to and including it. */
export interface Place {
  /** Device and inode of the file. */
  readonly identity: string
  readonly start: number
  readonly end: number
  readonly sum: string
  readonly count: number
}

/** The first place where a file breaks the rule. The lines before it count. */
export interface Damage {
  /** As editors count, from 1. */
  readonly line: number
  /** Continues the sentence "line 3 of FILE …". */
  readonly problem: string
  /** The line is intact, but another version wrote it. */
  readonly format?: number
}

export interface LedgerContent {
  /** Events after the place from which the file was read. */
  readonly events: readonly LedgerEvent[]
  readonly place: Place
  /** Place of the line with the key that was looked for, if it counts. */
  readonly own: Place | undefined
  /** Appends that were cut off. Readers ignore them. */
  readonly torn: number
  /** Id in the lines. */
  readonly id: string | undefined
  readonly damage?: Damage
}

const NEWLINE = 0x0a
const SPACE = 0x20
const SUM_LENGTH = 8

/** Bytes of an append, and the random key by which its writer recognises it. */
export function encodeLine(id: string, before: Place, events: string): { bytes: Buffer; key: string } {
  const key = randomBytes(9).toString('base64url')
  const head = `{"v":${LEDGER_FORMAT},"id":${JSON.stringify(id)},"first":${before.count},"prev":"${before.sum}","key":"${key}"`
  const body = Buffer.from(`${head},"events":${events}}`, 'utf8')
  return { bytes: Buffer.concat([Buffer.from(`\n${checksum(body)} `), body, Buffer.from('\n')]), key }
}

function checksum(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(SUM_LENGTH, '0')
}

/**
 * Reads the lines that count. From `known`, only later lines are read, unless the file was replaced or shortened. Without an `id`, the
 * first line decides which ledger it is.
 */
export async function readLedgerFile(
  handle: FileHandle,
  id: string | undefined,
  known?: Place,
  key?: string,
): Promise<LedgerContent> {
  // Not asynchronous: the system knows it without the disk, and each append asks twice.
  const { dev, ino, size } = fstatSync(handle.fd, { bigint: true })
  const identity = `${dev}:${ino}`
  if (known?.identity === identity && size >= known.end) {
    const bytes = await readBytes(handle, known.start, Number(size))
    // A new file may get the number of a deleted one.
    if (bytes.toString('latin1', 0, SUM_LENGTH) === known.sum) {
      const content = readLines(bytes, known, id, key)
      if (!content.damage) return content
    }
  }
  return readLines(
    await readBytes(handle, 0, Number(size)),
    { identity, start: 0, end: 0, sum: '', count: 0 },
    id,
    key,
  )
}

/** Applies the rule to bytes that begin at `from.start`. */
function readLines(bytes: Buffer, from: Place, id: string | undefined, key?: string): LedgerContent {
  const events: LedgerEvent[] = []
  let place = from
  let own: Place | undefined
  let torn = 0
  const stop = (start: number, damage: Omit<Damage, 'line'>): LedgerContent => {
    let line = 1
    for (let at = bytes.indexOf(NEWLINE); at !== -1 && at < start; at = bytes.indexOf(NEWLINE, at + 1)) line++
    return { events, place, own, torn, id, damage: { line, ...damage } }
  }
  if (from.end === 0 && !isLedgerStart(bytes))
    return stop(
      0,
      bytes.toString('latin1', 0, 5) === '{"v":'
        ? { problem: 'was written by an older version', format: 0 }
        : { problem: 'is not a line of a ledger' },
    )
  let next = 0
  for (let start = from.end - from.start; start < bytes.length; start = next) {
    const newline = bytes.indexOf(NEWLINE, start)
    const end = newline === -1 ? bytes.length : newline
    next = end + 1
    if (start === end) continue
    const line = readLine(bytes.subarray(start, end))
    if (!line) {
      // With its own newline, it was written whole and then damaged. Without one, the write was cut off.
      const isClosed = newline !== -1 && (next === bytes.length || bytes[next] === NEWLINE)
      if (isClosed) return stop(start, { problem: 'does not have its checksum' })
      torn++
      continue
    }
    const { v, first, prev } = line
    if (v !== LEDGER_FORMAT) return stop(start, { problem: `has format ${v}`, format: v })
    id ??= line.id
    if (line.id !== id) return stop(start, { problem: `belongs to ledger ${JSON.stringify(line.id)}` })
    // Another append came first: the writer of this line got a conflict.
    if (first < place.count) continue
    if (first > place.count)
      return stop(start, { problem: `follows ${first} events, but ${place.count} come before it` })
    if (prev !== place.sum) return stop(start, { problem: 'follows another line than the one before it' })
    const count = place.count + line.events.length
    place = {
      identity: from.identity,
      start: from.start + start,
      end: from.start + end,
      sum: line.sum,
      count,
    }
    for (const event of line.events) events.push(event)
    if (line.key === key) own = place
  }
  return { events, place, own, torn, id }
}

/** Our first byte is a newline. A crash may leave zeros before it, if the disk had not written the first append yet. */
function isLedgerStart(bytes: Buffer): boolean {
  const newline = bytes.indexOf(NEWLINE)
  return bytes.subarray(0, newline === -1 ? bytes.length : newline).every((byte) => byte === 0)
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

/** Undefined if the checksum does not fit. The last byte may be a damaged newline. */
function readLine(bytes: Buffer): Line | undefined {
  return decodeLine(bytes) ?? decodeLine(bytes.subarray(0, -1))
}

function decodeLine(bytes: Buffer): Line | undefined {
  const sum = bytes.toString('latin1', 0, SUM_LENGTH)
  const body = bytes.subarray(SUM_LENGTH + 1)
  if (bytes[SUM_LENGTH] !== SPACE || checksum(body) !== sum) return undefined
  try {
    const line: unknown = JSON.parse(body.toString('utf8'))
    if (!isRecord(line) || typeof line.v !== 'number') return undefined
    // Another version may have other fields.
    if (line.v !== LEDGER_FORMAT) return { ...line, sum } as unknown as Line
    const { first, events } = line
    if (!Number.isSafeInteger(first) || !Array.isArray(events) || events.length === 0) return undefined
    const isInOrder = events.every((event, index) => event?.id === (first as number) + index)
    return isInOrder ? ({ ...line, sum } as unknown as Line) : undefined
  } catch {
    return undefined
  }
}

async function readBytes(handle: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(to - from)
  let read = 0
  while (read < bytes.length) {
    const { bytesRead } = await handle.read(bytes, read, bytes.length - read, from + read)
    if (bytesRead === 0) break
    read += bytesRead
  }
  return bytes.subarray(0, read)
}

/** First event of a ledger. Reads only the beginning of its file, which is enough for the short first line of a fork. */
export async function readFirstEvent(handle: FileHandle): Promise<LedgerEvent | undefined> {
  const place = { identity: '', start: 0, end: 0, sum: '', count: 0 }
  return readLines(await readBytes(handle, 0, 0x10000), place, undefined).events[0]
}

/** The error for a file that breaks the rule. */
export function describeDamage(ledger: string, file: string, count: number, damage: Damage): ToolwellError {
  const { line, problem, format } = damage
  const name = JSON.stringify(ledger)
  if (format === undefined)
    return new ToolwellError(
      'ledger-corrupt',
      `Ledger ${name} is damaged: line ${line} of ${file} ${problem}. The ${count} events before it are intact. Restore the file from a backup, or continue after those events: toolwell ledger repair ${file}`,
      { ledger, line, file, intact: count },
    )
  const isNewer = format > LEDGER_FORMAT
  const known = `this version reads format ${LEDGER_FORMAT}`
  return new ToolwellError(
    isNewer ? 'ledger-too-new' : 'ledger-corrupt',
    isNewer
      ? `Ledger ${name} was written by a newer version: line ${line} of ${file} has format ${format}, ${known}. Nothing was changed. Upgrade @toolwell/core, or start another ledger.`
      : `Ledger ${name} was written by an older version of Toolwell, which this version does not read: start another ledger, or delete ${file}.`,
    { ledger, found: format, known: LEDGER_FORMAT, file, line },
  )
}
