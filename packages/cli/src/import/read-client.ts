/** The servers in one file of another client. */

import { readFileSync } from 'node:fs'
import { isRecord } from '@toolwell/core/internal'
import { entryFolder, readDocument, type Translated } from '@toolwell/mcp/internal'
import { parse as parseToml } from 'smol-toml'
import type { ClientFile } from './clients.js'
import { convert, type Fields } from './convert.js'
import type { IsOff } from './switches.js'

export interface ClientServers {
  readonly from: ClientFile
  readonly servers: ReadonlyMap<string, Translated>
  /** Entries that cannot be taken over, with the reason. */
  readonly refused: ReadonlyMap<string, string>
  /** Why the file could not be read. */
  readonly problem?: string
}

/** Undefined where there is no such file, or no server in it. */
export function readClient(from: ClientFile, folder: string, isOff: IsOff): ClientServers | undefined {
  const nothing = { from, servers: new Map(), refused: new Map() }
  let text: string
  try {
    text = readFileSync(from.file, 'utf8')
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? undefined
      : { ...nothing, problem: `it cannot be read (${code})` }
  }
  const value = from.shape === 'codex' ? toml(text) : json(text, from.file)
  if (typeof value === 'string') return { ...nothing, problem: value }
  const servers = new Map<string, Translated>()
  const refused = new Map<string, string>()
  for (const { name, entry, beside } of entriesIn(value, from, folder)) {
    const made = nameProblem(name) ?? convert(entry, from.shape, beside)
    if (typeof made === 'string') refused.set(name, made)
    else if (!servers.has(name))
      servers.set(name, isOff(from, name) ? { ...made, entry: { ...made.entry, enabled: false } } : made)
  }
  return servers.size + refused.size === 0 ? undefined : { from, servers, refused }
}

/** `beside`: the folder that relative paths of an entry start from. */
function entriesIn(
  value: Fields,
  { shape, file }: ClientFile,
  folder: string,
): { readonly name: string; readonly entry: unknown; readonly beside: string }[] {
  const at = (...path: string[]) =>
    path.reduce<unknown>(
      (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
      value,
    )
  const tables = {
    servers: [at('mcpServers'), at('servers')],
    // What was added for this folder alone counts first.
    'claude-code': [at('projects', folder, 'mcpServers'), at('mcpServers')],
    gemini: [at('mcpServers')],
    codex: [at('mcp_servers')],
    opencode: [at('mcp')],
    'vscode-settings': [at('mcp', 'servers')],
  }[shape]
  return tables.flatMap((table, index) => {
    const beside = shape === 'claude-code' && index === 0 ? folder : entryFolder(file)
    return isRecord(table) ? Object.entries(table).map(([name, entry]) => ({ name, entry, beside })) : []
  })
}

/** A server of this name would be Toolwell in front of itself. */
function nameProblem(name: string): string | undefined {
  if (name === 'toolwell') return 'it is Toolwell itself'
  if (name.trim() === '' || name.length > 200) return 'its name cannot be used'
  return undefined
}

function json(text: string, file: string): Fields | string {
  if (text.trim() === '') return {}
  const { value, problems } = readDocument(text, file)
  if (value) return value
  const [{ message, line } = { message: 'it cannot be read', line: undefined }] = problems
  return `${message}${line === undefined ? '' : ` (line ${line})`}`
}

function toml(text: string): Fields | string {
  try {
    return parseToml(text) as Fields
  } catch (error) {
    // The message shows the line, which may hold a secret.
    const { line } = error as { line?: number }
    return `this is not TOML${line === undefined ? '' : ` (line ${line})`}`
  }
}
