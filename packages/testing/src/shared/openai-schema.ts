/** What OpenAI refuses in the schema of a function on both of its wires, strict or not. */
import { type Fields, isObject } from './guards.js'
import { keywordObjection } from './schema-keywords.js'

/** Keywords whose value is data, whatever it looks like. */
const DATA = ['const', 'enum', 'default', 'examples']
/** Keywords that hold schemas by names of any kind. */
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']

/** Properties of the object itself have to be there, if none, and the items of every array. */
export function schemaObjection(parameters: Fields): string | undefined {
  if (!isObject(parameters.properties)) return 'In context=(), object schema missing properties.'
  return keywordObjection(parameters) ?? itemsObjection(parameters, [])
}

function itemsObjection(schema: unknown, context: readonly string[], isMap = false): string | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined
  const { type, items } = schema as Fields
  const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'))
  if (!isMap && isArray && items === undefined) {
    return `In context=(${context.map((step) => `'${step}'`).join(', ')}), array schema missing items.`
  }
  for (const [keyword, value] of Object.entries(schema)) {
    // Under a map of schemas any word is a name.
    if (DATA.includes(keyword) && !isMap) continue
    const found = itemsObjection(value, [...context, keyword], MAPS.includes(keyword) && !isMap)
    if (found !== undefined) return found
  }
  return undefined
}
