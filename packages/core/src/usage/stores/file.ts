/** A usage store in a file: one line per example, append-only, so two processes can write to it. */

import { randomBytes } from 'node:crypto'
import { appendFile, type FileHandle, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../ledger/stores/folders.js'
import { RING_SIZE } from '../examples.js'
import { matchesFilter, readExample, type UsageExample, type UsageStore } from '../usage-store.js'

/** Written to the first line of the file. Files with a newer format are neither read nor written. */
const FORMAT = 1
const HEAD = `{"toolwell-usage":${FORMAT}}\n`
const HEAD_BYTES = 1000
/** Of a larger file only the end is read: the newest examples. */
const MOST_BYTES = 16 * 1024 * 1024
/** A file with more lines is rewritten if most of its examples are outdated. */
const MANY_LINES = 20_000

/**
 * Creates the store. Unreadable lines are skipped, because a lost example does little harm. Files of a newer version and foreign files
 * are neither read nor changed.
 *
 * Two processes can write to one file, because each appends whole lines. Lines appended while the other process shortens the file are
 * lost, and examples forgotten by one process stay known to the other until it restarts.
 */
export function fileUsage(given: string): UsageStore {
  /** Reads all examples; undefined if the file does not exist. Throws if the file must not be touched. */
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
      // Good lines may follow a damaged first line.
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

/** Follows links, because forgetting replaces the file. Throws if the path is not a file, such as a device. */
async function resolveFile(path: string): Promise<string> {
  const real = await realpath(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (real === undefined) return path
  if (!(await stat(real)).isFile()) throw new Error(`${path} is not a file. Use another path.`)
  return real
}

/** `isForeign`: no line can be read. */
function assertReadable(path: string, head: string, isForeign: boolean): void {
  const format = readFormat(head)
  if (format !== undefined && format > FORMAT)
    throw new Error(
      `${path} was written by a newer version of Toolwell, so it is neither read nor changed. Use that version or another path.`,
    )
  if (format === undefined && isForeign)
    throw new Error(
      `${path} is not a usage file of Toolwell, so it is neither read nor changed. Use another path, or delete the file.`,
    )
}

function readFormat(head: string): number | undefined {
  const format = ((parse(head.split('\n', 1)[0] ?? '') ?? {}) as { 'toolwell-usage'?: unknown })[
    'toolwell-usage'
  ]
  return typeof format === 'number' ? format : undefined
}

/** Keeps the newest examples of each tool and principal, in order. */
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

/** Opens and reads a file; undefined if it does not exist. */
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

/** Reads the whole file, or the complete lines at the end of a huge one. */
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
