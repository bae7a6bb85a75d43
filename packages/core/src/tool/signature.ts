/** A schema as one readable line, good enough to call the tool from, for answers that do not show the schema itself. */
import { firstLine } from '../base/text.js'
import type { JsonSchema } from './tool.js'

const MOST_PARAMETERS = 30
const MOST_NESTED = 8
const MOST_VALUES = 6
const MOST_BRANCHES = 4
/** Below the parameters themselves. */
const LEVELS = 1
/** A `$ref`, an `anyOf` and an `allOf` in each other are followed so often: those of real servers, and not without end. */
const FOLLOWED = 3

/**
 * `create_issue(title: string, labels?: string[], state?: "open" | "closed" = "open")`. Bounded: at most 30 parameters, one level of
 * what is inside them; what a `$ref`, an `anyOf` or an `allOf` leads to counts as that level. Never throws.
 */
export function writeSignature(name: string, schema: JsonSchema): string {
  const root = asRecord(schema)
  const members = listMembers(resolveParameters(root), MOST_PARAMETERS, (value) =>
    describeType(value, LEVELS, root),
  )
  return `${name}(${members.join(', ')})`
}

/** The same at a glance, for who will read the schema before a call: what has to be given, and nothing of what is inside it. */
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

/** Each property with its mark, type and default; then how many more there are. */
function listMembers(schema: Schema, most: number, typed: (value: unknown) => string): string[] {
  const properties = asRecord(schema.properties)
  const required = new Set(listRequired(schema))
  const keys = Object.keys(properties)
  // What has to be given is never what is cut.
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

/** The parameters, where the schema says them elsewhere: in a `$ref`, or in branches, of which each may leave some out. */
function resolveParameters(root: Schema): Schema {
  const schema = flatten(root, root, FOLLOWED)
  const branches = listBranches(schema).map((branch) => flatten(branch, root, FOLLOWED - 1))
  if (branches.length === 0) return schema
  const [first = [], ...others] = branches.map(listRequired)
  const always = first.filter((name) => others.every((names) => names.includes(name)))
  const merged = branches.reduce(mergeSchemas, {})
  return { ...mergeSchemas(merged, schema), required: [...listRequired(schema), ...always] }
}

/** A schema with what it refers to, and all that it is made of. */
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

/** What `#/$defs/name` stands for; nothing where it points elsewhere. */
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

/** Only what fits on the line: a default of many lines says less than its absence. */
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
