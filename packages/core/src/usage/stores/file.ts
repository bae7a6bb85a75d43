/** What was learned, in a file: one line for each example, only ever added to, so that two processes can write to it. */
import { randomBytes } from 'node:crypto'
import { appendFile, type FileHandle, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../ledger/stores/make-folder.js'
import { RING_SIZE } from '../examples.js'
import { matchesFilter, readExample, type UsageExample, type UsageStore } from '../usage-store.js'

/** The first line of the file. A newer format is neither read nor written. */
const FORMAT = 1
const HEAD = `{"toolwell-usage":${FORMAT}}\n`
const HEAD_BYTES = 1000
/** Of a larger file the end is read: what is newest. */
const MOST_BYTES = 16 * 1024 * 1024
/** A file with more lines than this, most of which no ring holds any more, is written anew. */
const MANY_LINES = 20_000

/**
 * Lines that cannot be read are passed over; an example that is lost is a lesson not learned and no more. A file of a newer version,
 * and one that is none of ours, are neither read nor changed. Where two processes write, each adds whole lines; what one adds in the
 * moment in which the other shortens the file is lost, and what one forgets the other knows until it is started again.
 */
export function fileUsage(given: string): UsageStore {
  /** All examples; undefined where there is no file. Throws where the file is not to be touched. */
  async function readAll(path: string): Promise<UsageExample[] | undefined> {
    const text = await openAndRead(path, readEnd)
    if (text === undefined) return undefined
    const examples = text.split('\n').flatMap((line) => readExample(parse(line)) ?? [])
    const head = (await openAndRead(path, readHead)) ?? ''
    assertReadable(path, head, text.trim() !== '' && examples.length === 0)
    return examples
  }

  async function rewrite(path: string, examples: readonly UsageExample[]): Promise<void> {
    const temporary = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`
    try {
      await writeFile(temporary, HEAD + toLines(examples), { mode: 0o600 })
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  return {
    async read() {
      const path = await resolveFile(given)
      const examples = (await readAll(path)) ?? []
      if (examples.length <= MANY_LINES) return examples
      const kept = selectNewest(examples)
      if (kept.length * 2 < examples.length) await rewrite(path, kept)
      return kept
    },
    async append(examples) {
      if (examples.length === 0) return
      const path = await resolveFile(given)
      makeFolder(dirname(path), 0o700)
      const head = await openAndRead(path, readHead)
      // A head that is torn may have good lines behind it.
      if (head !== undefined && readFormat(head) !== FORMAT) await readAll(path)
      await appendFile(path, (head === undefined ? HEAD : '\n') + toLines(examples), { mode: 0o600 })
    },
    async forget(filter) {
      const path = await resolveFile(given)
      const examples = await readAll(path)
      if (examples)
        await rewrite(
          path,
          examples.filter((example) => !matchesFilter(example, filter)),
        )
    },
  }
}

/** Behind a link, the file itself: it is replaced when something is forgotten. What is no file, a device say, is not touched. */
async function resolveFile(path: string): Promise<string> {
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (real === undefined) return path
  if (!(await stat(real)).isFile()) throw new Error(`${path} is not a file. Name another one.`)
  return real
}

/** `isForeign`: nothing in it can be read. */
function assertReadable(path: string, head: string, isForeign: boolean): void {
  const format = readFormat(head)
  if (format !== undefined && format > FORMAT)
    throw new Error(
      `${path} was written by a newer version of Toolwell. Nothing is read from it or added to it. Use that version, or name another file.`,
    )
  if (format === undefined && isForeign)
    throw new Error(
      `${path} is not a file of learned uses. Nothing is read from it or added to it. Name another file, or delete this one.`,
    )
}

function readFormat(head: string): number | undefined {
  const format = ((parse(head.split('\n', 1)[0] ?? '') ?? {}) as { 'toolwell-usage'?: unknown })[
    'toolwell-usage'
  ]
  return typeof format === 'number' ? format : undefined
}

/** The last of each tool and principal, in order. */
function selectNewest(examples: readonly UsageExample[]): UsageExample[] {
  const counts = new Map<string, number>()
  const kept: UsageExample[] = []
  for (const example of [...examples].reverse()) {
    const key = `${example.principal}\n${example.tool}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count <= RING_SIZE) kept.push(example)
  }
  return kept.reverse()
}

function toLines(examples: readonly UsageExample[]): string {
  return examples.map((example) => `${JSON.stringify(example)}\n`).join('')
}

/** Undefined where there is no such file. */
async function openAndRead<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  try {
    return file && (await read(file))
  } finally {
    await file?.close()
  }
}

async function readHead(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
  return buffer.toString('utf8', 0, bytesRead)
}

/** The whole file, or the whole lines at the end of a huge one. */
async function readEnd(file: FileHandle): Promise<string> {
  const { size } = await file.stat()
  const start = Math.max(0, size - MOST_BYTES)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
  const text = buffer.toString('utf8', 0, bytesRead)
  return start === 0 ? text : text.slice(text.indexOf('\n') + 1)
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
