/** A schema as one readable line, good enough to call the tool from, for answers that do not show the schema itself. */
import { firstLine } from '../base/text.js'
import type { JsonSchema } from './tool.js'

const MOST_PARAMETERS = 30
const MOST_NESTED = 8
const MOST_VALUES = 6
const MOST_BRANCHES = 4
/** Below the parameters themselves. */
const LEVELS = 1

/**
 * `create_issue(title: string, labels?: string[], state?: "open" | "closed" = "open")`. Bounded: at most 30 parameters, one level of
 * what is inside them; a `$ref` and an `anyOf` are followed once. Never throws.
 */
export function signatureOf(name: string, schema: JsonSchema): string {
  const root = record(schema)
  return `${name}(${membersOf(root, MOST_PARAMETERS, (value) => typeOf(value, LEVELS, root)).join(', ')})`
}

/** The same at a glance, for who will read the schema before a call: what has to be given, and nothing of what is inside it. */
export function shortSignatureOf(name: string, schema: JsonSchema): string {
  const root = record(schema)
  const properties = record(root.properties)
  const all = Object.keys(properties)
  const needed = requiredOf(root).filter((key) => Object.hasOwn(properties, key))
  const parts = needed
    .slice(0, MOST_NESTED)
    .map((key) => `${plain(key)}: ${typeOf(properties[key], 0, root)}`)
  return `${name}(${[...parts, ...(all.length > parts.length ? ['…'] : [])].join(', ')})`
}

/** Each property with its mark, type and default; then how many more there are. */
function membersOf(schema: Schema, most: number, typed: (value: unknown) => string): string[] {
  const properties = record(schema.properties)
  const required = new Set(requiredOf(schema))
  const keys = Object.keys(properties)
  // What has to be given is never what is cut.
  const shown = keys.length > most ? [...keys].sort((a, b) => +required.has(b) - +required.has(a)) : keys
  const parts = shown
    .slice(0, most)
    .map(
      (key) =>
        `${plain(key)}${required.has(key) ? '' : '?'}: ${typed(properties[key])}${defaultOf(properties[key])}`,
    )
  return keys.length > most ? [...parts, `… ${keys.length - most} more`] : parts
}

function requiredOf({ required }: Schema): string[] {
  const names: unknown[] = Array.isArray(required) ? required : []
  return [...new Set(names)].filter((name): name is string => typeof name === 'string')
}

function typeOf(value: unknown, depth: number, root: Schema, followed = false): string {
  const schema = record(value)
  const deeper = (inner: unknown) => typeOf(inner, depth, root, true)
  if ('const' in schema) return inJson(schema.const)
  if (Array.isArray(schema.enum)) return cut(schema.enum.map(inJson), MOST_VALUES)
  if (typeof schema.$ref === 'string' && !followed) return deeper(referred(schema.$ref, root))
  const [branches] = [schema.anyOf, schema.oneOf].filter(Array.isArray)
  if (branches && !followed) return cut([...new Set(branches.map(deeper))], MOST_BRANCHES)
  if (schema.type === 'array') {
    const item = typeOf(schema.items, depth, root, followed)
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  const isObject = schema.type === 'object' || (schema.type === undefined && schema.properties !== undefined)
  if (isObject && depth > 0 && schema.properties !== undefined) {
    const inner = membersOf(schema, MOST_NESTED, (each) => typeOf(each, depth - 1, root, followed))
    return `{ ${inner.join(', ')} }`
  }
  if (isObject) return 'object'
  if (typeof schema.type === 'string') return plain(schema.type)
  if (Array.isArray(schema.type)) return schema.type.map((type) => plain(String(type))).join(' | ')
  return 'any'
}

/** What `#/$defs/name` stands for; nothing where it points elsewhere. */
function referred(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#/')) return undefined
  let found: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const holder = record(found)
    found = Object.hasOwn(holder, key) ? holder[key] : undefined
  }
  return found
}

/** Only what fits on the line: a default of many lines says less than its absence. */
function defaultOf(value: unknown): string {
  const { default: given } = record(value)
  const isPlain = ['string', 'number', 'boolean'].includes(typeof given)
  return isPlain && String(given).length <= 40 ? ` = ${inJson(given)}` : ''
}

function cut(options: readonly string[], most: number): string {
  const shown = options.slice(0, most).join(' | ')
  return options.length > most ? `${shown} | … ${options.length - most} more` : shown
}

function inJson(value: unknown): string {
  return plain(JSON.stringify(value) ?? 'null')
}

function plain(text: string): string {
  return firstLine(text, 60).replace(/[<>]/g, '')
}

type Schema = Record<string, unknown>

function record(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}
