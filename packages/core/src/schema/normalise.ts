/**
 * Schemas as providers take them. Whoever lists a tool may write anything into its schema, and one keyword that holds what
 * it may not costs the whole request. What fits stays; what is not is told in words, and never makes a rule stricter.
 */

import { isRecord } from '../base/data.js'
import { truncateText } from '../base/text.js'
import { isNames, isPattern, isSchema, type Json, KEYWORDS, valueKey } from './dialect.js'
import { ANCHORS, collectReferences, REFERENCES, type References } from './references.js'

export interface SchemaProblem {
  /** Within the schema: `properties.path.pattern`. */
  readonly path: string
  /** What is wrong with it: `has to be a regular expression, not "["`. */
  readonly problem: string
}

/** The same object where nothing is wrong, as with most schemas. */
export function normaliseSchema(schema: Json): Json {
  return isNormal(schema) ? schema : repairFully(schema).schema
}

/** What `normaliseSchema` changes. */
export function findSchemaProblems(schema: Json): readonly SchemaProblem[] {
  return isNormal(schema) ? [] : repairFully(schema).problems
}

/** Opening a conversation looks through every schema there is. */
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

/** Under these a looser schema makes the whole stricter. */
const INVERTING = new Set(['not', 'if', 'oneOf', 'contains'])
/** Taking something out may leave references to it behind, which takes another round. */
const MOST_ROUNDS = 5

function repairFully(given: Json): { readonly schema: Json; readonly problems: readonly SchemaProblem[] } {
  const problems: SchemaProblem[] = []
  let schema = given
  for (let round = 0; round < MOST_ROUNDS && !isNormal(schema); round++) {
    const first = repairOnce(schema, round > 0)
    // What a reference leads to may be looser now.
    const made = first.isLoss ? repairOnce(schema, true) : first
    schema = made.schema
    problems.push(...made.problems)
  }
  if (!isNormal(schema)) schema = { type: 'object' }
  const { $schema, ...rest } = schema
  // In the oldest draft some keywords mean something else than what they hold now.
  const isOld = typeof $schema === 'string' && $schema.includes('draft-04')
  return { schema: isOld ? rest : schema, problems }
}

interface Repaired {
  readonly schema: Json
  readonly problems: readonly SchemaProblem[]
  /** Something was said that is no longer. */
  readonly isLoss: boolean
}

/** `isDoubtful`: references may lead to what is looser than it was. */
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
      // Some libraries write null where they have nothing to say: that is not told.
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

  /** As it may stand, or that it may not. */
  const repairKeyword = (keyword: string, value: unknown, path: string, schema: Json): unknown => {
    const rule = KEYWORDS.get(keyword)
    if (rule === undefined) return value
    const before = losses
    const made = fitForm(keyword, value)
    if (made === GONE || !Object.is(made, value))
      problems.push({ path, problem: `has to be ${rule.form}, not ${showValue(value)}` })
    if (made === GONE) return GONE
    // A type in capitals and a value that is there twice mean the same when repaired; a name that is none is gone.
    if (!Object.is(made, value) && keyword !== 'type' && keyword !== 'enum') losses++
    if (REFERENCES.has(keyword)) return repairReference(schema, keyword, made as string, path)
    if (ANCHORS.has(keyword) && !references.claim(made as string)) {
      problems.push({ path, problem: `is there twice: ${showValue(made)} is the anchor of another schema` })
      return GONE
    }
    if (rule.inside === undefined) return made
    const whole = repairInside(rule.inside, made, path)
    const isLooser = losses > before || (isDoubtful && ANY_REFERENCE.test(JSON.stringify(made)))
    if (!INVERTING.has(keyword) || !isLooser) return whole
    // The words say all of it.
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

/** Keywords that let nothing pass and refuse nothing. */
const REMARKS =
  /^(?:\$(?!ref$|dynamicRef$|recursiveRef$).*|title|description|format|examples|content\w+|deprecated|readOnly|writeOnly)$/

/** Keywords that would now refuse what those that are lost allowed. */
function listStricterKeywords(lost: ReadonlyMap<string, unknown>, isLooser: boolean): string[] {
  return [
    ...(isLooser ? ['unevaluatedProperties', 'unevaluatedItems'] : []),
    ...(lost.has('properties') || lost.has('patternProperties') ? ['additionalProperties'] : []),
    ...(lost.has('prefixItems') ? ['items'] : []),
    ...(lost.has('if') ? ['then', 'else'] : []),
  ]
}

/** A value in the form that its keyword wants, where it can be brought into it. */
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

/** What older drafts said in another way. */
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

/** Characters of what is told; more of it would not help. */
const MOST_LOST_CHARACTERS = 1000

function describeLost(description: unknown, lost: ReadonlyMap<string, unknown>): string | undefined {
  // An empty list has nothing in it that a model could mind.
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

// What some servers want to be said in a schema although JSON Schema lets it be left out.

/** Keywords whose value is data, whatever it looks like. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords that hold schemas by names of any kind. */
const MAPS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'])

/** The properties of the object itself, and the items of every array. The same object where nothing is missing. */
export function completeSchema(schema: Json): Json {
  const whole = lacksItems(schema) ? (addItems(schema) as Json) : schema
  return isRecord(whole.properties) ? whole : { ...whole, properties: {} }
}

/** Whether `withItems` would change anything. Opening a conversation looks through every schema there is, and most are whole. */
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

/** The same object where nothing changes. */
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

// Properties that stand at the top of a schema, without the object around them. Nobody would read them there.

const TYPE_KEYWORDS = ['type', 'enum', 'anyOf', 'oneOf', 'allOf']
const fits = (keyword: string, value: unknown) => KEYWORDS.get(keyword)?.fits(value) === true

/** As a sentence behind the tool's name; undefined where anything at the top is a keyword, or an addition of the owner's (`x-…`). */
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
    ? `has an inputSchema whose fields stand at its top; give { "type": "object", "properties": { ${JSON.stringify(fields[0][0])}: … } }`
    : undefined
}
