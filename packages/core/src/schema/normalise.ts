/**
 * Normalises schemas for providers, which refuse a whole request for one illegal keyword. Legal parts stay. Illegal parts move
 * into the description, and never make the schema stricter.
 */

import { isRecord } from '../base/data.js'
import { truncateText } from '../base/text.js'
import {
  ANCHORS,
  collectReferences,
  isNames,
  isPattern,
  isSchema,
  type Json,
  KEYWORDS,
  REFERENCES,
  type References,
  valueKey,
} from './json-schema.js'

export interface SchemaProblem {
  /** The place in the schema: `properties.path.pattern`. */
  readonly path: string
  /** Completes a sentence: `has to be a regular expression, not "["`. */
  readonly problem: string
}

/** Returns the same object if nothing is wrong, as with most schemas. */
export function normaliseSchema(schema: Json): Json {
  return isNormal(schema) ? schema : repairFully(schema).schema
}

/** Lists what `normaliseSchema` would change. */
export function findSchemaProblems(schema: Json): readonly SchemaProblem[] {
  return isNormal(schema) ? [] : repairFully(schema).problems
}

/** Fast, because opening a conversation checks every schema. */
function isNormal(schema: Json): boolean {
  return isNormalWithin(schema, collectReferences(schema))
}

function isNormalWithin(schema: Json | boolean, references: References): boolean {
  if (typeof schema === 'boolean') return true
  for (const keyword in schema) {
    const value = schema[keyword]
    const rule = KEYWORDS.get(keyword)
    if (rule === undefined || value === undefined) continue
    if (!rule.fits(value)) return false
    if (rule.inside === undefined) {
      if (!keyword.startsWith('$')) continue
      if (REFERENCES.has(keyword) && references.problem(schema, keyword, value as string)) return false
      if (ANCHORS.has(keyword) && !references.claim(value as string)) return false
      continue
    }
    if (rule.inside === 'schema') {
      if (!isNormalWithin(value as Json, references)) return false
    } else if (rule.inside === 'schemas') {
      for (const each of value as unknown[])
        if (!isSchema(each) || !isNormalWithin(each, references)) return false
    } else
      for (const name in value as Json) {
        const each = (value as Json)[name]
        if (rule.inside === 'dependencies' && isNames(each)) continue
        if (!isSchema(each) || !isNormalWithin(each, references)) return false
      }
  }
  return true
}

/** Keywords under which a looser schema makes the whole stricter. */
const INVERTING = new Set(['not', 'if', 'oneOf', 'contains'])
/** Removing a part can break references to it, which takes another round. */
const MOST_ROUNDS = 5

function repairFully(given: Json): { readonly schema: Json; readonly problems: readonly SchemaProblem[] } {
  const problems: SchemaProblem[] = []
  let schema = given
  for (let round = 0; round < MOST_ROUNDS && !isNormal(schema); round++) {
    const first = repairOnce(schema, round > 0)
    // The targets of references may be looser now.
    const made = first.isLoss ? repairOnce(schema, true) : first
    schema = made.schema
    problems.push(...made.problems)
  }
  if (!isNormal(schema)) schema = { type: 'object' }
  const { $schema, ...rest } = schema
  // In draft 4, some keywords mean something else.
  const isOld = typeof $schema === 'string' && $schema.includes('draft-04')
  return { schema: isOld ? rest : schema, problems }
}

interface Repaired {
  readonly schema: Json
  readonly problems: readonly SchemaProblem[]
  /** A rule was removed. */
  readonly isLoss: boolean
}

/** `isDoubtful`: the targets of references may have become looser. */
function repairOnce(root: Json, isDoubtful: boolean): Repaired {
  const references = collectReferences(root)
  const problems: SchemaProblem[] = []
  let losses = 0

  const repairSchema = (given: Json, path: string): Json => {
    const before = losses
    const lost = new Map<string, unknown>()
    const kept = new Map<string, unknown>()
    const lose = (keyword: string, value: unknown) => {
      if (!keyword.startsWith('$') || REFERENCES.has(keyword)) lost.set(keyword, value)
      if (!REMARKS.test(keyword)) losses++
    }
    const report = (keyword: string, problem: string) =>
      problems.push({ path: joinPath(path, keyword), problem })
    for (const [keyword, value] of Object.entries(translateOldDrafts(given, report))) {
      const made = value === undefined ? value : repairKeyword(keyword, value, joinPath(path, keyword), given)
      if (made !== GONE) kept.set(keyword, made)
      // Some libraries write null for an absent keyword: drop it silently.
      else if (value !== null) lose(keyword, value)
      else if (!REMARKS.test(keyword)) losses++
      if (keyword === 'patternProperties' && isRecord(value) && isRecord(made)) {
        const gone = Object.entries(value).filter(([name]) => !Object.hasOwn(made, name))
        if (gone.length > 0) lose(keyword, Object.fromEntries(gone))
      }
    }
    for (const keyword of listStricterKeywords(lost, losses > before))
      if (kept.has(keyword) && kept.get(keyword) !== true) {
        lose(keyword, given[keyword])
        kept.delete(keyword)
      }
    const words = describeLost(kept.get('description'), lost)
    if (words !== undefined) kept.set('description', words)
    return Object.fromEntries(kept)
  }

  /** Returns the repaired value, or `GONE`. */
  const repairKeyword = (keyword: string, value: unknown, path: string, schema: Json): unknown => {
    const rule = KEYWORDS.get(keyword)
    if (rule === undefined) return value
    const before = losses
    const made = fitForm(keyword, value)
    if (made === GONE || !Object.is(made, value))
      problems.push({ path, problem: `has to be ${rule.form}, not ${showValue(value)}` })
    if (made === GONE) return GONE
    // Repairs of `type` (capitals) and `enum` (duplicates) keep the meaning; other repairs lose something.
    if (!Object.is(made, value) && keyword !== 'type' && keyword !== 'enum') losses++
    if (REFERENCES.has(keyword)) return repairReference(schema, keyword, made as string, path)
    if (ANCHORS.has(keyword) && !references.claim(made as string)) {
      problems.push({ path, problem: `is a duplicate: ${showValue(made)} is the anchor of another schema` })
      return GONE
    }
    if (rule.inside === undefined) return made
    const whole = repairInside(rule.inside, made, path)
    const isLooser = losses > before || (isDoubtful && ANY_REFERENCE.test(JSON.stringify(made)))
    if (!INVERTING.has(keyword) || !isLooser) return whole
    // The description has the whole keyword.
    losses = before
    return GONE
  }

  const repairInside = (inside: string, value: unknown, path: string): unknown => {
    const each = (item: unknown, place: string): unknown => {
      if (inside === 'dependencies' && Array.isArray(item)) {
        if (!isNames(item)) {
          losses++
          problems.push({
            path: place,
            problem: `has to be a list of different names, not ${showValue(item)}`,
          })
        }
        return uniqueNames(item)
      }
      if (typeof item === 'boolean') return item
      if (isRecord(item)) return repairSchema(item, place)
      problems.push({ path: place, problem: `has to be a schema, not ${showValue(item)}` })
      if (item !== null) losses++
      return typeof item === 'string' && item !== '' ? { description: item } : {}
    }
    if (inside === 'schema') return each(value, path)
    if (inside === 'schemas')
      return (value as unknown[]).map((item, index) => each(item, `${path}[${index}]`))
    return mapEntries(value as Json, (item, name) => each(item, joinPath(path, name)))
  }

  const repairReference = (schema: Json, keyword: string, value: string, path: string): unknown => {
    const problem = references.problem(schema, keyword, value)
    if (problem === undefined) return value
    const moved = value.replace(/\/items\/(?=\d)/g, '/prefixItems/')
    if (moved !== value && references.problem({ $ref: moved }, keyword, moved) === undefined) return moved
    const words =
      problem === 'circle'
        ? `leads only to itself: following ${showValue(value)} comes back to it`
        : `leads nowhere: there is no ${showValue(value)} in the schema`
    problems.push({ path, problem: words })
    return GONE
  }

  return { schema: repairSchema(root, ''), problems, isLoss: losses > 0 }
}

const GONE = Symbol('gone')

const ANY_REFERENCE = /"\$(?:ref|dynamicRef|recursiveRef)"/

/** Keywords that do not restrict values. */
const REMARKS =
  /^(?:\$(?!ref$|dynamicRef$|recursiveRef$).*|title|description|format|examples|content\w+|deprecated|readOnly|writeOnly)$/

/** Lists keywords that became stricter because others were removed. */
function listStricterKeywords(lost: ReadonlyMap<string, unknown>, isLooser: boolean): string[] {
  return [
    ...(isLooser ? ['unevaluatedProperties', 'unevaluatedItems'] : []),
    ...(lost.has('properties') || lost.has('patternProperties') ? ['additionalProperties'] : []),
    ...(lost.has('prefixItems') ? ['items'] : []),
    ...(lost.has('if') ? ['then', 'else'] : []),
  ]
}

/** Converts a value to the form that its keyword requires, if possible. */
function fitForm(keyword: string, value: unknown): unknown {
  const fits = (made: unknown) => KEYWORDS.get(keyword)?.fits(made) === true
  if (fits(value)) return value
  const made = convertForm(keyword, value)
  return made !== undefined && fits(made) ? made : GONE
}

function convertForm(keyword: string, value: unknown): unknown {
  if (keyword === 'type') {
    const lower = (type: unknown) => (typeof type === 'string' ? type.toLowerCase() : type)
    return Array.isArray(value) ? [...new Set(value.map(lower))] : lower(value)
  }
  if (keyword === 'enum' && Array.isArray(value))
    return [...new Map(value.map((each) => [valueKey(each), each] as const)).values()]
  if (keyword === 'required' && Array.isArray(value)) return uniqueNames(value)
  if (keyword === 'dependentRequired' && isRecord(value))
    return mapEntries(value, (names) => (Array.isArray(names) ? uniqueNames(names) : []))
  if (keyword === 'patternProperties' && isRecord(value))
    return Object.fromEntries(Object.entries(value).filter(([name]) => isPattern(name)))
  return undefined
}

const uniqueNames = (list: readonly unknown[]) => [
  ...new Set(list.filter((name) => typeof name === 'string')),
]

/** Rewrites keywords of older drafts. */
function translateOldDrafts(given: Json, report: (keyword: string, problem: string) => void): Json {
  let made: Record<string, unknown> = { ...given }
  if (Array.isArray(given.items)) {
    report('items', 'is a list, which is called prefixItems since 2020-12')
    const { items, additionalItems, ...rest } = made
    made = {
      ...(given.items.length > 0 ? { prefixItems: items } : {}),
      ...rest,
      ...(additionalItems === undefined ? {} : { items: additionalItems }),
    }
  }
  for (const [exclusive, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const)
    if (typeof given[exclusive] === 'boolean') {
      report(exclusive, `has to be a number, not ${given[exclusive]}`)
      const { [exclusive]: isExclusive, [bound]: limit, ...rest } = made
      if (limit === undefined) made = rest
      else made = { ...rest, [isExclusive ? exclusive : bound]: limit }
    }
  return made
}

/** The most characters of lost rules in a description. */
const MOST_LOST_CHARACTERS = 1000

function describeLost(description: unknown, lost: ReadonlyMap<string, unknown>): string | undefined {
  // An empty list says nothing to a model.
  const rest = [...lost].filter(([, value]) => !Array.isArray(value) || value.length > 0)
  if (rest.length === 0) return undefined
  const whole = JSON.stringify(Object.fromEntries(rest))
  const words = whole.length <= MOST_LOST_CHARACTERS ? whole : rest.map(([keyword]) => keyword).join(', ')
  const own = typeof description === 'string' && description !== '' ? [description] : []
  return [...own, `Also given: ${truncateText(words, MOST_LOST_CHARACTERS)}`].join('\n\n')
}

function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= 80 ? text : `${truncateText(text, 79)}…`
}

function mapEntries(object: Json, change: (value: unknown, key: string) => unknown): Json {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}

function joinPath(path: string, key: string): string {
  if (!/^[A-Za-z_$][\w$-]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** Keywords whose value is data, even if it looks like a schema. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords with schemas by name. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/**
 * Adds `properties` to the top level and `items` to every array: some servers require them although JSON Schema does not.
 * Returns the same object if nothing is missing.
 */
export function completeSchema(schema: Json): Json {
  const whole = lacksItems(schema) ? (addItems(schema) as Json) : schema
  return isRecord(whole.properties) ? whole : { ...whole, properties: {} }
}

/** True if `addItems` would change something. Fast, because opening a conversation checks every schema. */
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

function addItems(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const inner = (item: unknown) => addItems(item)
  if (Array.isArray(value)) return mapItems(value, inner)
  const made = mapValues(value as Json, (keyword, item) => {
    if (DATA.has(keyword)) return item
    return MAPS.has(keyword) && isRecord(item) ? mapValues(item, (_, each) => inner(each)) : inner(item)
  })
  return isArrayType(made.type) && made.items === undefined ? { ...made, items: {} } : made
}

/** Returns the same object if nothing changes. */
function mapValues(object: Json, change: (key: string, value: unknown) => unknown): Json {
  const keys = Object.keys(object)
  let made: [string, unknown][] | undefined
  for (const [index, key] of keys.entries()) {
    const value = change(key, object[key])
    if (value !== object[key]) made ??= keys.slice(0, index).map((before) => [before, object[before]])
    made?.push([key, value])
  }
  return made ? Object.fromEntries(made) : object
}

function mapItems(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let made: unknown[] | undefined
  for (const [index, item] of list.entries()) {
    const value = change(item)
    if (value !== item) made ??= list.slice(0, index)
    made?.push(value)
  }
  return made ?? list
}

const TYPE_KEYWORDS = ['type', 'enum', 'anyOf', 'oneOf', 'allOf']
const fits = (keyword: string, value: unknown) => KEYWORDS.get(keyword)?.fits(value) === true

/**
 * Detects properties at the top level of a schema, without the object around them. Completes a sentence that starts with the
 * tool's name. Undefined if the top level has any keyword or extension (`x-…`).
 */
export function findBareProperties(schema: Json): string | undefined {
  const fields = Object.entries(schema)
  const isBare = fields.every(
    ([key, value]) =>
      isRecord(value) &&
      !key.startsWith('x-') &&
      !fits(key, value) &&
      TYPE_KEYWORDS.some((keyword) => fits(keyword, value[keyword])),
  )
  return isBare && fields[0]
    ? `has an inputSchema with its fields at the top level; give { "type": "object", "properties": { ${JSON.stringify(fields[0][0])}: … } }`
    : undefined
}
