/** Names of parameters that a wire refuses: sent under legal ones, and turned back before the tool sees them. */
import { isRecord } from '../base/data.js'
import { shortHash } from '../base/hash.js'

type Json = { readonly [keyword: string]: unknown }

export interface RenamedSchema {
  readonly schema: Json
  /** Each legal name that stands for another, with the other. */
  readonly keys: ReadonlyMap<string, string>
}

/** Levels of nesting that are looked through. */
const MAX_DEPTH = 50

/** The schema with every property's name legal, at every depth. The same object where all of them are. */
export function renameIllegalKeys(schema: Json, legal: RegExp): RenamedSchema {
  const keys = new Map<string, string>()
  const names = new Map<string, string>()
  const taken = new Set<string>()
  collectNames(schema, taken, 0)
  const rename = (key: string): string => {
    const known = legal.test(key) ? key : names.get(key)
    if (known !== undefined) return known
    // The hash keeps apart what cleaning makes alike.
    const clean = key.replace(/[^a-zA-Z0-9_]+/g, '_').slice(0, 50)
    let made = `${clean}_${shortHash(key, 8)}`
    for (let count = 2; taken.has(made); count++) made = `${clean}_${shortHash(`${key}\n${count}`, 8)}`
    keys.set(made, key)
    names.set(key, made)
    return made
  }
  const made = renameKeys(schema, rename, 0)
  return keys.size === 0 ? { schema, keys } : { schema: made as Json, keys }
}

/** What a model sent, with the tool's own names. */
export function restoreKeys(value: unknown, keys: ReadonlyMap<string, string>, depth = 0): unknown {
  if (keys.size === 0 || depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => restoreKeys(item, keys, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [keys.get(key) ?? key, restoreKeys(item, keys, depth + 1)]),
  )
}

/** Keywords whose value is data, whatever it looks like. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords that hold schemas by names that are no properties. */
const MAPS = new Set(['$defs', 'definitions', 'patternProperties'])
/** Keywords that hold schemas, or lists of properties, by the names of properties. */
const BY_PROPERTY = new Set(['properties', 'dependentSchemas', 'dependentRequired', 'dependencies'])

function renameKeys(value: unknown, rename: (key: string) => string, depth: number): unknown {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, rename, depth + 1))
  const inner = (item: unknown) => renameKeys(item, rename, depth + 1)
  return Object.fromEntries(
    Object.entries(value).map(([keyword, item]): [string, unknown] => {
      if (keyword === 'properties' && isRecord(item)) return [keyword, mapEntries(item, named)]
      if (BY_PROPERTY.has(keyword) && isRecord(item))
        return [
          keyword,
          mapEntries(item, (key, each) => [rename(key), isNames(each) ? each.map(rename) : inner(each)]),
        ]
      if (MAPS.has(keyword) && isRecord(item))
        return [keyword, mapEntries(item, (key, each) => [key, inner(each)])]
      if (keyword === 'required' && Array.isArray(item)) return [keyword, item.map(renamedName)]
      if (keyword === 'propertyNames' && isRecord(item)) return [keyword, namesAllowed(item)]
      if (keyword === '$ref' && typeof item === 'string') return [keyword, renameInPointer(item, rename)]
      return [keyword, DATA.has(keyword) ? item : inner(item)]
    }),
  )

  /** A renamed property says in its title what it was called. */
  function named(key: string, schema: unknown): [string, unknown] {
    const legal = rename(key)
    const made = inner(schema)
    return [legal, legal !== key && isRecord(made) ? { title: key, ...made } : made]
  }

  function renamedName(name: unknown): unknown {
    return typeof name === 'string' ? rename(name) : name
  }

  function namesAllowed(schema: Json): Json {
    const { enum: names, const: name } = schema
    return {
      ...schema,
      ...(Array.isArray(names) ? { enum: names.map(renamedName) } : {}),
      ...(name === undefined ? {} : { const: renamedName(name) }),
    }
  }
}

/** A reference to the schema of a property goes by its name. */
function renameInPointer(pointer: string, rename: (key: string) => string): string {
  if (!pointer.startsWith('#/')) return pointer
  const steps = pointer.split('/')
  return steps
    .map((step, index) => (steps[index - 1] === 'properties' ? renameStep(step, rename) : step))
    .join('/')
}

function renameStep(step: string, rename: (key: string) => string): string {
  const key = decodeStep(step).replaceAll('~1', '/').replaceAll('~0', '~')
  const legal = rename(key)
  return legal === key ? step : legal
}

function decodeStep(step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}

/** The names of all properties: none of them may be given to another. */
function collectNames(value: unknown, names: Set<string>, depth: number): void {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return
  for (const [keyword, item] of Object.entries(value)) {
    if (keyword === 'properties' && isRecord(item)) for (const key of Object.keys(item)) names.add(key)
    collectNames(item, names, depth + 1)
  }
}

function mapEntries(object: Json, change: (key: string, value: unknown) => [string, unknown]): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => change(key, value)))
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((name) => typeof name === 'string')
}
