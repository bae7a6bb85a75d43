/** The state of one validation: the steps that are left, and the places of the arguments. */
import type { Json } from '../keyword-rules.js'
import type { Plan } from './keywords.js'
import type { GetPattern } from './pattern.js'

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
