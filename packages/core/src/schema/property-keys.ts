/** Renames parameters that a wire refuses, and restores the original names before the tool gets them. */
import { isRecord } from '../base/data.js'
import { shortHash } from '../base/hash.js'

type Json = { readonly [keyword: string]: unknown }

export interface RenamedSchema {
  readonly schema: Json
  /** Legal name to original name, for renamed properties. */
  readonly keys: ReadonlyMap<string, string>
}

/** Levels of nesting to read. */
const MAX_DEPTH = 50

/** Makes every property name legal, at every depth. Returns the same object if all are. */
export function renameIllegalKeys(schema: Json, legal: RegExp): RenamedSchema {
  const keys = new Map<string, string>()
  const names = new Map<string, string>()
  const taken = new Set<string>()
  collectNames(schema, taken, 0)
  const rename = (key: string): string => {
    const known = legal.test(key) ? key : names.get(key)
    if (known !== undefined) return known
    // The hash distinguishes names that cleaning makes equal.
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

/** Restores the original names in the arguments of a model. */
export function restoreKeys(value: unknown, keys: ReadonlyMap<string, string>, depth = 0): unknown {
  if (keys.size === 0 || depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => restoreKeys(item, keys, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [keys.get(key) ?? key, restoreKeys(item, keys, depth + 1)]),
  )
}

/** Keywords whose value is data, even if it looks like a schema. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords with schemas by a name that is not a property. */
const MAPS = new Set(['$defs', 'definitions', 'patternProperties'])
/** Keywords with schemas or lists by the name of a property. */
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

  /** Keeps the original name of a renamed property as its title. */
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

/** Renames properties in a reference. */
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

/** Collects all property names, which new names must not repeat. */
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
