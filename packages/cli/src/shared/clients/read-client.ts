/** The servers in one file of another client. */

import { readFileSync } from 'node:fs'
import { isRecord } from '@toolwell/core/internal'
import { entryFolder } from '@toolwell/mcp/internal'
import type { ClientFile } from './clients.js'
import { type Converted, convertEntry } from './convert.js'
import type { IsGateway } from './itself.js'
import { parseClient } from './parse-client.js'
import { type Fields, findShape, type Shape } from './shapes.js'
import type { IsOff } from './switches.js'

export interface ClientServers {
  readonly from: ClientFile
  readonly servers: ReadonlyMap<string, Converted>
  /** Entries that cannot be taken over, with the reason. */
  readonly refused: ReadonlyMap<string, string>
  /** Why the file could not be read. */
  readonly problem?: string
}

/** What is known of entries beside what they say. */
export interface EntryChecks {
  readonly isOff: IsOff
  readonly isGateway: IsGateway
}

/** Undefined where there is no such file, or no server in it. */
export function readClient(from: ClientFile, folder: string, known: EntryChecks): ClientServers | undefined {
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
  const shape = findShape(from.shape)
  const parsed = parseClient(text, shape.format, from.file)
  if ('problem' in parsed) {
    const { message, line } = parsed.problem
    return { ...nothing, problem: `${message}${line === undefined ? '' : ` (line ${line})`}` }
  }
  const beside = entryFolder(from.file)
  const { value } = parsed
  const projects =
    from.shape === 'claude-code' ? valueAt(value, ['projects', folder, 'mcpServers']) : undefined
  return convertEntries(from, known, value, [
    // What was added for this folder alone counts first.
    ...listEntries(projects).map((each) => ({ ...each, beside: folder })),
    ...shape.tables.flatMap((path) => listEntries(valueAt(value, path)).map((each) => ({ ...each, beside }))),
  ])
}

/** Those of one table, as `connect` reads it. */
export function readTable(
  from: ClientFile,
  value: Fields,
  path: readonly string[],
  known: EntryChecks,
): ClientServers {
  const beside = entryFolder(from.file)
  const entries = listEntries(valueAt(value, path)).map((each) => ({ ...each, beside }))
  return convertEntries(from, known, value, entries) ?? { from, servers: new Map(), refused: new Map() }
}

/** `beside`: the folder that relative paths of an entry start from. */
function convertEntries(
  from: ClientFile,
  { isOff, isGateway }: EntryChecks,
  whole: Fields,
  entries: readonly { readonly name: string; readonly entry: unknown; readonly beside: string }[],
): ClientServers | undefined {
  const shape: Shape = findShape(from.shape)
  const servers = new Map<string, Converted>()
  const refused = new Map<string, string>()
  for (const { name, entry, beside } of entries) {
    const made = nameProblem(name) ?? convertEntry(entry, shape, whole, beside)
    if (typeof made === 'string') refused.set(name, made)
    else if (isGateway(made.entry)) refused.set(name, 'it is Toolwell itself: one entry of it is enough')
    else if (!servers.has(name))
      servers.set(name, isOff(from, name) ? { ...made, entry: { ...made.entry, enabled: false } } : made)
  }
  return servers.size + refused.size === 0 ? undefined : { from, servers, refused }
}

/** Of an object by key; of a list by the name of each. */
export function listEntries(table: unknown): { readonly name: string; readonly entry: unknown }[] {
  if (Array.isArray(table))
    return table.map((entry: unknown, at) => ({
      name: isRecord(entry) && typeof entry.name === 'string' ? entry.name : `number ${at + 1}`,
      entry,
    }))
  return isRecord(table) ? Object.entries(table).map(([name, entry]) => ({ name, entry })) : []
}

export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (isRecord(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )
}

/** A server of this name would be Toolwell in front of itself. */
function nameProblem(name: string): string | undefined {
  if (name === 'toolwell') return 'it is Toolwell itself'
  if (name.trim() === '' || name.length > 200) return 'its name cannot be used'
  return undefined
}
