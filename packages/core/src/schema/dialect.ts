/** Fits tool definitions to the rules of each wire: description length, keywords, parameter names. */

import { isRecord, toPlainJson } from '../base/data.js'
import { shortHash } from '../base/hash.js'
import { truncateText } from '../base/text.js'
import { type Dialect, getWireFacts } from '../base/wires.js'
import type { WireTool } from '../tool/wire-tool.js'
import type { Json } from './json-schema.js'
import { completeSchema, findSchemaProblems, normaliseSchema } from './normalise.js'

function findDialect(wire: string): Dialect {
  return getWireFacts(wire).dialect ?? {}
}

/** The longest description of the search tool on a wire. */
export function searchToolLimit(wire: string): number {
  const { description = Number.POSITIVE_INFINITY, searchTool = description } = findDialect(wire)
  return searchTool
}

/** The most tools in one request on a wire. */
export function toolLimit(wire: string): number {
  return findDialect(wire).tools ?? Number.POSITIVE_INFINITY
}

export interface Fitted {
  /** The definition to send. */
  readonly tool: WireTool
  /** The complete rules with the original parameter names, to check arguments. */
  readonly own: WireTool
  /** The complete rules with the parameter names that are sent, to report problems. */
  readonly checked: WireTool
  /** The parts of the schema that cannot be used, in words. */
  readonly unusable: string | undefined
  /** Renamed parameters: legal name to original name. */
  readonly keys: ReadonlyMap<string, string>
}

/** Returns the same description as `fitWire`, without reading the schema. */
export function fitDescription(description: string, wire: string): string {
  const plain = toPlainJson(description)
  const { description: limit = Number.POSITIVE_INFINITY } = findDialect(wire)
  return plain.length <= limit ? plain : takeBeginning(plain, limit) + CONTINUED
}

/** Fits a definition to a wire. Returns the same object if nothing changes. */
export function fitWire(tool: WireTool, wire: string): Fitted {
  const dialect = findDialect(wire)
  const plain = toPlainJson(tool)
  const inputSchema = normaliseSchema(plain.inputSchema)
  const given = inputSchema === plain.inputSchema ? plain : { ...plain, inputSchema }
  const { schema, keys } = dialect.keys
    ? renameIllegalKeys(given.inputSchema, dialect.keys)
    : { schema: given.inputSchema, keys: new Map<string, string>() }
  // References may contain names that have changed.
  const checked = schema === given.inputSchema ? given : { ...given, inputSchema: normaliseSchema(schema) }
  return {
    tool: relaxStrict(
      shortenDescription(moveTopRules(completeForWire(checked, dialect), dialect), dialect),
      dialect,
    ),
    own: given,
    checked,
    unusable: given === plain ? undefined : describeSchemaProblems(plain.inputSchema),
    keys,
  }
}

/** Describes the problems of a schema; empty if there are none. */
export function describeSchemaProblems(schema: WireTool['inputSchema']): string {
  const problems = findSchemaProblems(schema).map(({ path, problem }) => `${path} ${problem}`)
  const more = problems.length > 3 ? `; and ${problems.length - 3} more` : ''
  return problems.slice(0, 3).join('; ') + more
}

const NOT_IN_STRICT = ['oneOf', 'allOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas']

/**
 * True if OpenAI's strict mode takes the schema: closed objects with all properties required, at every depth. Source:
 * platform.openai.com/docs/guides/structured-outputs, "Supported schemas".
 */
export function isStrictSchema(schema: unknown, depth = 0): boolean {
  if (!isRecord(schema)) return true
  const { type, properties, required, additionalProperties, items, anyOf, $defs, definitions } = schema
  const names = isRecord(properties) ? Object.keys(properties) : []
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object')) || names.length > 0
  const isClosed =
    additionalProperties === false &&
    names.every((name) => Array.isArray(required) && required.includes(name))
  if ((isObject && !isClosed) || depth > MAX_DEPTH) return false
  if (NOT_IN_STRICT.some((keyword) => Object.hasOwn(schema, keyword))) return false
  const inner = [properties, $defs, definitions, anyOf].flatMap((each) => Object.values(each ?? {}))
  return [items, ...inner].every((each) => isStrictSchema(each, depth + 1))
}

/** A server would refuse every request with this tool. The arguments are checked before the call in any case. */
function relaxStrict(tool: WireTool, { strict }: Dialect): WireTool {
  return strict && tool.strict && !isStrictSchema(tool.inputSchema) ? { ...tool, strict: false } : tool
}

function completeForWire(tool: WireTool, { complete = false }: Dialect): WireTool {
  const inputSchema = complete ? completeSchema(tool.inputSchema) : tool.inputSchema
  return inputSchema === tool.inputSchema ? tool : { ...tool, inputSchema }
}

/** Useless to a model, about 15 tokens in every second definition, and refused by Google. */
const DIALECT = '$schema'

/** Moves keywords that are refused at the top level into the description of the schema. */
function moveTopRules(tool: WireTool, { notAtTop = [] }: Dialect): WireTool {
  const entries = Object.entries(tool.inputSchema)
  const moved = entries.filter(([keyword]) => notAtTop.includes(keyword))
  const kept = entries.filter(([keyword]) => !notAtTop.includes(keyword) && keyword !== DIALECT)
  if (kept.length === entries.length) return tool
  const schema = Object.fromEntries(kept)
  if (moved.length === 0) return { ...tool, inputSchema: schema }
  const own = schema.description
  const said = typeof own === 'string' && own !== '' ? [own] : []
  const rule = `The input also has to match ${JSON.stringify(Object.fromEntries(moved))}`
  // References may lead to keywords that are now text.
  return { ...tool, inputSchema: normaliseSchema({ ...schema, description: [...said, rule].join('\n\n') }) }
}

/** Moves the rest of a long description into the schema. */
function shortenDescription(
  tool: WireTool,
  { description: limit = Number.POSITIVE_INFINITY }: Dialect,
): WireTool {
  const { description: whole } = tool
  if (whole.length <= limit) return tool
  const start = takeBeginning(whole, limit)
  const rest = `… ${whole.slice(start.length).trimStart()}`
  const own = tool.inputSchema.description
  const description = typeof own === 'string' && own !== '' ? `${rest}\n\n${own}` : rest
  return { ...tool, description: start + CONTINUED, inputSchema: { ...tool.inputSchema, description } }
}

const CONTINUED = ' … (continued in the description of the parameters)'

/** Cuts at a space if possible, and leaves room for the note `CONTINUED`. */
function takeBeginning(description: string, limit: number): string {
  const start = truncateText(description, limit - CONTINUED.length)
  const blank = start.search(/\s\S*$/)
  return blank > start.length / 2 ? start.slice(0, blank) : start
}

/** Explains why a wire would refuse an original definition, for `toolwell doctor`. Sent definitions go through `fitWire` first. */
export function wireRefusal({ description, inputSchema }: WireTool, wire: string): string | undefined {
  const { description: longest, notAtTop = [], keys, complete } = findDialect(wire)
  const [problem] = findSchemaProblems(inputSchema)
  if (problem) return `${problem.path} ${problem.problem}`
  if (inputSchema.type !== 'object') return 'the schema does not describe an object'
  const atTop = notAtTop.filter((keyword) => Object.hasOwn(inputSchema, keyword))
  if (atTop.length > 0) return `${atTop.join(', ')} may not be at the top level of the schema`
  const names = Object.keys(inputSchema.properties ?? {})
  const illegal = keys && names.find((name) => !keys.test(name))
  if (illegal !== undefined)
    return `the parameter name ${JSON.stringify(illegal)} does not match ${keys?.source}`
  if (longest !== undefined && description.length > longest)
    return `the description has ${description.length} characters; ${longest} are allowed`
  if (complete && completeSchema(inputSchema) !== inputSchema)
    return 'an object has no "properties", or an array has no "items"'
  return undefined
}

interface RenamedSchema {
  readonly schema: Json
  /** Legal name to original name, for renamed properties. */
  readonly keys: ReadonlyMap<string, string>
}

/** Levels of nesting to read. */
const MAX_DEPTH = 50

/** Makes every property name legal, at every depth. Returns the same object if all are. */
function renameIllegalKeys(schema: Json, legal: RegExp): RenamedSchema {
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
