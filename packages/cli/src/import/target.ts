/** The file that servers are written into: what it holds, and the same with more, comments and all. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { chmod, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isRecord } from '@toolwell/core/internal'
import { makeFolder } from '@toolwell/core/internal/node'
import { describeProblem } from '@toolwell/mcp'
import { readDocument } from '@toolwell/mcp/internal'
import { applyEdits, modify } from 'jsonc-parser'
import { Problem } from '../shared/problem.js'
import type { Addition } from './plan.js'

export interface Target {
  readonly file: string
  /** Undefined where there is no file yet. */
  readonly text: string | undefined
  readonly servers: Readonly<Record<string, unknown>>
}

/** A file that cannot be read as a config is never written over. */
export function readTarget(file: string): Target {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return { file, text: undefined, servers: {} }
    throw new Problem(`${file} cannot be read (${code}).`, 'Check the path behind --to, and its permissions.')
  }
  const { value, problems } = readDocument(text.trim() === '' ? '{}' : text, file)
  if (!value)
    throw new Problem(
      `${file} is not a config: ${problems.map(describeProblem).join(' ')}`,
      'Fix it or move it away. Nothing was changed.',
    )
  const { mcpServers = {}, servers = {} } = value
  if (!isRecord(mcpServers) || !isRecord(servers))
    throw new Problem(`"mcpServers" in ${file} is not an object.`, 'Fix it. Nothing was changed.')
  return { file, text, servers: { ...servers, ...mcpServers } }
}

export function addServers({ text }: Target, add: readonly Addition[]): string {
  const formattingOptions = { insertSpaces: true, tabSize: 2, eol: text?.includes('\r\n') ? '\r\n' : '\n' }
  let next = text === undefined || text.trim() === '' ? '{\n  "mcpServers": {}\n}\n' : text
  for (const { name, entry } of add)
    next = applyEdits(next, modify(next, ['mcpServers', name], entry, { formattingOptions }))
  return next.endsWith('\n') ? next : `${next}\n`
}

/** Whole or not at all. A new file is for its owner alone: it may hold secrets. */
export async function writeTarget({ file }: Target, text: string): Promise<void> {
  const target = await realpath(file).catch(() => file)
  const draft = `${target}.${randomUUID()}.tmp`
  try {
    makeFolder(dirname(target))
    const mode = await stat(target).then(
      (found) => found.mode & 0o777,
      () => 0o600,
    )
    await writeFile(draft, text, { mode: 0o600 })
    await chmod(draft, mode)
    await rename(draft, target)
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined)
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new Problem(
      `${file} cannot be written (${code}).`,
      'Check that its folder may be written to. Nothing was changed.',
      { cause },
    )
  }
}
