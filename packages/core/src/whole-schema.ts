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
  const whole = withItems(schema, 0) as Json
  return isObject(whole.properties) ? whole : { ...whole, properties: {} }
}

function withItems(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return value
  const inner = (item: unknown) => withItems(item, depth + 1)
  if (Array.isArray(value)) return changed(value, value.map(inner))
  const made = mapped(value as Json, (keyword, item) => {
    if (DATA.has(keyword)) return item
    return MAPS.has(keyword) && isObject(item) ? mapped(item, (_, each) => inner(each)) : inner(item)
  })
  const { type, items } = made
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'))
  return isArray && items === undefined ? { ...made, items: {} } : made
}

function mapped(object: Json, change: (key: string, value: unknown) => unknown): Json {
  const entries = Object.entries(object)
  const made = entries.map(([key, value]): [string, unknown] => [key, change(key, value)])
  return made.every(([, value], index) => value === entries[index]?.[1]) ? object : Object.fromEntries(made)
}

function changed(list: readonly unknown[], made: readonly unknown[]): readonly unknown[] {
  return made.every((item, index) => item === list[index]) ? list : made
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
