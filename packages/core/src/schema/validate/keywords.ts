/** The check of each JSON Schema keyword. A keyword whose own value is malformed accepts everything. */

import { isRecord } from '../../base/data.js'
import { isNames, isSchema } from '../json-schema.js'
import { fitsFormat } from './formats.js'
import {
  countCharacters,
  createNumbering,
  getChild,
  isEqual,
  type Keyword,
  type KeywordContext,
  listKeys,
  type Run,
  spend,
  spendOnText,
  type Verdict,
} from './run.js'

const isNumber = (value: unknown): value is number => typeof value === 'number'

/** False if one item is false; unknown if one is unknown; otherwise true. */
function checkAll<Item>(
  items: Iterable<Item>,
  ask: (item: Item) => Verdict,
  { collects }: KeywordContext,
): Verdict {
  let verdict: Verdict = true
  for (const item of items) {
    const each = ask(item)
    if (each === false && !collects) return false
    if (each === false) verdict = false
    else if (each === undefined && verdict) verdict = undefined
  }
  return verdict
}

const number =
  (fits: (value: number, bound: number) => boolean, words: string): Keyword =>
  (at, bound: unknown) =>
    !isNumber(bound) ||
    !isNumber(at.place.value) ||
    fits(at.place.value, bound) ||
    at.fail(() => `Must be ${words} ${bound}.`)

const size =
  (
    sizeOf: (value: unknown, run: Run, bound: number) => number | undefined,
    isLeast: boolean,
    words: string,
  ): Keyword =>
  (at, bound: unknown) => {
    if (!isNumber(bound)) return true
    const found = sizeOf(at.place.value, at.run, bound)
    if (found === undefined || (isLeast ? found >= bound : found <= bound)) return true
    return at.fail(() => `Must have ${isLeast ? 'at least' : 'at most'} ${bound} ${words}.`)
  }

const countItems = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const countProperties = (value: unknown, run: Run) => {
  if (!isRecord(value)) return undefined
  const { length } = Object.keys(value)
  spend(run, length / 4)
  return length
}

function describeType(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isOfType(value: unknown, type: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : describeType(value) === type
}

const type: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  const types = Array.isArray(asked) ? asked : [asked]
  if (types.some((each) => isOfType(value, each))) return true
  return at.fail(() => `Must be ${types.join(' or ')}, not ${describeType(value)}.`)
}

const constant: Keyword = (at, asked: unknown) =>
  isEqual(at.run, at.place.value, asked) || at.fail(() => `Must be ${JSON.stringify(asked)}.`)

const enumeration: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  if (!Array.isArray(asked)) return true
  spend(run, asked.length / 16)
  const isPlain = typeof place.value !== 'object' || place.value === null
  const isOne = isPlain
    ? asked.includes(place.value)
    : asked.some((each) => typeof each === 'object' && each !== null && isEqual(run, each, place.value))
  return isOne || at.fail(() => `Must be one of ${JSON.stringify(asked)}.`)
}

/** Tolerates rounding errors of decimal fractions. */
function isMultiple(value: number, of: number): boolean {
  if (of <= 0 || value % of === 0) return true
  const times = value / of
  return Number.isFinite(times) && Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.abs(times) * 4
}

/** Unknown if the pattern is too slow to try. */
function matchPattern({ run }: KeywordContext, pattern: string, text: string): Verdict {
  const tried = run.getPattern(pattern, text)
  if (!tried) return undefined
  spendOnText(run, tried.characters)
  return tried.expression.test(text)
}

const pattern: Keyword = (at, asked: unknown) => {
  if (typeof at.place.value !== 'string' || typeof asked !== 'string') return true
  const verdict = matchPattern(at, asked, at.place.value)
  return verdict === false ? at.fail(() => `Must match the pattern ${asked}.`) : verdict
}

const format: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  if (typeof place.value !== 'string' || typeof asked !== 'string') return true
  spendOnText(run, place.value.length * 4)
  return fitsFormat(asked, place.value) || at.fail(() => `Must be in the format ${asked}.`)
}

const uniqueItems: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  if (asked !== true || !Array.isArray(place.value)) return true
  run.getNumber ??= createNumbering(run)
  return (
    new Set(place.value.map(run.getNumber)).size === place.value.length ||
    at.fail(() => 'Items must be different.')
  )
}

/** In older drafts, `exclusiveMinimum` and `exclusiveMaximum` are flags. */
const minimum: Keyword = (at, bound: unknown) =>
  number(
    (value, least) => (at.schema.exclusiveMinimum === true ? value > least : value >= least),
    'at least',
  )(at, bound as never)
const maximum: Keyword = (at, bound: unknown) =>
  number((value, most) => (at.schema.exclusiveMaximum === true ? value < most : value <= most), 'at most')(
    at,
    bound as never,
  )

const moreThan = number((value, least) => value > least, 'more than')
const lessThan = number((value, most) => value < most, 'less than')
const multipleOf = number(isMultiple, 'a multiple of')
const minLength = size(countCharacters, true, 'characters')
const maxLength = size(countCharacters, false, 'characters')
const minItems = size(countItems, true, 'items')
const maxItems = size(countItems, false, 'items')
const minProperties = size(countProperties, true, 'properties')
const maxProperties = size(countProperties, false, 'properties')

// Keywords for lists.

/** `prefixItems`, or `items` of older drafts. */
function getPrefixItems({ schema }: KeywordContext): readonly unknown[] {
  if (Array.isArray(schema.prefixItems)) return schema.prefixItems
  return Array.isArray(schema.items) ? schema.items : []
}

function checkItems(
  at: KeywordContext,
  from: number,
  schemaOf: (index: number) => unknown,
  to?: number,
): Verdict {
  const { place, seen } = at
  if (!Array.isArray(place.value)) return true
  const end = Math.min(place.value.length, to ?? place.value.length)
  const verdict = checkAll(range(from, end), (index) => at.ask(schemaOf(index), getChild(place, index)), at)
  if (seen && verdict !== false && seen.items !== 'all')
    for (const index of range(from, end)) seen.items.add(index)
  return verdict
}

function* range(from: number, end: number): Generator<number> {
  for (let index = from; index < end; index++) yield index
}

const prefixItems: Keyword = (at) => {
  const list = getPrefixItems(at)
  return checkItems(at, 0, (index) => list[index], list.length)
}

const items: Keyword = (at, asked: unknown) => {
  if (Array.isArray(asked))
    return Array.isArray(at.schema.prefixItems) ? true : prefixItems(at, asked as never)
  return isSchema(asked) ? checkItems(at, getPrefixItems(at).length, () => asked) : true
}

const additionalItems: Keyword = (at, asked: unknown) =>
  Array.isArray(at.schema.items) && isSchema(asked)
    ? checkItems(at, at.schema.items.length, () => asked)
    : true

const unevaluatedItems: Keyword = (at, asked: unknown) => {
  const { place, seen } = at
  if (!Array.isArray(place.value) || !seen || seen.items === 'all' || !isSchema(asked)) return true
  spend(at.run, place.value.length / 8)
  const left = [...range(0, place.value.length)].filter(
    (index) => seen.items !== 'all' && !seen.items.has(index),
  )
  const verdict = checkAll(left, (index) => at.ask(asked, getChild(place, index)), at)
  if (verdict !== false) seen.items = 'all'
  return verdict
}

const contains: Keyword = (at, asked: unknown) => {
  const { place, seen, schema } = at
  if (!Array.isArray(place.value) || !isSchema(asked)) return true
  const least = isNumber(schema.minContains) ? schema.minContains : 1
  const most = isNumber(schema.maxContains) ? schema.maxContains : Number.POSITIVE_INFINITY
  let [surely, perhaps] = [0, 0]
  for (const index of range(0, place.value.length)) {
    const verdict = at.ask(asked, getChild(place, index), true)
    if (verdict === true) surely++
    if (verdict === undefined) perhaps++
    if (verdict !== false && seen && seen.items !== 'all') seen.items.add(index)
  }
  if (surely + perhaps < least)
    return at.fail(() => `Must hold at least ${least} items of the kind asked for.`)
  if (surely > most) return at.fail(() => `Must hold at most ${most} items of the kind asked for.`)
  return (surely >= least && surely + perhaps <= most) || undefined
}

// Keywords for objects.

function markSeen({ seen }: KeywordContext, key: string): void {
  if (seen && seen.properties !== 'all') seen.properties.add(key)
}

const properties: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  if (!isRecord(place.value) || !isRecord(asked)) return true
  const keys = listKeys(place)
  spend(run, keys.length / 2)
  return checkAll(
    keys.filter((key) => Object.hasOwn(asked, key)),
    (key) => {
      markSeen(at, key)
      return at.ask(asked[key], getChild(place, key))
    },
    at,
  )
}

const patternProperties: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  if (!isRecord(value) || !isRecord(asked)) return true
  const keys = listKeys(at.place)
  return checkAll(
    Object.entries(asked),
    ([pattern, schema]) =>
      checkAll(
        keys,
        (key) => {
          const verdict = matchPattern(at, pattern, key)
          if (verdict === false) return true
          markSeen(at, key)
          const fits = at.ask(schema, getChild(at.place, key), verdict === undefined)
          return verdict === undefined && fits === false ? undefined : fits
        },
        at,
      ),
    at,
  )
}

/** Unknown if a pattern that is too slow to try could match the key. */
function isAdditional(at: KeywordContext, key: string): Verdict {
  const { properties: named, patternProperties: patterned } = at.schema
  if (isRecord(named) && Object.hasOwn(named, key)) return false
  if (!isRecord(patterned)) return true
  let verdict: Verdict = true
  for (const pattern of Object.keys(patterned)) {
    const matched = matchPattern(at, pattern, key)
    if (matched) return false
    if (matched === undefined) verdict = undefined
  }
  return verdict
}

function checkRest(
  at: KeywordContext,
  keys: readonly string[],
  isRest: (key: string) => Verdict,
  asked: unknown,
): Verdict {
  return checkAll(
    keys,
    (key) => {
      const rest = isRest(key)
      if (rest === false) return true
      markSeen(at, key)
      const verdict = at.ask(asked, getChild(at.place, key), rest === undefined)
      return rest === undefined && verdict === false ? undefined : verdict
    },
    at,
  )
}

const additionalProperties: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  if (!isRecord(value) || !isSchema(asked)) return true
  const keys = listKeys(at.place)
  spend(at.run, keys.length / 2)
  return checkRest(at, keys, (key) => isAdditional(at, key), asked)
}

const unevaluatedProperties: Keyword = (at, asked: unknown) => {
  const { place, seen } = at
  if (!isRecord(place.value) || !seen || seen.properties === 'all' || !isSchema(asked)) return true
  const looked = seen.properties
  const present = listKeys(place)
  spend(at.run, present.length / 2)
  const keys = present.filter((key) => !looked.has(key))
  return checkRest(at, keys, () => true, asked)
}

const propertyNames: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  if (!isRecord(value) || !isSchema(asked)) return true
  const within = at.place
  return checkAll(listKeys(within), (key) => at.ask(asked, { value: key, within, key }), at)
}

const required: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  const { value } = place
  if (!isRecord(value) || !isNames(asked)) return true
  spend(run, asked.length / 8)
  const missing = asked.filter((name) => !Object.hasOwn(value, name))
  for (const name of missing) at.fail(() => `The required property ${JSON.stringify(name)} is missing.`)
  return missing.length === 0
}

/** The value is a list of names or a schema; `dependencies` of older drafts allows both. */
const dependent: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  if (!isRecord(value) || !isRecord(asked)) return true
  const present = Object.keys(asked).filter((key) => Object.hasOwn(value, key))
  spend(at.run, Object.keys(asked).length / 8)
  return checkAll(
    present,
    (key) => (isNames(asked[key]) ? required(at, asked[key] as never) : at.join(asked[key])),
    at,
  )
}

// Keywords that apply other schemas to the same place.

export const NO_ALTERNATIVE = 'Must fit one of the alternatives.'

const allOf: Keyword = (at, asked: unknown) =>
  Array.isArray(asked) ? checkAll(asked, (each) => at.join(each), at) : true

/** Stops at the first match, unless evaluated properties are tracked. */
const anyOf: Keyword = (at, asked: unknown) => {
  if (!Array.isArray(asked)) return true
  let verdict: Verdict = false
  for (const each of asked) {
    const fits = at.join(each, true)
    if (fits === true) verdict = true
    else if (fits === undefined && verdict === false) verdict = undefined
    if (verdict === true && !at.seen) return true
  }
  if (verdict === false && at.collects) for (const each of asked) at.join(each)
  return verdict === false ? at.fail(() => NO_ALTERNATIVE) : verdict
}

const oneOf: Keyword = (at, asked: unknown) => {
  if (!Array.isArray(asked)) return true
  let [surely, perhaps] = [0, 0]
  for (const each of asked) {
    const fits = at.join(each, true)
    if (fits === true) surely++
    if (fits === undefined) perhaps++
    if (surely > 1) return at.fail(() => 'Must fit only one of the alternatives, and fits several.')
  }
  if (surely + perhaps === 0 && at.collects) for (const each of asked) at.join(each)
  if (surely + perhaps === 0) return at.fail(() => NO_ALTERNATIVE)
  return perhaps === 0 || undefined
}

const not: Keyword = (at, asked: unknown) => {
  const fits = at.ask(asked, at.place, true)
  if (fits === undefined) return undefined
  return !fits || at.fail(() => 'Must not be what the schema excludes.')
}

const condition: Keyword = (at, asked: unknown) => {
  const met = at.join(asked, true)
  // If the condition is unknown, fail only if neither branch fits.
  if (met === undefined) {
    const either = [at.schema.then ?? true, at.schema.else ?? true].map((each) => at.join(each, true))
    return either.includes(true) || either.includes(undefined)
      ? undefined
      : at.fail(() => 'Must fit then or else.')
  }
  const next = met ? at.schema.then : at.schema.else
  return next === undefined ? true : at.join(next)
}

const reference: Keyword = (at, asked: unknown) => (typeof asked === 'string' ? at.follow(asked) : true)

/** In the order of the checks: cheap ones first, and `unevaluated…` last, which needs the results of the others. */
export const KEYWORD_CHECKS: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ['type', type],
  ['const', constant],
  ['enum', enumeration],
  ['minimum', minimum],
  ['maximum', maximum],
  ['exclusiveMinimum', moreThan],
  ['exclusiveMaximum', lessThan],
  ['multipleOf', multipleOf],
  ['minLength', minLength],
  ['maxLength', maxLength],
  ['minItems', minItems],
  ['maxItems', maxItems],
  ['minProperties', minProperties],
  ['maxProperties', maxProperties],
  ['required', required],
  ['dependentRequired', dependent],
  ['pattern', pattern],
  ['format', format],
  ['uniqueItems', uniqueItems],
  ['$ref', reference],
  ['$dynamicRef', reference],
  ['$recursiveRef', reference],
  ['properties', properties],
  ['patternProperties', patternProperties],
  ['additionalProperties', additionalProperties],
  ['propertyNames', propertyNames],
  ['prefixItems', prefixItems],
  ['items', items],
  ['additionalItems', additionalItems],
  ['contains', contains],
  ['dependentSchemas', dependent],
  ['dependencies', dependent],
  ['allOf', allOf],
  ['anyOf', anyOf],
  ['oneOf', oneOf],
  ['not', not],
  ['if', condition],
  ['unevaluatedItems', unevaluatedItems],
  ['unevaluatedProperties', unevaluatedProperties],
])
