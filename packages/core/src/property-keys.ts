/** Names of parameters that a wire refuses: sent under legal ones, and turned back before the tool sees them. */
import { shortHash } from './fingerprint.js'

type Json = { readonly [keyword: string]: unknown }

export interface LegalSchema {
  readonly schema: Json
  /** Each legal name that stands for another, with the other. */
  readonly keys: ReadonlyMap<string, string>
}

/** Levels of nesting that are looked through. */
const MAX_DEPTH = 50

/** The schema with every property's name legal, at every depth. The same object where all of them are. */
export function legalKeys(schema: Json, legal: RegExp): LegalSchema {
  const keys = new Map<string, string>()
  const rename = (key: string): string => {
    if (legal.test(key)) return key
    // The hash keeps apart what cleaning makes alike.
    const made = `${key.replace(/[^a-zA-Z0-9_]+/g, '_').slice(0, 50)}_${shortHash(key, 8)}`
    keys.set(made, key)
    return made
  }
  const made = renamed(schema, rename, 0)
  return keys.size === 0 ? { schema, keys } : { schema: made as Json, keys }
}

/** What a model sent, with the tool's own names. */
export function originalKeys(value: unknown, keys: ReadonlyMap<string, string>, depth = 0): unknown {
  if (keys.size === 0 || depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => originalKeys(item, keys, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [keys.get(key) ?? key, originalKeys(item, keys, depth + 1)]),
  )
}

/** Keywords whose value is data, whatever it looks like. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])

function renamed(value: unknown, rename: (key: string) => string, depth: number): unknown {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => renamed(item, rename, depth + 1))
  const inner = (item: unknown) => renamed(item, rename, depth + 1)
  return Object.fromEntries(
    Object.entries(value).map(([keyword, item]) => {
      if (DATA.has(keyword)) return [keyword, item]
      if (keyword === 'properties' && isObject(item))
        return [keyword, Object.fromEntries(Object.entries(item).map(([key, each]) => named(key, each)))]
      if (keyword === 'required' && Array.isArray(item))
        return [keyword, item.map((key) => (typeof key === 'string' ? rename(key) : key))]
      return [keyword, inner(item)]
    }),
  )

  /** A renamed property says in its title what it was called. */
  function named(key: string, schema: unknown): [string, unknown] {
    const legal = rename(key)
    const made = inner(schema)
    return [legal, legal !== key && isObject(made) ? { title: key, ...made } : made]
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
