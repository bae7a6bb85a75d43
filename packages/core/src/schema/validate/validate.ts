/**
 * JSON Schema in a bounded number of steps: an interpreter that evaluates no code, fetches nothing, and asks a schema that is
 * referred to once of each place, however often it is referred to.
 */

import { isRecord } from '../../base/data.js'
import { type Json, KEYWORDS } from '../dialect.js'
import { collectReferences } from '../references.js'
import { KEYWORD_CHECKS, type KeywordContext, type Plan } from './keywords.js'
import { createPatterns, type GetPattern } from './pattern.js'

/** Calls within calls: what the stack surely holds. */
const DEEPEST = 1500

/** More than anyone reads. */
const MOST_PROBLEMS = 500

/** A schema that is ready to be asked, as often as needed. */
export interface Validator {
  /** Throws `OutOfSteps` where it could not be told with so many steps. Problems are collected where a list is given. */
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

/** The keywords of a schema that ask for something, in the order in which they are asked. In older drafts a reference hides the rest. */
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

/** Asked once of each place. A schema that comes back to itself at the same place gives no answer. */
function follow(run: Run, reference: string, place: Place, problems: Problem[] | undefined): Result {
  const schema = run.target(reference)
  if (!isRecord(schema)) return evaluate(run, schema, place, problems)
  place.results ??= new Map()
  if (place.results.has(schema)) {
    const known = place.results.get(schema) ?? UNKNOWN
    // Asked again only for what is wrong with it.
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

/** A class, because one is made for every step. */
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

// One check of arguments against a schema: how many steps it may take, and the places of the arguments it has been to.

/** True, false, or undefined: it cannot be told here, and the tool itself has to look. */
export type Verdict = boolean | undefined

/** Thrown when the steps are used up. Nothing that was not checked to the end may pass. */
export class OutOfSteps extends Error {}

/** Of one place: what the schemas that fit it have looked at. Kept only where a schema asks for the rest (`unevaluated…`). */
export interface Seen {
  properties: Set<string> | 'all'
  items: Set<number> | 'all'
}

interface Result {
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
  readonly getPlan: (schema: Json) => Plan
  /** How a pattern is tried on a text, if it is. */
  readonly getPattern: GetPattern
  /** Where a reference leads. */
  readonly target: (reference: string) => unknown
  /** Some schema asks what the others have left. */
  readonly tracks: boolean
  /** Equal numbers for equal values, once anyone has asked. */
  getNumber?: (value: unknown) => number
  steps: number
  depth: number
}

/** About a tenth of a microsecond each: some ten milliseconds for small arguments, and what large ones deserve. */
const BASE_STEPS = 100_000
const STEPS_PER_VALUE = 40
const STEPS_PER_CHARACTER = 4

/** Texts are never cut off: a long one brings the steps that reading it takes. */
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

/** Characters that are read cost a fraction of a step. */
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

/** The names of its properties, listed once. */
export function listKeys(place: Place): readonly string[] {
  place.keys ??= Object.keys(place.value as object)
  return place.keys
}

/** The keys that lead to a place, from the arguments down. */
export function getPath(place: Place): (string | number)[] {
  const keys: (string | number)[] = []
  for (let at = place; at.within !== undefined && at.key !== undefined; at = at.within) keys.unshift(at.key)
  return keys
}
