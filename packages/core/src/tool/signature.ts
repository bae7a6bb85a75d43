/** Writes a schema as one line that is enough to call the tool, for answers that do not include the schema. */
import { firstLine } from '../base/text.js'
import type { JsonSchema } from './tool.js'

const MOST_PARAMETERS = 30
const MOST_NESTED = 8
const MOST_VALUES = 6
const MOST_BRANCHES = 4
/** Levels below the parameters. */
const LEVELS = 1
/** Nested `$ref`, `anyOf` and `allOf` to follow. Real servers need no more. */
const FOLLOWED = 3

/**
 * `create_issue(title: string, labels?: string[], state?: "open" | "closed" = "open")`. Shows at most 30 parameters and one level
 * below them. `$ref`, `anyOf` and `allOf` do not count as a level. Never throws.
 */
export function writeSignature(name: string, schema: JsonSchema): string {
  const root = asRecord(schema)
  const members = listMembers(resolveParameters(root), MOST_PARAMETERS, (value) =>
    describeType(value, LEVELS, root),
  )
  return `${name}(${members.join(', ')})`
}

/** Writes only the required parameters, without nested fields. For models that read the schema before a call. */
export function writeShortSignature(name: string, schema: JsonSchema): string {
  const root = asRecord(schema)
  const whole = resolveParameters(root)
  const properties = asRecord(whole.properties)
  const all = Object.keys(properties)
  const needed = listRequired(whole).filter((key) => Object.hasOwn(properties, key))
  const parts = needed
    .slice(0, MOST_NESTED)
    .map((key) => `${plain(key)}: ${describeType(properties[key], 0, root)}`)
  return `${name}(${[...parts, ...(all.length > parts.length ? ['…'] : [])].join(', ')})`
}

/** Lists each property with its type and default, and the number of properties that do not fit. */
function listMembers(schema: Schema, most: number, typed: (value: unknown) => string): string[] {
  const properties = asRecord(schema.properties)
  const required = new Set(listRequired(schema))
  const keys = Object.keys(properties)
  // Required properties first, so that the cut drops only optional ones.
  const shown = keys.length > most ? [...keys].sort((a, b) => +required.has(b) - +required.has(a)) : keys
  const parts = shown
    .slice(0, most)
    .map(
      (key) =>
        `${plain(key)}${required.has(key) ? '' : '?'}: ${typed(properties[key])}${writeDefault(properties[key])}`,
    )
  return keys.length > most ? [...parts, `… ${keys.length - most} more`] : parts
}

function listRequired({ required }: Schema): string[] {
  const names: unknown[] = Array.isArray(required) ? required : []
  return [...new Set(names)].filter((name): name is string => typeof name === 'string')
}

/** Merges parameters from a `$ref`, `allOf` or branches. A parameter is required if every branch requires it. */
function resolveParameters(root: Schema): Schema {
  const schema = flatten(root, root, FOLLOWED)
  const branches = listBranches(schema).map((branch) => flatten(branch, root, FOLLOWED - 1))
  if (branches.length === 0) return schema
  const [first = [], ...others] = branches.map(listRequired)
  const always = first.filter((name) => others.every((names) => names.includes(name)))
  const merged = branches.reduce(mergeSchemas, {})
  return { ...mergeSchemas(merged, schema), required: [...listRequired(schema), ...always] }
}

/** Merges a schema with the target of its `$ref` and its `allOf`. */
function flatten(value: unknown, root: Schema, left: number): Schema {
  const { $ref, allOf, ...own } = asRecord(value)
  const parts = [
    ...(typeof $ref === 'string' ? [resolveReference($ref, root)] : []),
    ...(Array.isArray(allOf) ? allOf.slice(0, MOST_BRANCHES) : []),
  ]
  if (parts.length === 0 || left === 0) return own
  return mergeSchemas(parts.map((part) => flatten(part, root, left - 1)).reduce(mergeSchemas, {}), own)
}

function mergeSchemas(first: Schema, second: Schema): Schema {
  const properties = { ...asRecord(first.properties), ...asRecord(second.properties) }
  const required = [...listRequired(first), ...listRequired(second)]
  const has = Object.keys(properties).length > 0
  return { ...first, ...second, ...(has ? { properties } : {}), ...(required.length > 0 ? { required } : {}) }
}

function listBranches({ anyOf, oneOf }: Schema): unknown[] {
  return [anyOf, oneOf].find(Array.isArray) ?? []
}

function describeType(value: unknown, depth: number, root: Schema, left = FOLLOWED): string {
  const schema = flatten(value, root, left)
  if ('const' in schema) return writeJson(schema.const)
  if (Array.isArray(schema.enum)) return joinTypes(schema.enum.map(writeJson), MOST_VALUES)
  const branches = listBranches(schema)
  if (branches.length > 0 && left > 0) {
    const types = branches
      .slice(0, MOST_VALUES * 2)
      .map((branch) => describeType(branch, depth, root, left - 1))
    return joinTypes([...new Set(types)], MOST_BRANCHES)
  }
  if (schema.type === 'array') {
    const item = describeType(schema.items, depth, root, left)
    return item.includes(' | ') ? `(${item})[]` : `${item}[]`
  }
  const isObject = schema.type === 'object' || (schema.type === undefined && schema.properties !== undefined)
  if (isObject && depth > 0 && schema.properties !== undefined) {
    const inner = listMembers(schema, MOST_NESTED, (each) => describeType(each, depth - 1, root, left))
    return `{ ${inner.join(', ')} }`
  }
  if (isObject) return 'object'
  if (typeof schema.type === 'string') return plain(schema.type)
  if (Array.isArray(schema.type)) return schema.type.map((type) => plain(String(type))).join(' | ')
  return 'any'
}

/** Finds the target of a local reference such as `#/$defs/name`. */
function resolveReference(reference: string, root: Schema): unknown {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let found: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    const holder = asRecord(found)
    found = Object.hasOwn(holder, key) ? holder[key] : undefined
  }
  return found
}

/** Writes short, plain defaults only. */
function writeDefault(value: unknown): string {
  const { default: given } = asRecord(value)
  const isPlain = ['string', 'number', 'boolean'].includes(typeof given)
  return isPlain && String(given).length <= 40 ? ` = ${writeJson(given)}` : ''
}

function joinTypes(options: readonly string[], most: number): string {
  const shown = options.slice(0, most).join(' | ')
  return options.length > most ? `${shown} | … ${options.length - most} more` : shown
}

function writeJson(value: unknown): string {
  return plain(JSON.stringify(value) ?? 'null')
}

function plain(text: string): string {
  return firstLine(text, 60).replace(/[<>]/g, '')
}

type Schema = Record<string, unknown>

function asRecord(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {}
}
