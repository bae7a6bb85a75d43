/**
 * Validates JSON Schema in a bounded number of steps. Evaluates no code, fetches nothing, and checks each place only once
 * against the target of a reference.
 */

import { isRecord } from '../../base/data.js'
import { type Json, KEYWORDS } from '../dialect.js'
import { collectReferences } from '../references.js'
import { KEYWORD_CHECKS, type KeywordContext, type Plan } from './keywords.js'
import { createPatterns, type GetPattern } from './pattern.js'

/** Nested calls that every stack can hold. */
const DEEPEST = 1500

/** More than anyone reads. */
const MOST_PROBLEMS = 500

/** A prepared schema, to reuse for many inputs. */
export interface Validator {
  /** Throws `OutOfSteps` if the steps are used up. Adds problems to the list, if given. */
  validate(input: unknown, steps: number, problems?: Problem[]): Verdict
}

export class TooDeep extends Error {}

export function createValidator(schema: Json): Validator {
  const { target } = collectReferences(schema)
  const dialect = typeof schema.$schema === 'string' ? schema.$schema : ''
  const targets = new Map<string, unknown>()
  const form = {
    tracks: usesUnevaluated(schema),
    getPattern: createPatterns(),
    getPlan: createPlanner(/draft-0[3-7]/.test(dialect)),
    target(reference: string): unknown {
      if (!targets.has(reference)) targets.set(reference, target(reference))
      return targets.get(reference)
    },
  }
  return {
    validate(input, steps, problems) {
      const run: Run = { ...form, steps, depth: 0 }
      return evaluate(run, schema, { value: input }, problems).verdict
    },
  }
}

function usesUnevaluated(schema: unknown): boolean {
  if (!isRecord(schema)) return false
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'unevaluatedProperties' || keyword === 'unevaluatedItems') return true
    const inside = KEYWORDS.get(keyword)?.inside
    if (inside === undefined || typeof value !== 'object' || value === null) continue
    if (
      inside === 'schema' && !Array.isArray(value)
        ? usesUnevaluated(value)
        : Object.values(value).some(usesUnevaluated)
    )
      return true
  }
  return false
}

/** Lists the keywords of a schema in the order of the checks. In older drafts, `$ref` hides the other keywords. */
function createPlanner(refAlone: boolean): Run['getPlan'] {
  const plans = new Map<Json, Plan>()
  return (schema) => {
    const known = plans.get(schema)
    if (known) return known
    const isReference = refAlone && typeof schema.$ref === 'string'
    const made: Plan[number][] = []
    for (const [keyword, check] of KEYWORD_CHECKS)
      if (Object.hasOwn(schema, keyword) && (!isReference || keyword === '$ref'))
        made.push({ check, value: schema[keyword] as never })
    plans.set(schema, made)
    return made
  }
}

const TRUE: Result = { verdict: true, seen: undefined }
const FALSE: Result = { verdict: false, seen: undefined }
const UNKNOWN: Result = { verdict: undefined, seen: undefined }

function evaluate(run: Run, schema: unknown, place: Place, problems: Problem[] | undefined): Result {
  if (schema === true) return TRUE
  if (schema === false) {
    problems?.push({ place, rule: 'Unexpected argument.' })
    return FALSE
  }
  if (!isRecord(schema)) return UNKNOWN
  spend(run, 1)
  if (run.depth >= DEEPEST) throw new TooDeep()
  run.depth++
  const result = runKeywords(run, schema, place, problems)
  run.depth--
  return result
}

/** Checks each place once per target. A schema that leads back to itself at the same place gives unknown. */
function follow(run: Run, reference: string, place: Place, problems: Problem[] | undefined): Result {
  const schema = run.target(reference)
  if (!isRecord(schema)) return evaluate(run, schema, place, problems)
  place.results ??= new Map()
  if (place.results.has(schema)) {
    const known = place.results.get(schema) ?? UNKNOWN
    // Check again only to collect problems.
    if (known.verdict !== false || !problems) return known
  }
  place.results.set(schema, undefined)
  const result = evaluate(run, schema, place, problems)
  place.results.set(schema, result)
  return result
}

function runKeywords(run: Run, schema: Json, place: Place, problems: Problem[] | undefined): Result {
  const at = new SchemaCheck(run, schema, place, problems)
  let verdict: Verdict = true
  for (const { check, value } of run.getPlan(schema)) {
    const each = check(at, value)
    if (each === false && !problems) return FALSE
    if (each === false) verdict = false
    else if (each === undefined && verdict) verdict = undefined
  }
  if (!at.seen) return verdict === undefined ? UNKNOWN : verdict ? TRUE : FALSE
  return { verdict, seen: verdict === false ? undefined : at.seen }
}

/** A class for speed: every step creates one. */
class SchemaCheck implements KeywordContext {
  readonly seen: Seen | undefined
  readonly collects: boolean

  constructor(
    readonly run: Run,
    readonly schema: Json,
    readonly place: Place,
    private readonly problems: Problem[] | undefined,
  ) {
    this.seen = run.tracks ? { properties: new Set(), items: new Set() } : undefined
    this.collects = problems !== undefined
  }

  ask(schema: unknown, place: Place, tried?: boolean): Verdict {
    return evaluate(this.run, schema, place, tried ? undefined : this.problems).verdict
  }

  join(schema: unknown, tried?: boolean): Verdict {
    return this.joined(evaluate(this.run, schema, this.place, tried ? undefined : this.problems))
  }

  follow(reference: string): Verdict {
    return this.joined(follow(this.run, reference, this.place, this.problems))
  }

  fail(rule: () => string): false {
    const { problems, place } = this
    if (problems && problems.push({ place, rule: rule() }) > MOST_PROBLEMS) throw new OutOfSteps()
    return false
  }

  private joined({ verdict, seen: added }: Result): Verdict {
    if (verdict !== false && this.seen && added) mergeSeen(this.run, this.seen, added)
    return verdict
  }
}

function mergeSeen(run: Run, into: Seen, { properties, items }: Seen): void {
  if (properties === 'all') into.properties = 'all'
  else if (into.properties !== 'all') {
    spend(run, properties.size / 8)
    for (const key of properties) into.properties.add(key)
  }
  if (items === 'all') into.items = 'all'
  else if (into.items !== 'all') {
    spend(run, items.size / 8)
    for (const index of items) into.items.add(index)
  }
}

/** True, false, or undefined for unknown: then the tool itself has to check. */
export type Verdict = boolean | undefined

/** Thrown when the steps are used up. Arguments that were not checked completely must not pass. */
export class OutOfSteps extends Error {}

/** The evaluated properties and items of one place. Tracked only if a schema uses `unevaluated…`. */
export interface Seen {
  properties: Set<string> | 'all'
  items: Set<number> | 'all'
}

interface Result {
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
