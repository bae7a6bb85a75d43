/** What some servers want to be said in a schema although JSON Schema lets it be left out. */
import { isRecord } from '../base/guards.js'

type Json = { readonly [keyword: string]: unknown }

/** Keywords whose value is data, whatever it looks like. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords that hold schemas by names of any kind. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/** The properties of the object itself, and the items of every array. The same object where nothing is missing. */
export function wholeSchema(schema: Json): Json {
  const whole = lacksItems(schema) ? (withItems(schema) as Json) : schema
  return isRecord(whole.properties) ? whole : { ...whole, properties: {} }
}

/** Whether `withItems` would change anything. Opening a conversation looks through every schema there is, and most are whole. */
function lacksItems(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item) => lacksItems(item))
  const schema = value as Json
  if (isArrayType(schema.type) && schema.items === undefined) return true
  for (const keyword in schema) {
    const item = schema[keyword]
    if (typeof item !== 'object' || item === null || DATA.has(keyword)) continue
    if (!MAPS.has(keyword) || !isRecord(item)) {
      if (lacksItems(item)) return true
    } else for (const name in item) if (lacksItems(item[name])) return true
  }
  return false
}

function isArrayType(type: unknown): boolean {
  return type === 'array' || (Array.isArray(type) && type.includes('array'))
}

function withItems(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const inner = (item: unknown) => withItems(item)
  if (Array.isArray(value)) return listed(value, inner)
  const made = mapped(value as Json, (keyword, item) => {
    if (DATA.has(keyword)) return item
    return MAPS.has(keyword) && isRecord(item) ? mapped(item, (_, each) => inner(each)) : inner(item)
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
