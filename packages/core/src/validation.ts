/** Checks a call's arguments against the tool's real schema, without eval and without fetching anything. */
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import type { WireTool } from './ledger-event.js'
import { quote } from './text.js'

export type ArgumentCheck =
  | { readonly kind: 'valid' }
  /** Each problem names the place and the rule: `/labels/0: must be string`. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }
  /** The schema itself cannot be used. */
  | { readonly kind: 'unusable'; readonly detail: string }

const MAX_PROBLEMS = 8

/** `quick` stops at the first problem, `thorough` lists them all. */
interface Validators {
  readonly quick: Validator
  readonly thorough: Validator
}
const validators = new WeakMap<WireTool, Validators>()

/** The definition is the one the model was shown: what fits it is right. */
export function checkArguments(tool: WireTool, input: unknown): ArgumentCheck {
  try {
    const { quick, thorough } = validatorsOf(tool)
    const verdict = quick.validate(input)
    if (verdict.valid) return { kind: 'valid' }
    return { kind: 'invalid', problems: problemsOf(allErrors(thorough, input) ?? verdict.errors) }
  } catch (error) {
    // The stack gave out on what the model sent, not on the schema: nothing unchecked may pass for that.
    if (error instanceof RangeError && isDeep(input))
      return { kind: 'invalid', problems: ['(the arguments): "They are nested too deeply to be checked."'] }
    return { kind: 'unusable', detail: String(error) }
  }
}

/** Deeper than any schema that ends asks for. */
function isDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; depth < 50; depth++)
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []))
  return level.length > 0
}

function validatorsOf(tool: WireTool): Validators {
  const known = validators.get(tool)
  if (known) return known
  // The library writes into the schema it is given; the tool's own object stays untouched.
  const schema: Schema = JSON.parse(JSON.stringify(tool.inputSchema), withoutSlowPatterns)
  const draft = draftOf(schema)
  const made = {
    quick: new Validator(schema, draft, true),
    thorough: new Validator(structuredClone(schema), draft, false),
  }
  validators.set(tool, made)
  return made
}

/** A group that repeats: with a quantifier inside it, it can run for longer than anyone waits. */
const REPEATED_GROUP = /\)(?:[*+?]|\{\d)/
const UNBOUNDED = /(?<!\\)(?:[*+]|\{\d+,\})/g

/** Patterns that stay quick on any text: no repeated group, at most two open-ended repetitions, and legal at all. */
function isQuick(pattern: string): boolean {
  const repetitions = pattern.replace(/\[(?:[^\]\\]|\\.)*\]/g, 'x')
  if (pattern.length > 1000 || REPEATED_GROUP.test(repetitions)) return false
  if ((repetitions.match(UNBOUNDED) ?? []).length > 2) return false
  try {
    return new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}

/** The schema is its source's, the text the model's: neither may stop this process. What is left out here is checked by the tool. */
function withoutSlowPatterns(key: string, value: unknown): unknown {
  const slow = (pattern: unknown) => typeof pattern === 'string' && !isQuick(pattern)
  if (key === 'pattern') return slow(value) ? undefined : value
  if (key !== 'patternProperties' || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).filter(([pattern]) => !slow(pattern)))
}

/** Undefined where there are too many to list: the library cannot hold some hundred thousand. */
function allErrors(thorough: Validator, input: unknown): readonly OutputUnit[] | undefined {
  try {
    return thorough.validate(input).errors
  } catch {
    return undefined
  }
}

/** The outer errors only repeat that something inside is wrong; the deepest say what. */
function problemsOf(errors: readonly OutputUnit[]): string[] {
  const depthOf = (error: OutputUnit) => error.instanceLocation.split('/').length
  const depth = errors.reduce((deepest, error) => Math.max(deepest, depthOf(error)), 0)
  const deepest = errors.filter((error) => depthOf(error) === depth && error.keyword !== 'properties')
  return (deepest.length > 0 ? deepest : errors)
    .slice(0, MAX_PROBLEMS)
    .map((error) => `${pathOf(error.instanceLocation)}: ${quote(ruleOf(error), 200)}`)
}

/** `false` is what a schema says where `additionalProperties` allows nothing. */
function ruleOf(error: OutputUnit): string {
  return error.keyword === 'false' ? 'Nothing is allowed here.' : error.error
}

function pathOf(location: string): string {
  return location === '#' ? '(the arguments)' : quote(location.replace(/^#\//, ''), 120)
}

function draftOf(schema: Schema): '4' | '7' | '2019-09' | '2020-12' {
  const dialect = typeof schema.$schema === 'string' ? schema.$schema : ''
  if (dialect.includes('draft-04')) return '4'
  if (dialect.includes('draft-07') || dialect.includes('draft-06')) return '7'
  return dialect.includes('2019-09') ? '2019-09' : '2020-12'
}
