/** Refusals that OpenAI words the same on both wires, and its checks of function schemas. */
import { type Fields, type Found, firstOf, isObject, violation } from './guards.js'
import type { Violation } from './protocol.js'
import { keywordObjection } from './schema-keywords.js'

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

export function nameViolation(name: unknown, at: string): Found {
  if (name === undefined) return missing(at)
  if (typeof name !== 'string') return wrongType(at, 'a string', name)
  if (name.length > 64) return tooLong(at, 64, name)
  if (NAME.test(name)) return undefined
  return violation(
    `Invalid '${at}': string does not match pattern. Expected a string that matches the pattern '${NAME.source}'.`,
    at,
    'invalid_value',
  )
}

/**
 * OpenAI accepts any text that its models wrote. Servers with chat templates parse it: vLLM in `_postprocess_messages` of
 * `vllm/entrypoints/chat_utils.py`. Some releases refuse a history with a truncated call on every retry; newer ones silently
 * replace it with `{}`. Empty text counts as no arguments.
 */
export function argumentsViolation(text: unknown, at: string): Found {
  if (typeof text !== 'string') return wrongType(at, 'a string', text)
  try {
    const value: unknown = text === '' ? {} : JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined
  } catch {
    // Refused below.
  }
  return violation(
    `Invalid '${at}': the arguments of a call have to be a JSON object.`,
    at,
    'invalid_arguments',
  )
}

/** Also refuses an empty array. */
export function arrayViolation(at: string, value: unknown): Found {
  if (!Array.isArray(value)) return wrongType(at, 'an array', value)
  if (value.length > 0) return undefined
  const reason = 'Expected an array with minimum length 1, but got an empty array instead.'
  return violation(`Invalid '${at}': empty array. ${reason}`, at, 'empty_array')
}

export function eachOf(
  list: unknown,
  at: string,
  check: (entry: unknown, at: string, index: number) => Found,
): Found {
  if (!Array.isArray(list)) return undefined
  return firstOf(list.entries(), ([index, entry]) => check(entry, `${at}[${index}]`, index))
}

export function tooLong(at: string, limit: number, text: string): Violation {
  const reason = `Expected a string with maximum length ${limit}, but got a string with length ${text.length} instead.`
  return violation(`Invalid '${at}': string too long. ${reason}`, at, 'string_above_max_length')
}

export function missing(at: string): Violation {
  return violation(`Missing required parameter: '${at}'.`, at, 'missing_required_parameter')
}

export function wrongValue(at: string, value: unknown, allowed: readonly unknown[]): Violation {
  const supported = allowed.map((entry) => `'${entry}'`).join(', ')
  return violation(
    `Invalid value: '${String(value)}'. Supported values are: ${supported}.`,
    at,
    'invalid_value',
  )
}

/** `at` is null for the body itself. */
export function wrongType(at: string | null, expected: string, value: unknown): Violation {
  const place = at === null ? 'the request body' : `'${at}'`
  return violation(
    `Invalid type for ${place}: expected ${expected}, but got ${describeKind(value)} instead.`,
    at,
    'invalid_type',
  )
}

function describeKind(value: unknown): string {
  if (value === null || value === undefined) return String(value)
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Keywords whose value is data, not a schema. */
const DATA = ['const', 'enum', 'default', 'examples']
/** Keywords that map names to schemas. */
const MAPS = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']

/** Requires `properties` on the object, even if empty, and `items` on every array, strict or not. */
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
    // Keys of a map are names, not keywords.
    if (DATA.includes(keyword) && !isMap) continue
    const found = itemsObjection(value, [...context, keyword], MAPS.includes(keyword) && !isMap)
    if (found !== undefined) return found
  }
  return undefined
}

const NOT_IN_STRICT = ['oneOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas']

/** Strict mode requires closed objects with all properties required, at every depth. Source: guides/structured-outputs, "Supported schemas". */
export function strictObjection(schema: unknown, context: readonly string[] = []): string | undefined {
  if (!isObject(schema)) return undefined
  const place = `In context=(${context.map((step) => `'${step}'`).join(', ')})`
  const refused = NOT_IN_STRICT.find((keyword) => Object.hasOwn(schema, keyword))
  if (refused !== undefined) return `${place}, '${refused}' is not permitted.`
  const { type, properties, required, additionalProperties } = schema
  const names = isObject(properties) ? Object.keys(properties) : []
  if (type === 'object' || (Array.isArray(type) && type.includes('object')) || names.length > 0) {
    if (additionalProperties !== false) {
      return `${place}, 'additionalProperties' is required to be supplied and to be false.`
    }
    const absent = names.find((name) => !Array.isArray(required) || !required.includes(name))
    if (absent !== undefined) {
      const rule =
        "'required' is required to be supplied and to be an array including every key in properties."
      return `${place}, ${rule} Missing '${absent}'.`
    }
  }
  for (const keyword of ['properties', '$defs', 'definitions', 'anyOf']) {
    for (const [key, child] of Object.entries(schema[keyword] ?? {})) {
      const reason = strictObjection(child, [...context, keyword, key])
      if (reason !== undefined) return reason
    }
  }
  return strictObjection(schema.items, [...context, 'items'])
}
