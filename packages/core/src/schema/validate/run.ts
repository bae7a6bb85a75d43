/** The state and limits of one validation: steps, places in the arguments, and patterns that are safe to run. */

import type { Json } from '../json-schema.js'

/** True, false, or undefined for unknown: then the tool itself has to check. */
export type Verdict = boolean | undefined

/** Thrown when the steps are used up. Arguments that were not checked completely must not pass. */
export class OutOfSteps extends Error {}

/** The evaluated properties and items of one place. Tracked only if a schema uses `unevaluated…`. */
export interface Seen {
  properties: Set<string> | 'all'
  items: Set<number> | 'all'
}

export interface Result {
  readonly verdict: Verdict
  readonly seen: Seen | undefined
}

/** One value within the arguments. Created once per value, to detect schemas that come back to it. */
export interface Place {
  readonly value: unknown
  readonly within?: Place
  readonly key?: string | number
  children?: Map<string | number, Place>
  keys?: readonly string[]
  /** Results by target of a reference; undefined while the check is running. */
  results?: Map<object, Result | undefined>
}

export interface Problem {
  readonly place: Place
  readonly rule: string
}

/** The state of one validation. */
export interface Run {
  /** The keywords of a schema, in the order of the checks. */
  readonly getPlan: (schema: Json) => Plan
  readonly getPattern: GetPattern
  /** Finds the target of a reference. */
  readonly target: (reference: string) => unknown
  /** A schema uses `unevaluated…`. */
  readonly tracks: boolean
  /** Equal numbers for equal values. Created on first use. */
  getNumber?: (value: unknown) => number
  steps: number
  depth: number
}

/** The value to check, and helpers to check it against other schemas. */
export interface KeywordContext {
  readonly run: Run
  readonly place: Place
  /** The schema of the keyword. */
  readonly schema: Json
  /** Properties and items that were evaluated, if a schema uses `unevaluated…`. */
  readonly seen: Seen | undefined
  /** True: collect every problem. False: stop at the first one. */
  readonly collects: boolean
  /** Checks a place against a schema. With `tried`, does not collect its problems. */
  ask(schema: unknown, place: Place, tried?: boolean): Verdict
  /** Checks this place against another schema, and adds what that schema evaluated to `seen`. */
  join(schema: unknown, tried?: boolean): Verdict
  /** Like `join`, for the target of a reference. */
  follow(reference: string): Verdict
  fail(rule: () => string): false
}

export type Keyword = (at: KeywordContext, value: never) => Verdict

export type Plan = readonly { readonly check: Keyword; readonly value: never }[]

/** A step takes about 0.1 µs: about 10 ms for small arguments, and more in proportion to larger ones. */
const BASE_STEPS = 100_000
const STEPS_PER_VALUE = 40
const STEPS_PER_CHARACTER = 4

/** Long texts add the steps that reading them takes. */
export function computeSteps(input: unknown): number {
  let steps = BASE_STEPS
  const open: unknown[] = [input]
  while (open.length > 0) {
    const value = open.pop()
    steps += STEPS_PER_VALUE
    if (typeof value === 'string') steps += value.length * STEPS_PER_CHARACTER
    else if (Array.isArray(value)) for (const each of value) open.push(each)
    else if (typeof value === 'object' && value !== null)
      for (const [key, each] of Object.entries(value)) {
        steps += key.length * STEPS_PER_CHARACTER
        open.push(each)
      }
  }
  return steps
}

export function spend(run: Run, steps: number): void {
  run.steps -= steps
  if (run.steps < 0) throw new OutOfSteps()
}

/** Each character costs a fraction of a step. */
export function spendOnText(run: Run, characters: number): void {
  spend(run, 1 + characters / 16)
}

/** Counts characters, not UTF-16 code units, and only if the code units do not decide already. */
export function countCharacters(value: unknown, run: Run, bound: number): number | undefined {
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

export function getChild(place: Place, key: string | number): Place {
  place.children ??= new Map()
  const known = place.children.get(key)
  if (known) return known
  const value = (place.value as Record<string | number, unknown>)[key]
  const child: Place = { value, within: place, key }
  place.children.set(key, child)
  return child
}

/** Lists the property names of a place, once. */
export function listKeys(place: Place): readonly string[] {
  place.keys ??= Object.keys(place.value as object)
  return place.keys
}

/** Lists the keys from the arguments to a place. */
export function getPath(place: Place): (string | number)[] {
  const keys: (string | number)[] = []
  for (let at = place; at.within !== undefined && at.key !== undefined; at = at.within) keys.unshift(at.key)
  return keys
}

/** Gives equal JSON values equal numbers, in any order of keys. Objects and lists are identified by the numbers of their contents. */
export function createNumbering(run: Run): (value: unknown) => number {
  const numbers = new Map<unknown, number>()
  const objects = new Map<object, number>()
  const numbered = (key: unknown): number => {
    const found = numbers.get(key)
    if (found !== undefined) return found
    numbers.set(key, numbers.size)
    return numbers.size - 1
  }
  const numberOf = (value: unknown): number => {
    spend(run, 1)
    // The quote distinguishes strings from the keys made below.
    if (typeof value === 'string') return numbered(`"${value}`)
    if (typeof value !== 'object' || value === null) return numbered(value)
    const known = objects.get(value)
    if (known !== undefined) return known
    const made = Array.isArray(value)
      ? `[${value.map(numberOf).join()}`
      : `{${Object.keys(value)
          .sort()
          .map((key) => `${numberOf(key)}:${numberOf((value as Record<string, unknown>)[key])}`)
          .join()}`
    const number = numbered(made)
    objects.set(value, number)
    return number
  }
  return numberOf
}

export function isEqual(run: Run, one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || one === null) return one === other
  if (typeof other !== 'object' || other === null) return false
  run.getNumber ??= createNumbering(run)
  return run.getNumber(one) === run.getNumber(other)
}

/** A pattern reads at most `factor × length ** degree` characters. */
interface Pattern {
  readonly expression: RegExp
  readonly factor: number
  readonly degree: number
}

const LONGEST = 1000
const MOST_FACTOR = 200
/** The most characters that a pattern with a degree above 1 may read. */
const MOST_CHARACTERS = 300_000

/** Undefined if the pattern is too slow for this text. */
type GetPattern = (
  pattern: string,
  text: string,
) => { readonly expression: RegExp; readonly characters: number } | undefined

/** Decides which patterns are safe to run, because schema and text are untrusted. Reads each pattern of a schema once. */
export function createPatterns(): GetPattern {
  const known = new Map<string, Pattern | undefined>()
  return (pattern, text) => {
    if (!known.has(pattern)) known.set(pattern, readPattern(pattern))
    const form = known.get(pattern)
    if (!form) return undefined
    const { expression, factor, degree } = form
    const characters = factor * text.length ** degree
    return degree > 1 && characters > MOST_CHARACTERS ? undefined : { expression, characters }
  }
}

function readPattern(pattern: string): Pattern | undefined {
  const form = measurePattern(pattern)
  const expression = form && compilePattern(pattern)
  return form && expression && { expression, ...form }
}

/**
 * Computes the worst case from the form of the pattern. Each open repetition, and a missing `^`, adds one to the degree.
 * Undefined for patterns that could be slower: a repeated group, a second group, a lookaround, a back reference.
 */
function measurePattern(pattern: string): { readonly factor: number; readonly degree: number } | undefined {
  if (pattern.length > LONGEST || /\\[1-9k]/.test(pattern)) return undefined
  const plain = pattern
    .replace(/\\./gs, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replace(/([*+?}])\?/g, '$1')
    .replaceAll('(?:', '(')
  if (plain.includes('(?') || plain.indexOf('(') !== plain.lastIndexOf('(') || /\)[*+?{]/.test(plain))
    return undefined
  const open = (plain.match(/[*+?]|\{\d*,\d*\}/g) ?? []).length
  const isBound = plain.startsWith('^') && !plain.replace(/\(.*\)/s, '').includes('|')
  const counts = (plain.match(/\{\d+/g) ?? []).reduce((sum, count) => sum + Number(count.slice(1)), 0)
  const choices = plain.split('|').length
  const factor = (plain.length + counts) * choices
  const degree = open + (isBound ? 0 : 1)
  return degree > 0 && factor > MOST_FACTOR ? undefined : { factor, degree }
}

function compilePattern(pattern: string): RegExp | undefined {
  for (const flags of ['u', ''])
    try {
      return new RegExp(pattern, flags)
    } catch {
      // The pattern may need the mode without `u`.
    }
  return undefined
}
