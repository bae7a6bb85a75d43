/** Checks the arguments of a call against the schema of the tool. Uses no eval, fetches nothing, and takes bounded time. */

import { isRecord } from '../base/data.js'
import { quote } from '../base/text.js'
import type { WireTool } from '../tool/wire-tool.js'
import { collectReferences, type Json, KEYWORDS } from './json-schema.js'
import { KEYWORD_CHECKS, NO_ALTERNATIVE } from './validate/keywords.js'
import {
  computeSteps,
  createPatterns,
  getPath,
  type KeywordContext,
  OutOfSteps,
  type Place,
  type Plan,
  type Problem,
  type Result,
  type Run,
  type Seen,
  spend,
  type Verdict,
} from './validate/run.js'

export type ArgumentCheck =
  | { readonly kind: 'valid' }
  /** Each problem names the place and the rule: `labels/0: "Must be string, not number."` */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }
  /** The check exceeded its limits. The call must not run. */
  | { readonly kind: 'undecided'; readonly problems: readonly string[]; readonly detail: string }

const MAX_PROBLEMS = 8

const validators = new WeakMap<WireTool, Validator>()

/**
 * Checks against the definition that the model saw. Skips slow patterns and references without a target: there, the tool itself
 * has to check.
 */
export function checkArguments(tool: WireTool, input: unknown): ArgumentCheck {
  const steps = computeSteps(input)
  try {
    const validator = getValidator(tool)
    if (validator.validate(input, steps) !== false) return { kind: 'valid' }
    return { kind: 'invalid', problems: describeProblems(collectProblems(validator, input, steps)) }
  } catch (error) {
    return explainUndecided(error, steps)
  }
}

function getValidator(tool: WireTool): Validator {
  const known = validators.get(tool)
  if (known) return known
  const made = createValidator(tool.inputSchema)
  validators.set(tool, made)
  return made
}

function explainUndecided(error: unknown, steps: number): ArgumentCheck {
  if (error instanceof OutOfSteps)
    return {
      kind: 'undecided',
      problems: ['(the arguments): "They could not be checked in a reasonable time. Send simpler ones."'],
      detail: `checking the arguments took more than ${steps} steps`,
    }
  const isDeep = error instanceof TooDeep || error instanceof RangeError
  return {
    kind: 'undecided',
    problems: [
      isDeep
        ? '(the arguments): "They are nested too deeply to be checked. Send simpler ones."'
        : '(the arguments): "They could not be checked."',
    ],
    detail: isDeep ? 'arguments and schema are nested too deeply' : String(error),
  }
}

/** Collects as many problems as the limits allow. The arguments are already known to be invalid. */
function collectProblems(validator: Validator, input: unknown, steps: number): readonly Problem[] {
  const problems: Problem[] = []
  try {
    validator.validate(input, steps, problems)
  } catch {
    // The problems found so far are enough.
  }
  return problems
}

interface Found {
  readonly keys: readonly (string | number)[]
  readonly rule: string
}

function describeProblems(problems: readonly Problem[]): string[] {
  const found = problems.map(({ place, rule }): Found => ({ keys: getPath(place), rule }))
  const lines = selectRelevant(found).map(({ keys, rule }) => `${writePath(keys)}: ${quote(rule, 200)}`)
  return lines.length > 0
    ? [...new Set(lines)].slice(0, MAX_PROBLEMS)
    : ['(the arguments): "They do not fit the schema."']
}

/** If no alternative fits, keeps only the deepest problems: they belong to the alternative that was probably meant. */
function selectRelevant(found: readonly Found[]): readonly Found[] {
  const tried = found
    .filter(({ rule }) => rule === NO_ALTERNATIVE)
    .map(({ keys }) => ({
      keys,
      depth: found.reduce(
        (most, each) => (isWithin(keys, each) ? Math.max(most, each.keys.length) : most),
        0,
      ),
    }))
  return found.filter((each) =>
    tried.every(({ keys, depth }) => !isWithin(keys, each) || each.keys.length === depth),
  )
}

function isWithin(keys: Found['keys'], other: Found): boolean {
  return keys.length <= other.keys.length && keys.every((key, at) => other.keys[at] === key)
}

function writePath(keys: readonly (string | number)[]): string {
  return keys.length === 0 ? '(the arguments)' : quote(keys.map(escapeKey).join('/'), 120)
}

function escapeKey(key: string | number): string {
  return String(key).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Nested calls that every stack can hold. */
const DEEPEST = 1500

/** More than anyone reads. */
const MOST_PROBLEMS = 500

/** A prepared schema, to reuse for many inputs. */
interface Validator {
  /** Throws `OutOfSteps` if the steps are used up. Adds problems to the list, if given. */
  validate(input: unknown, steps: number, problems?: Problem[]): Verdict
}

class TooDeep extends Error {}

/** Checks each place only once against the target of a reference. */
function createValidator(schema: Json): Validator {
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
