/** One check of arguments against a schema: how many steps it may take, and the places of the arguments it has been to. */

import type { Json } from '../rules.js'
import type { Plan } from './keyword.js'
import type { PatternFor } from './pattern.js'

/** True, false, or undefined: it cannot be told here, and the tool itself has to look. */
export type Verdict = boolean | undefined

/** Thrown when the steps are used up. Nothing that was not checked to the end may pass. */
export class OutOfSteps extends Error {}

/** Of one place: what the schemas that fit it have looked at. Kept only where a schema asks for the rest (`unevaluated…`). */
export interface Seen {
  properties: Set<string> | 'all'
  items: Set<number> | 'all'
}

export interface Result {
  readonly verdict: Verdict
  readonly seen: Seen | undefined
}

/** One value within the arguments. Made once each, so that a schema that comes back to it is known to. */
export interface Place {
  readonly value: unknown
  readonly within?: Place
  readonly key?: string | number
  children?: Map<string | number, Place>
  keys?: readonly string[]
  /** By schemas that are referred to: what they said of this place; undefined while they are being asked. */
  results?: Map<object, Result | undefined>
}

export interface Problem {
  readonly place: Place
  readonly rule: string
}

export interface Run {
  /** The keywords of a schema, in the order in which they are asked. */
  readonly planOf: (schema: Json) => Plan
  /** How a pattern is tried on a text, if it is. */
  readonly patternFor: PatternFor
  /** Where a reference leads. */
  readonly target: (reference: string) => unknown
  /** Some schema asks what the others have left. */
  readonly tracks: boolean
  /** Equal numbers for equal values, once anyone has asked. */
  numberOf?: (value: unknown) => number
  steps: number
  depth: number
}

/** About a tenth of a microsecond each: some ten milliseconds for small arguments, and what large ones deserve. */
const BASE_STEPS = 100_000
const STEPS_PER_VALUE = 40
const STEPS_PER_CHARACTER = 4

/** Texts are never cut off: a long one brings the steps that reading it takes. */
export function stepsFor(input: unknown): number {
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

/** Characters that are read cost a fraction of a step. */
export function spendOnText(run: Run, characters: number): void {
  spend(run, 1 + characters / 16)
}

export function childOf(place: Place, key: string | number): Place {
  place.children ??= new Map()
  const known = place.children.get(key)
  if (known) return known
  const value = (place.value as Record<string | number, unknown>)[key]
  const child: Place = { value, within: place, key }
  place.children.set(key, child)
  return child
}

/** The names of its properties, listed once. */
export function keysIn(place: Place): readonly string[] {
  place.keys ??= Object.keys(place.value as object)
  return place.keys
}

/** The keys that lead to a place, from the arguments down. */
export function keysOf(place: Place): (string | number)[] {
  const keys: (string | number)[] = []
  for (let at = place; at.within !== undefined && at.key !== undefined; at = at.within) keys.unshift(at.key)
  return keys
}
