/** The structure of JSON Schema: legal values of keywords, nested schemas, and references. */

import { isRecord } from '../base/data.js'

export type Json = { readonly [keyword: string]: unknown }

/** The legal values of a keyword of JSON Schema 2020-12. Providers refuse the whole request for an illegal value. */
interface KeywordRule {
  /** The place of schemas in the value; absent if the value is data. */
  readonly inside?: 'schema' | 'schemas' | 'map' | 'dependencies'
  /** True if the value has the right form. Schemas inside are checked separately. */
  fits(value: unknown): boolean
  /** Completes "has to be …", for a person. */
  readonly form: string
}

const TYPES: readonly unknown[] = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']

const rule = (form: string, fits: KeywordRule['fits'], inside?: KeywordRule['inside']): KeywordRule => ({
  form,
  fits,
  ...(inside ? { inside } : {}),
})

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

const schema = rule('a schema', isSchema, 'schema')
const schemas = rule('a list of schemas', (value) => Array.isArray(value) && value.length > 0, 'schemas')
const schemaMap = rule('an object of schemas', isRecord, 'map')
const text = rule('a string', (value) => typeof value === 'string')
const flag = rule('true or false', (value) => typeof value === 'boolean')
const number = rule('a number', isNumber)
const count = rule(
  'a whole number of at least 0',
  (value) => Number.isInteger(value) && (value as number) >= 0,
)
const anchor = rule('a name', (value) => typeof value === 'string' && /^[A-Za-z_][\w.-]*$/.test(value))

const RULES: Readonly<Record<string, KeywordRule>> = {
  $schema: text,
  $id: rule('an address without a fragment', (value) => typeof value === 'string' && !/#./s.test(value)),
  $ref: text,
  $dynamicRef: text,
  $recursiveRef: text,
  $anchor: anchor,
  $dynamicAnchor: anchor,
  $comment: text,
  $vocabulary: rule(
    'an object of true and false',
    (value) => isRecord(value) && Object.values(value).every((each) => typeof each === 'boolean'),
  ),
  $defs: schemaMap,
  definitions: schemaMap,
  type: rule('one of the seven types of JSON, or a list of them', isType),
  const: rule('anything', () => true),
  enum: rule(
    'a list of different values',
    (value) => Array.isArray(value) && value.length > 0 && areUnique(value),
  ),
  default: rule('anything', () => true),
  examples: rule('a list', Array.isArray),
  title: text,
  description: text,
  format: text,
  contentEncoding: text,
  contentMediaType: text,
  contentSchema: schema,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
  multipleOf: rule('a number above 0', (value) => isNumber(value) && value > 0),
  maximum: number,
  minimum: number,
  exclusiveMaximum: number,
  exclusiveMinimum: number,
  maxLength: count,
  minLength: count,
  pattern: rule('a regular expression', (value) => typeof value === 'string' && isPattern(value)),
  maxItems: count,
  minItems: count,
  maxContains: count,
  minContains: count,
  uniqueItems: flag,
  maxProperties: count,
  minProperties: count,
  required: rule('a list of different names', isNames),
  dependentRequired: rule(
    'an object of lists of names',
    (value) => isRecord(value) && Object.values(value).every(isNames),
  ),
  dependencies: rule('an object of schemas or lists of names', isRecord, 'dependencies'),
  properties: schemaMap,
  patternProperties: rule(
    'an object of schemas by regular expression',
    (value) => isRecord(value) && Object.keys(value).every(isPattern),
    'map',
  ),
  dependentSchemas: schemaMap,
  additionalProperties: schema,
  unevaluatedProperties: schema,
  propertyNames: schema,
  items: schema,
  prefixItems: schemas,
  additionalItems: schema,
  unevaluatedItems: schema,
  contains: schema,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  not: schema,
  if: schema,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: schema,
  else: schema,
}

/** Other keywords may have any value. */
export const KEYWORDS: ReadonlyMap<string, KeywordRule> = new Map(Object.entries(RULES))

export function isSchema(value: unknown): value is Json | boolean {
  return isRecord(value) || typeof value === 'boolean'
}

export function isNames(value: unknown): value is readonly string[] {
  if (!Array.isArray(value)) return false
  for (const name of value) if (typeof name !== 'string') return false
  return value.length < 2 || new Set(value).size === value.length
}

function isType(value: unknown): boolean {
  if (!Array.isArray(value)) return TYPES.includes(value)
  return value.length > 0 && value.every((type) => TYPES.includes(type)) && areUnique(value)
}

/** Covers most patterns, which then need not be compiled. */
const SIMPLE_PATTERN = /^\^?[\w @:/.,=#%&;~-]*\$?$/

export function isPattern(text: string): boolean {
  if (SIMPLE_PATTERN.test(text)) return true
  return isExpression(text, 'u') || isExpression(text, '')
}

function isExpression(text: string, flags: string): boolean {
  try {
    return new RegExp(text, flags) !== undefined
  } catch {
    return false
  }
}

function areUnique(values: readonly unknown[]): boolean {
  return values.length < 2 || new Set(values.map(valueKey)).size === values.length
}

/** A key that is equal for equal JSON values. */
export function valueKey(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  // The prefix keeps it different from values that are strings.
  return `\u0000${JSON.stringify(value, (_, each) => (isRecord(each) ? sortKeys(each) : each))}`
}

function sortKeys(object: Json): Json {
  return Object.fromEntries(Object.entries(object).sort(([one], [other]) => (one < other ? -1 : 1)))
}

export const REFERENCES: ReadonlySet<string> = new Set(['$ref', '$dynamicRef', '$recursiveRef'])
export const ANCHORS: ReadonlySet<string> = new Set(['$anchor', '$dynamicAnchor'])

/** The references of one schema. Nothing is fetched, and data is never treated as a schema. */
export interface References {
  /** The problem of a reference in `schema`: its target does not exist, or it leads back to itself. */
  problem(schema: Json, keyword: string, reference: string): 'nowhere' | 'circle' | undefined
  /** The target of a reference, if it exists. */
  target(reference: string): Json | boolean | undefined
  /** True for the first anchor of this name. */
  claim(anchor: string): boolean
}

/**
 * Providers treat a schema as one document: references to a nested `$id` do not resolve, and anchors must be unique even
 * under different `$id`s.
 */
export function collectReferences(root: Json): References {
  let claimed: Set<string> | undefined
  let anchors: Map<string, Json> | undefined
  /** By schema: true if its `$ref` leads back to it. */
  let circles: Map<Json, boolean> | undefined

  const target = (reference: string): Json | boolean | undefined => {
    const base = typeof root.$id === 'string' ? root.$id.replace(/#$/, '') : ''
    const own = reference.startsWith(base) ? reference.slice(base.length) : reference
    if (own === '' || own === '#') return root
    if (own.startsWith('#/')) return followPointer(root, own.slice(2))
    if (!own.startsWith('#')) return undefined
    anchors ??= collectAnchors(root, new Map())
    return anchors.get(own.slice(1))
  }

  /** Follows each schema once. */
  const isCircle = (start: Json): boolean => {
    circles ??= new Map()
    const trail = new Set<Json>()
    let place: unknown = start
    while (isRecord(place) && !circles.has(place) && !trail.has(place)) {
      trail.add(place)
      place = typeof place.$ref === 'string' ? target(place.$ref) : undefined
    }
    let isBack = false
    for (const each of trail) {
      isBack ||= each === place
      circles.set(each, isBack)
    }
    return circles.get(start) === true
  }

  return {
    target,
    problem: (schema, keyword, reference) => {
      if (target(reference) === undefined) return 'nowhere'
      return keyword === '$ref' && isCircle(schema) ? 'circle' : undefined
    },
    claim: (anchor) => {
      claimed ??= new Set()
      return claimed.size < claimed.add(anchor).size
    },
  }
}

/** Finds the schema at a JSON pointer, if every step leads to a schema. */
function followPointer(root: Json, pointer: string): Json | boolean | undefined {
  let place: unknown = root
  /** The place contains schemas but is not a schema itself. */
  let isHolder = false
  for (const step of pointer.split('/')) {
    const key = decodeStep(step)
    if (key === undefined || typeof place !== 'object' || place === null || !Object.hasOwn(place, key))
      return undefined
    const value: unknown = (place as Json)[key]
    const inside: KeywordRule['inside'] = isHolder ? 'schema' : KEYWORDS.get(key)?.inside
    if (inside === undefined) return undefined
    // `items` of older drafts may be a list.
    isHolder = inside !== 'schema' || (!isHolder && Array.isArray(value))
    place = value
  }
  return !isHolder && isSchema(place) ? place : undefined
}

function decodeStep(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

/** Collects the first schema of each anchor. */
function collectAnchors(schema: unknown, found: Map<string, Json>): Map<string, Json> {
  if (!isRecord(schema)) return found
  for (const [keyword, value] of Object.entries(schema)) {
    if (ANCHORS.has(keyword) && typeof value === 'string' && !found.has(value)) found.set(value, schema)
    const inside = KEYWORDS.get(keyword)?.inside
    if (inside === undefined || typeof value !== 'object' || value === null) continue
    if (inside === 'schema' && !Array.isArray(value)) collectAnchors(value, found)
    else for (const each of Object.values(value)) collectAnchors(each, found)
  }
  return found
}
