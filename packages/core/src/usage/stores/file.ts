/** What was learned, in a file: one line for each example, only ever added to, so that two processes can write to it. */
import { appendFile, open, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../ledger/stores/make-folder.js'
import { matchesFilter, readExample, type UsageExample, type UsageStore } from '../usage-store.js'

/** The first line of the file. A newer format is neither read nor written. */
const FORMAT = 1
const HEAD = `{"toolwell-usage":${FORMAT}}\n`
/** Of a larger file the end is read: what is newest. */
const MOST_BYTES = 16 * 1024 * 1024
/** A file with more lines than this, most of which no ring holds any more, is written anew. */
const MANY_LINES = 20_000
const RING = 16

/**
 * Lines that cannot be read are passed over; an example that is lost is a lesson not learned and no more. Where two processes write,
 * each adds whole lines; what one adds in the moment in which the other shortens the file is lost.
 */
export function fileUsage(path: string): UsageStore {
  let isNewer = false

  async function readAll(): Promise<UsageExample[]> {
    const text = await readEnd(path)
    if (text === undefined) return []
    const lines = text.split('\n')
    const head = parse(lines[0] ?? '') as { 'toolwell-usage'?: unknown } | undefined
    const format = head?.['toolwell-usage']
    isNewer = typeof format === 'number' && format > FORMAT
    if (isNewer)
      throw new Error(
        `${path} was written by a newer version of Toolwell. Nothing is read from it or added to it.`,
      )
    return lines.flatMap((line) => readExample(parse(line)) ?? [])
  }

  async function rewrite(examples: readonly UsageExample[]): Promise<void> {
    const temporary = `${path}.${process.pid}.tmp`
    try {
      await writeFile(temporary, HEAD + linesOf(examples), { mode: 0o600 })
      await rename(temporary, path)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }

  return {
    async read() {
      const examples = await readAll()
      if (examples.length <= MANY_LINES) return examples
      const kept = newestOf(examples)
      if (kept.length * 2 < examples.length) await rewrite(kept)
      return kept
    },
    async append(examples) {
      if (isNewer || examples.length === 0) return
      makeFolder(dirname(path), 0o700)
      const isNew = (await stat(path).catch(() => undefined)) === undefined
      await appendFile(path, (isNew ? HEAD : '\n') + linesOf(examples), { mode: 0o600 })
    },
    async forget(filter) {
      if (isNewer || (await stat(path).catch(() => undefined)) === undefined) return
      const examples = await readAll()
      await rewrite(examples.filter((example) => !matchesFilter(example, filter)))
    },
  }
}

/** The last of each tool and principal, in order. */
function newestOf(examples: readonly UsageExample[]): UsageExample[] {
  const counts = new Map<string, number>()
  const kept: UsageExample[] = []
  for (const example of [...examples].reverse()) {
    const key = `${example.principal}\n${example.tool}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    if (count <= RING) kept.push(example)
  }
  return kept.reverse()
}

function linesOf(examples: readonly UsageExample[]): string {
  return examples.map((example) => `${JSON.stringify(example)}\n`).join('')
}

/** The whole file, or the first line and the end of a huge one. Undefined where there is none. */
async function readEnd(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    const start = Math.max(0, size - MOST_BYTES)
    const bytes = Buffer.alloc(size - start)
    await file.read(bytes, 0, bytes.length, start)
    const text = bytes.toString('utf8')
    return start === 0 ? text : `\n${text.slice(text.indexOf('\n') + 1)}`
  } finally {
    await file.close()
  }
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
