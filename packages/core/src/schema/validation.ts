/** Checks a call's arguments against the tool's real schema, without eval and without fetching anything. */
import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema'
import { quote } from '../base/text.js'
import type { WireTool } from '../tool/wire-tool.js'

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
  const schema: Schema = checkable(JSON.parse(JSON.stringify(tool.inputSchema))) as Schema
  const draft = draftOf(schema)
  const made = {
    quick: new Validator(schema, draft, true),
    thorough: new Validator(structuredClone(schema), draft, false),
  }
  validators.set(tool, made)
  return made
}

/** Keywords whose value is data, whatever it looks like. */
const DATA = new Set(['const', 'enum', 'default', 'examples'])
/** Keywords whose value maps names to schemas. */
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Keywords under which a looser schema makes the whole stricter. */
const INVERTING = new Set(['not', 'oneOf', 'if', 'contains'])

/**
 * Matched in one pass over any text: bound to its start, without groups or choices, and with one repetition of open length
 * at the most. The schema is its source's and the text the model's: neither may stop this process.
 */
function isQuick(pattern: unknown): boolean {
  if (typeof pattern !== 'string' || pattern.length > 1000 || !pattern.startsWith('^')) return false
  const plain = pattern.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
  if (/[()|]/.test(plain) || (plain.match(/[*+?]|\{\d*,\d*\}/g) ?? []).length > 1) return false
  try {
    return new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}

/** The schema without patterns that are not quick. It never refuses what the whole one allows; the tool itself checks the rest. */
function checkable(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(checkable)
  if (typeof node !== 'object' || node === null) return node
  let open = false
  const kept: [string, unknown][] = []
  for (const [key, value] of Object.entries(node)) {
    if (DATA.has(key)) kept.push([key, value])
    else if (key === 'pattern' && typeof value === 'string') {
      if (isQuick(value)) kept.push([key, value])
    } else if (MAPS.has(key) && typeof value === 'object' && value !== null) {
      const members = Object.entries(value).filter(([name]) => key !== 'patternProperties' || isQuick(name))
      open ||= members.length < Object.keys(value).length
      kept.push([key, Object.fromEntries(members.map(([name, schema]) => [name, checkable(schema)]))])
    } else {
      const inner = checkable(value)
      if (!INVERTING.has(key) || JSON.stringify(inner) === JSON.stringify(value)) kept.push([key, inner])
      else if (key === 'if') open = true
    }
  }
  // What a dropped pattern would have named counts as additional; what a dropped condition chose is not chosen.
  const gone = open ? ['additionalProperties', 'unevaluatedProperties', 'then', 'else'] : []
  return Object.fromEntries(kept.filter(([key]) => !gone.includes(key)))
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
  return error.keyword === 'false' ? 'Unexpected argument.' : error.error
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
