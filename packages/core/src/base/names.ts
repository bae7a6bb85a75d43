/** Names and ids of tools: legal wire names, tool ids, and folding of spellings. */
import { shortHash } from './hash.js'

const LEGAL = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

export function isLegalWireName(name: string): boolean {
  return LEGAL.test(name)
}

/** Lower-cases a name and removes separators: `Enter-Worktree`, `enter_worktree` and `enterWorktree` become equal. */
export function foldName(name: string): string {
  // A fast path: nearly all names are ASCII, and a large catalogue has tens of thousands.
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase().replace(/[^a-z0-9]+/g, '')
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/**
 * Builds the id of a tool: stable, unique and readable in events. The part before the first slash is the source, with its
 * slashes escaped. The id of a host tool is its name alone, unless the name contains a slash.
 */
export function toolId(source: string, name: string): string {
  if (source === '' && !name.includes('/')) return name
  return `${escapedSource(source)}/${name}`
}

/** The source of a tool id; empty for the host's tools. */
export function sourceOfId(id: string): string {
  const source = id.slice(0, Math.max(0, id.indexOf('/')))
  return source.replaceAll('%2F', '/').replaceAll('%25', '%')
}

/** True if the id belongs to a tool of that source. */
export function isToolOfSource(source: string, id: string): boolean {
  return id.slice(0, Math.max(0, id.indexOf('/'))) === escapedSource(source)
}

function escapedSource(source: string): string {
  return source.replaceAll('%', '%25').replaceAll('/', '%2F')
}

/** Returns the wire name of a tool. Must be deterministic, and different for different tools. */
export type WireNaming = (source: string, name: string) => string

const joined: WireNaming = (source, name) => `${source}__${name}`

/**
 * Makes a name that every provider accepts. The source is the prefix, so that names of two sources cannot clash. A hash of
 * source and name is appended if the name had to be changed to be legal, or if `__` could separate it in two ways. The
 * order in which tools arrive does not matter.
 */
export function createWireName(
  source: string,
  name: string,
  reserved: ReadonlySet<string> = new Set(),
  join: WireNaming = joined,
): string {
  const given: unknown = source === '' ? name : join(source, name)
  const plain = typeof given === 'string' ? given : joined(source, name)
  const ambiguous = source !== '' && (`${source}_`.includes('__') || `_${name}`.includes('__'))
  if (isLegalWireName(plain) && !ambiguous && !reserved.has(plain)) return plain
  return addHashSuffix(plain, source, name)
}

/** Makes the name legal and appends a hash of source and name. */
export function addHashSuffix(plain: string, source: string, name: string, digits = 8): string {
  const legal = plain.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^[^A-Za-z_]/, '_$&')
  return `${legal.slice(0, 63 - digits)}_${shortHash(`${source}\u0000${name}`, digits)}`
}

/** The name of the Responses API's built-in search. No other tool may have this name there. */
export const NATIVE_SEARCH = 'tool_search'

/** A hidden tool on wires that defer natively. If a model calls it, something on the way reveals hidden tools. */
export const RESERVE_NAME = 'toolwell_reserve'
