/** Keywords that ask about a value by itself: its type, its bounds, its text. */
import { isRecord } from '../../base/guards.js'
import { createNumbering, isEqual } from './equal.js'
import { fitsFormat } from './formats.js'
import { type At, isNumber, type Keyword } from './keyword.js'
import { type Run, spend, spendOnText, type Verdict } from './run.js'

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

/** In characters, not in units of UTF-16. Counted only where the units leave it open. */
function lengthOf(value: unknown, run: Run, bound: number): number | undefined {
  if (typeof value !== 'string') return undefined
  if (value.length < bound || value.length > bound * 2) return value.length
  spendOnText(run, value.length)
  let length = value.length
  for (let at = 1; at < value.length; at++) {
    const isLow = (value.charCodeAt(at) & 0xfc00) === 0xdc00
    if (isLow && (value.charCodeAt(at - 1) & 0xfc00) === 0xd800) length--
  }
  return length
}

const itemsIn = (value: unknown) => (Array.isArray(value) ? value.length : undefined)
const propertiesIn = (value: unknown, run: Run) => {
  if (!isRecord(value)) return undefined
  const { length } = Object.keys(value)
  spend(run, length / 4)
  return length
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function isOfType(value: unknown, type: unknown): boolean {
  return type === 'integer' ? Number.isInteger(value) : typeOf(value) === type
}

export const type: Keyword = (at, asked: unknown) => {
  const { value } = at.place
  const types = Array.isArray(asked) ? asked : [asked]
  if (types.some((each) => isOfType(value, each))) return true
  return at.fail(() => `Must be ${types.join(' or ')}, not ${typeOf(value)}.`)
}

export const constant: Keyword = (at, asked: unknown) =>
  isEqual(at.run, at.place.value, asked) || at.fail(() => `Must be ${JSON.stringify(asked)}.`)

export const enumeration: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  if (!Array.isArray(asked)) return true
  spend(run, asked.length / 16)
  const isPlain = typeof place.value !== 'object' || place.value === null
  const isOne = isPlain
    ? asked.includes(place.value)
    : asked.some((each) => typeof each === 'object' && each !== null && isEqual(run, each, place.value))
  return isOne || at.fail(() => `Must be one of ${JSON.stringify(asked)}.`)
}

/** Of decimal fractions too, which the machine holds only nearly. */
function isMultiple(value: number, of: number): boolean {
  if (of <= 0 || value % of === 0) return true
  const times = value / of
  return Number.isFinite(times) && Math.abs(times - Math.round(times)) <= Number.EPSILON * Math.abs(times) * 4
}

/** Where the pattern is not tried, the tool itself has to look. */
export function matches({ run }: At, pattern: string, text: string): Verdict {
  const tried = run.patternFor(pattern, text)
  if (!tried) return undefined
  spendOnText(run, tried.characters)
  return tried.expression.test(text)
}

export const pattern: Keyword = (at, asked: unknown) => {
  if (typeof at.place.value !== 'string' || typeof asked !== 'string') return true
  const verdict = matches(at, asked, at.place.value)
  return verdict === false ? at.fail(() => `Must match the pattern ${asked}.`) : verdict
}

export const format: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  if (typeof place.value !== 'string' || typeof asked !== 'string') return true
  spendOnText(run, place.value.length * 4)
  return fitsFormat(asked, place.value) || at.fail(() => `Must be in the format ${asked}.`)
}

export const uniqueItems: Keyword = (at, asked: unknown) => {
  const { run, place } = at
  if (asked !== true || !Array.isArray(place.value)) return true
  run.numberOf ??= createNumbering(run)
  return (
    new Set(place.value.map(run.numberOf)).size === place.value.length ||
    at.fail(() => 'Items must be different.')
  )
}

/** In older drafts a flag beside the bound. */
export const minimum: Keyword = (at, bound: unknown) =>
  number(
    (value, least) => (at.schema.exclusiveMinimum === true ? value > least : value >= least),
    'at least',
  )(at, bound as never)
export const maximum: Keyword = (at, bound: unknown) =>
  number((value, most) => (at.schema.exclusiveMaximum === true ? value < most : value <= most), 'at most')(
    at,
    bound as never,
  )

export const moreThan = number((value, least) => value > least, 'more than')
export const lessThan = number((value, most) => value < most, 'less than')
export const multipleOf = number(isMultiple, 'a multiple of')
export const minLength = size(lengthOf, true, 'characters')
export const maxLength = size(lengthOf, false, 'characters')
export const minItems = size(itemsIn, true, 'items')
export const maxItems = size(itemsIn, false, 'items')
export const minProperties = size(propertiesIn, true, 'properties')
export const maxProperties = size(propertiesIn, false, 'properties')
