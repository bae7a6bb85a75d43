/** Names: how they are made legal for every provider, and how a model's spelling of them is folded. */
import { shortHash } from './hash.js'

const LEGAL = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

export function isLegalWireName(name: string): boolean {
  return LEGAL.test(name)
}

/** Lower case without separators: `Enter-Worktree`, `enter_worktree` and `enterWorktree` become one. */
export function foldName(name: string): string {
  // Nearly all names are this, and a large catalogue has tens of thousands.
  if (/^[\x00-\x7f]*$/.test(name)) return name.toLowerCase().replace(/[^a-z0-9]+/g, '')
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
}

/**
 * The id of a tool: stable, readable in events, and never that of another tool: what stands before the first slash is
 * the source, with its own slashes escaped. The host's own tools have their name alone, where that holds no slash.
 */
export function toolId(source: string, name: string): string {
  if (source === '' && !name.includes('/')) return name
  return `${escapedSource(source)}/${name}`
}

/** The source of a tool of this id; empty for the host's own. */
export function sourceOfId(id: string): string {
  const source = id.slice(0, Math.max(0, id.indexOf('/')))
  return source.replaceAll('%2F', '/').replaceAll('%25', '%')
}

/** Whether a tool of this id is one of that source's. */
export function isToolOfSource(source: string, id: string): boolean {
  return id.slice(0, Math.max(0, id.indexOf('/'))) === escapedSource(source)
}

function escapedSource(source: string): string {
  return source.replaceAll('%', '%25').replaceAll('/', '%2F')
}

/** Names a tool of a source. Must give different names to different tools, and the same one every time. */
export type WireNaming = (source: string, name: string) => string

const joined: WireNaming = (source, name) => `${source}__${name}`

/**
 * The one name that every provider accepts. Tools of a source are prefixed with it, so that no two sources can
 * meet. Where making the name legal changed it, or the joint `__` could stand elsewhere, a suffix hashed from source
 * and name keeps it apart from its neighbours; arrival order never plays a part. `prefix` stands before every source.
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

/** The same name with its hash, for a collision that the plain form cannot avoid. */
export function addHashSuffix(plain: string, source: string, name: string, digits = 8): string {
  const legal = plain.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^[^A-Za-z_]/, '_$&')
  return `${legal.slice(0, 63 - digits)}_${shortHash(`${source}\u0000${name}`, digits)}`
}

/** What the Responses API calls its own search: no other tool may have the name there. */
export const NATIVE_SEARCH = 'tool_search'

/** Declared out of sight on wires that defer natively. A model that calls it has been shown what it should not see. */
export const RESERVE_NAME = 'toolwell_reserve'
