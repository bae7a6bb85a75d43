/** What some servers want to be said in a schema although JSON Schema lets it be left out. */

type Json = { readonly [keyword: string]: unknown }

/** Levels of nesting that are looked through. */
const MAX_DEPTH = 50

/** Keywords whose value is data, whatever it looks like. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords that hold schemas by names of any kind. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/** The properties of the object itself, and the items of every array. The same object where nothing is missing. */
export function wholeSchema(schema: Json): Json {
  const whole = lacksItems(schema, 0) ? (withItems(schema, 0) as Json) : schema
  return isObject(whole.properties) ? whole : { ...whole, properties: {} }
}

/**
 * Without keywords that hold what they may not: some libraries write null where they have nothing to say. Servers refuse
 * the whole request for one.
 */
export function soundSchema(schema: Json): Json {
  return isSound(schema, 0) ? schema : (soundKeywords(schema, 0) as Json)
}

/** Whether `soundKeywords` would change nothing, as with most schemas. */
function isSound(value: unknown, depth: number): boolean {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every((item) => isSound(item, depth + 1))
  const schema = value as Json
  for (const keyword in schema) {
    const item = schema[keyword]
    if (!mayHold(keyword, item)) return false
    if (typeof item !== 'object' || item === null || DATA.has(keyword)) continue
    if (!MAPS.has(keyword) || !isObject(item)) {
      if (!isSound(item, depth + 1)) return false
    } else for (const name in item) if (!isSchema(item[name]) || !isSound(item[name], depth + 1)) return false
  }
  return true
}

function soundKeywords(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value
  const inner = (item: unknown) => soundKeywords(item, depth + 1)
  if (Array.isArray(value)) return listed(value, inner)
  const schema = value as Json
  const isSound = Object.keys(schema).every((keyword) => mayHold(keyword, schema[keyword]))
  const kept = isSound
    ? schema
    : Object.fromEntries(Object.entries(schema).filter(([keyword, item]) => mayHold(keyword, item)))
  return mapped(kept, (keyword, item) => {
    if (DATA.has(keyword)) return item
    if (!MAPS.has(keyword) || !isObject(item)) return inner(item)
    return mapped(item, (_, each) => (isSchema(each) ? inner(each) : {}))
  })
}

const MAY_BE_NULL = new Set(['const', 'default', 'example', 'examples'])

function mayHold(keyword: string, item: unknown): boolean {
  if (item === null) return MAY_BE_NULL.has(keyword)
  if (keyword === 'required') return Array.isArray(item) && item.every((name) => typeof name === 'string')
  if (MAPS.has(keyword)) return isObject(item)
  if (keyword === 'items') return isSchema(item) || Array.isArray(item)
  return keyword !== 'additionalProperties' || isSchema(item)
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === 'boolean'
}

/** Whether `withItems` would change anything. Opening a conversation looks through every schema there is, and most are whole. */
function lacksItems(value: unknown, depth: number): boolean {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item) => lacksItems(item, depth + 1))
  const schema = value as Json
  if (isArrayType(schema.type) && schema.items === undefined) return true
  for (const keyword in schema) {
    const item = schema[keyword]
    if (typeof item !== 'object' || item === null || DATA.has(keyword)) continue
    if (!MAPS.has(keyword) || !isObject(item)) {
      if (lacksItems(item, depth + 1)) return true
    } else for (const name in item) if (lacksItems(item[name], depth + 1)) return true
  }
  return false
}

function isArrayType(type: unknown): boolean {
  return type === 'array' || (Array.isArray(type) && type.includes('array'))
}

function withItems(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value
  const inner = (item: unknown) => withItems(item, depth + 1)
  if (Array.isArray(value)) return listed(value, inner)
  const made = mapped(value as Json, (keyword, item) => {
    if (DATA.has(keyword)) return item
    return MAPS.has(keyword) && isObject(item) ? mapped(item, (_, each) => inner(each)) : inner(item)
  })
  return isArrayType(made.type) && made.items === undefined ? { ...made, items: {} } : made
}

/** The same object where nothing changes. */
function mapped(object: Json, change: (key: string, value: unknown) => unknown): Json {
  const keys = Object.keys(object)
  let made: [string, unknown][] | undefined
  for (const [index, key] of keys.entries()) {
    const value = change(key, object[key])
    if (value !== object[key]) made ??= keys.slice(0, index).map((before) => [before, object[before]])
    made?.push([key, value])
  }
  return made ? Object.fromEntries(made) : object
}

function listed(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let made: unknown[] | undefined
  for (const [index, item] of list.entries()) {
    const value = change(item)
    if (value !== item) made ??= list.slice(0, index)
    made?.push(value)
  }
  return made ?? list
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
