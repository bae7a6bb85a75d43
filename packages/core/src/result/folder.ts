/** `@toolwell/core/stores/results`: kept results as files, in a folder of the host's choice. */
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { isRecord } from '../base/data.js'
import { ToolwellError } from '../base/errors.js'
import { shortHash } from '../base/hash.js'
import { isMissing, makeFolder } from '../ledger/stores/folders.js'
import type { KeptContent, ResultStore, ResultStoreLimits } from './store.js'
import { estimateBytes } from './store.js'

const MAX_BYTES = 512 * 1024 * 1024
const MAX_AGE = 7 * 24 * 60 * 60 * 1000
/** Files with another ending are somebody else's. */
const ENDING = '.result.json'

/**
 * One file for each result, readable by its owner alone. Its name is a hash of its ledger and one of its handle, so that no id
 * leads out of the folder. The age of a file is its time of change; what is too old, or too much, is removed when the next
 * result is written.
 */
export function resultFolder(
  folder: string,
  { maxBytes = MAX_BYTES, maxAge = MAX_AGE }: ResultStoreLimits = {},
): ResultStore {
  if (typeof folder !== 'string' || folder === '')
    throw new ToolwellError('invalid-option', 'resultFolder needs the path of a folder.', { path: 'folder' })
  const root = resolve(folder)
  // As JSON, which keeps lone surrogates apart.
  const nameOf = (id: string) => shortHash(JSON.stringify(id), 40)
  const fileOf = (ledger: string, handle: string) =>
    join(root, `${nameOf(ledger)}-${nameOf(handle)}${ENDING}`)
  let count = 0

  return {
    async write(ledger, handle, content) {
      if (estimateBytes(content) > maxBytes) return false
      makeFolder(root, 0o700)
      const file = fileOf(ledger, handle)
      const text = JSON.stringify({ ledger, handle, content })
      await sweep(root, maxBytes - text.length, maxAge, file)
      // Whole or not at all: nobody reads half of it.
      const fresh = `${file}.${process.pid}.${count++}`
      try {
        await writeFile(fresh, text, { mode: 0o600 })
        await rename(fresh, file)
      } catch (error) {
        await rm(fresh, { force: true })
        throw error
      }
      return true
    },
    async read(ledger, handle) {
      const file = fileOf(ledger, handle)
      try {
        const { mtimeMs } = await stat(file)
        // A file's time has fractions of a millisecond, the clock has none.
        if (Math.floor(mtimeMs) + maxAge <= Date.now()) return undefined
        return contentOf(JSON.parse(await readFile(file, 'utf8')), ledger, handle)
      } catch {
        // Gone meanwhile, or not ours: there is no such result.
        return undefined
      }
    },
    async delete(ledger) {
      const start = `${nameOf(ledger)}-`
      const isTheirs = (name: string) => name.startsWith(start) && name.includes(ENDING)
      for (const name of (await namesIn(root)).filter(isTheirs)) await rm(join(root, name), { force: true })
    },
  }
}

function contentOf(stored: unknown, ledger: string, handle: string): KeptContent | undefined {
  if (!isRecord(stored) || stored.ledger !== ledger || stored.handle !== handle) return undefined
  const { content } = stored
  if (!isRecord(content)) return undefined
  const { text, data, mediaType } = content
  if (typeof text === 'string') return { text }
  return typeof data === 'string' && typeof mediaType === 'string' ? (content as KeptContent) : undefined
}

/** None where the folder is not there: nothing was kept yet. */
async function namesIn(root: string): Promise<string[]> {
  return readdir(root).catch((error: unknown) => {
    if (isMissing(error)) return []
    throw error
  })
}

/** Removes what is too old, then the oldest until the rest fits. `replaced` is about to be written anew. */
async function sweep(root: string, room: number, maxAge: number, replaced: string): Promise<void> {
  const files: { readonly path: string; readonly size: number; readonly at: number }[] = []
  for (const name of await namesIn(root)) {
    if (!name.includes(ENDING)) continue
    const path = join(root, name)
    const found = await stat(path).catch(() => undefined)
    if (found && path !== replaced) files.push({ path, size: found.size, at: found.mtimeMs })
  }
  files.sort((a, b) => a.at - b.at)
  let total = files.reduce((sum, { size }) => sum + size, 0)
  for (const { path, size, at } of files) {
    if (at + maxAge > Date.now() && total <= room) continue
    await rm(path, { force: true })
    total -= size
  }
}
