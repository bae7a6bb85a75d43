/** What no server takes in a JSON Schema, whichever of its dialects it speaks: keywords that hold something else than they may. */
import { type Fields, isObject } from './guards.js'

/** Keywords that hold schemas by names of any kind. */
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']

/** The place of the first such keyword, and what should be there. */
export function keywordObjection(schema: unknown, at = ''): string | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isObject(schema)) return `${at || 'the schema'} is not of type 'object', 'boolean'`
  const { required } = schema
  if (
    required !== undefined &&
    !(Array.isArray(required) && required.every((name) => typeof name === 'string'))
  )
    return `${at}/required is not of type 'array'`
  for (const keyword of MAPS) {
    const map = schema[keyword]
    if (map === undefined) continue
    if (!isObject(map)) return `${at}/${keyword} is not of type 'object'`
    const found = firstOf(map, `${at}/${keyword}`)
    if (found !== undefined) return found
  }
  const { type, items, additionalProperties } = schema
  if (type === null) return `${at}/type is not of type 'string', 'array'`
  const inner = {
    ...(isObject(items) || items === null ? { items } : {}),
    ...(additionalProperties === undefined ? {} : { additionalProperties }),
  }
  return firstOf(inner, at)
}

function firstOf(schemas: Fields, at: string): string | undefined {
  for (const [key, schema] of Object.entries(schemas)) {
    const found = keywordObjection(schema, `${at}/${key}`)
    if (found !== undefined) return found
  }
  return undefined
}
