/** Ledgers as files, one line per append: the durable place below the ledger for a host that runs as one process. */
import { type FileHandle, open, readFile, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { ToolwellError } from '../../base/errors.js'
import { LEDGER_FORMAT, type LedgerEvent } from '../event.js'
import { assertLedgerId, conflict, eventsToJson, type LedgerStore } from '../store.js'
import { withFileLock } from './file-lock.js'
import { makeFolder } from './make-folder.js'

/** File names end at 255 bytes nearly everywhere; the rest of a longer name goes into folders of this length. */
const LONGEST_NAME_PIECE = 200

/** Device names that Windows gives to no file, whatever its extension. */
const RESERVED_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

/** Ledgers whose length is remembered. A forgotten one costs a read of its file at the next append. */
const REMEMBERED_LEDGERS = 1000

const NEWLINE = 0x0a

/** How far a file is whole: the bytes of its complete lines and the events in them. */
interface Extent {
  readonly size: number
  readonly count: number
}

/**
 * The last queued append of each file. Shared by all stores of this process on purpose: two stores on one folder,
 * say one per request of a server, would otherwise wait for each other's lock file instead of in line.
 * Holds only files with an append under way.
 */
const queues = new Map<string, Promise<unknown>>()

/**
 * One file `<folder>/<encoded id>.jsonl` per ledger; the folder is created at the first append. Each append is one
 * line, so a crash in the middle of it leaves an unfinished last line, which reads ignore and the next append cuts
 * off. Appends of other processes are kept apart by a lock file and noticed by the file's size: one of two that
 * expected the same length wins, the other gets `ledger-conflict`. Replicas on several machines want a database.
 */
export function jsonlStore(folder: string): LedgerStore {
  if (typeof folder !== 'string' || folder === '')
    throw new ToolwellError('invalid-option', 'jsonlStore needs the path of a folder.', { path: 'folder' })
  const root = resolve(folder)
  const extents = new Map<string, Extent>()

  function remember(file: string, extent: Extent): void {
    extents.delete(file)
    extents.set(file, extent)
    if (extents.size <= REMEMBERED_LEDGERS) return
    for (const oldest of extents.keys()) {
      extents.delete(oldest)
      return
    }
  }

  async function appendLine(ledger: string, file: string, expected: number, added: number, line: Buffer) {
    const size = await sizeOf(ledger, file)
    let extent = size === 0 ? { size: 0, count: 0 } : extents.get(file)
    if (extent?.size !== size) extent = (await readLedger(ledger, file)).extent
    if (extent.count !== expected) {
      remember(file, extent)
      throw conflict(ledger, expected, extent.count)
    }
    if (added === 0) return
    extents.delete(file)
    try {
      await writeLine(file, extent.size, size, line)
    } catch (cause) {
      throw storeFailed(ledger, `could not be written to ${file}`, cause)
    }
    remember(file, { size: extent.size + line.length, count: extent.count + added })
  }

  return {
    async read(ledger) {
      assertLedgerId(ledger)
      const file = fileOf(root, ledger)
      const { events, extent } = await readLedger(ledger, file)
      remember(file, extent)
      return events
    },
    async append(ledger, expected, events) {
      assertLedgerId(ledger)
      const file = fileOf(root, ledger)
      // Taken down before the first wait, so that what the caller does to the events afterwards changes nothing.
      const line = Buffer.from(
        `{"v":${LEDGER_FORMAT},"events":${eventsToJson(ledger, expected, events)}}\n`,
        'utf8',
      )
      const added = events.length
      await inTurn(file, async () => {
        try {
          await withFileLock(file, () => appendLine(ledger, file, expected, added, line))
        } catch (error) {
          throw ToolwellError.is(error)
            ? error
            : storeFailed(ledger, `could not be locked for writing`, error)
        }
      })
    },
  }
}

/**
 * Reversible, and never outside the folder: everything but `[a-z0-9_-]` becomes `%xx` or `%uxxxx`, per UTF-16 code
 * unit so that lone surrogates stay apart, and upper case too because some file systems fold it.
 */
function fileOf(root: string, ledger: string): string {
  const pieces: string[] = []
  const encoded = ledger.replace(/[^a-z0-9_-]/g, encodeUnit)
  for (let start = 0; start < encoded.length; start += LONGEST_NAME_PIECE) {
    const piece = encoded.slice(start, start + LONGEST_NAME_PIECE)
    pieces.push(RESERVED_NAME.test(piece) ? encodeUnit(piece.slice(0, 1)) + piece.slice(1) : piece)
  }
  return `${join(root, ...pieces)}.jsonl`
}

function encodeUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return code < 0x80 ? `%${code.toString(16).padStart(2, '0')}` : `%u${code.toString(16).padStart(4, '0')}`
}

/** Runs the task once every earlier task for the same file has settled. */
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

async function sizeOf(ledger: string, file: string): Promise<number> {
  try {
    return (await stat(file)).size
  } catch (cause) {
    if (isMissing(cause)) return 0
    throw storeFailed(ledger, `could not be read from ${file}`, cause)
  }
}

/** One read, one parse per line. Events are checked only for their place: this store is the only writer of its files. */
async function readLedger(
  ledger: string,
  file: string,
): Promise<{ readonly events: LedgerEvent[]; readonly extent: Extent }> {
  const events: LedgerEvent[] = []
  let text: string
  let size: number
  try {
    const bytes = await readFile(file)
    size = bytes.lastIndexOf(NEWLINE) + 1
    text = bytes.toString('utf8', 0, size)
  } catch (cause) {
    if (isMissing(cause)) return { events, extent: { size: 0, count: 0 } }
    throw storeFailed(ledger, `could not be read from ${file}`, cause)
  }
  const lines = text.split('\n')
  lines.pop()
  for (const [index, line] of lines.entries()) {
    const problem = addLine(line, events)
    if (problem === undefined) continue
    if (typeof problem === 'string') throw corrupt(ledger, file, index + 1, problem)
    throw new ToolwellError(
      'ledger-too-new',
      `Ledger ${JSON.stringify(ledger)} was written by a newer version: line ${index + 1} of ${file} has format ${problem.found}, this version reads up to ${LEDGER_FORMAT}. Nothing was changed. Upgrade @toolwell/core, or start another ledger.`,
      { ledger, found: problem.found, known: LEDGER_FORMAT, file, line: index + 1 },
    )
  }
  return { events, extent: { size, count: events.length } }
}

/** Adds the line's events; returns why it cannot: a text for corruption, the format found when it is too new. */
function addLine(line: string, events: LedgerEvent[]): string | { readonly found: number } | undefined {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return 'is not JSON'
  }
  if (typeof value !== 'object' || value === null) return 'is not an object'
  const { v: format, events: added } = value as { v?: unknown; events?: unknown }
  if (typeof format !== 'number') return 'has no format number "v"'
  if (format > LEDGER_FORMAT) return { found: format }
  if (!Array.isArray(added)) return 'has no list of events'
  for (const event of added as (LedgerEvent | null)[]) {
    if (event?.id !== events.length) return `has an event with id ${event?.id} where ${events.length} is next`
    events.push(event)
  }
  return undefined
}

/**
 * Cuts off an unfinished last line, writes at the end and waits for the disk. After a failure the file has its whole
 * size again where the disk still allows it; where not, the unfinished line is ignored like any other.
 */
async function writeLine(file: string, wholeSize: number, size: number, line: Buffer): Promise<void> {
  const handle = await openToAppend(file)
  try {
    if (size > wholeSize) await handle.truncate(wholeSize)
    try {
      // One write as a rule. A full disk takes a part first and says why only when asked for the rest.
      for (let written = 0; written < line.length; )
        written += (await handle.write(line, written, line.length - written)).bytesWritten
      await handle.datasync()
    } catch (error) {
      await handle.truncate(wholeSize).catch(() => {})
      throw error
    }
  } finally {
    // The events are on the disk, or the failure is already known: an error of closing would only hide which.
    await handle.close().catch(() => {})
  }
}

async function openToAppend(file: string): Promise<FileHandle> {
  try {
    return await open(file, 'a')
  } catch (error) {
    if (!isMissing(error)) throw error
  }
  makeFolder(dirname(file))
  return open(file, 'a')
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === 'ENOENT'
}

function corrupt(ledger: string, file: string, line: number, problem: string): ToolwellError {
  return new ToolwellError(
    'ledger-corrupt',
    `Ledger ${JSON.stringify(ledger)} cannot be read: line ${line} of ${file} ${problem}. Nothing was changed. Restore the file from a backup, or delete line ${line} and everything after it to go on from there.`,
    { ledger, line, file },
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
