/**
 * Validates JSON Schema in a bounded number of steps. Evaluates no code, fetches nothing, and checks each place only once
 * against the target of a reference.
 */

import { isRecord } from '../../base/data.js'
import { type Json, KEYWORDS } from '../keyword-rules.js'
import { collectReferences } from '../references.js'
import { KEYWORD_CHECKS, type KeywordContext, type Plan } from './keywords.js'
import { createPatterns } from './pattern.js'
import {
  OutOfSteps,
  type Place,
  type Problem,
  type Result,
  type Run,
  type Seen,
  spend,
  type Verdict,
} from './run.js'

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
