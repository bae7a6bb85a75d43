/** Checks a call's arguments against the tool's real schema, without eval and without fetching anything. */
import { type Schema, Validator } from '@cfworker/json-schema'
import type { Entry } from './catalogue.js'
import { quote } from './text.js'

export type ArgumentCheck =
  | { readonly kind: 'valid' }
  /** Each problem names the place and the rule: `/labels/0: must be string`. */
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }
  /** The schema itself cannot be used. */
  | { readonly kind: 'unusable'; readonly detail: string }

const MAX_PROBLEMS = 8
const validators = new WeakMap<Entry, Validator>()

export function checkArguments(entry: Entry, input: unknown): ArgumentCheck {
  try {
    let validator = validators.get(entry)
    if (!validator) {
      // The library writes into the schema it is given; the tool's own object stays untouched.
      const schema: Schema = JSON.parse(JSON.stringify(entry.tool.inputSchema))
      validator = new Validator(schema, draftOf(schema), false)
      validators.set(entry, validator)
    }
    const outcome = validator.validate(input)
    if (outcome.valid) return { kind: 'valid' }
    // The outer errors only repeat that something inside is wrong; the deepest say what.
    const depth = Math.max(...outcome.errors.map((error) => error.instanceLocation.split('/').length))
    const deepest = outcome.errors.filter(
      (error) => error.instanceLocation.split('/').length === depth && error.keyword !== 'properties',
    )
    const errors = (deepest.length > 0 ? deepest : outcome.errors).slice(0, MAX_PROBLEMS)
    return {
      kind: 'invalid',
      problems: errors.map((error) => `${pathOf(error.instanceLocation)}: ${quote(error.error, 200)}`),
    }
  } catch (error) {
    return { kind: 'unusable', detail: String(error) }
  }
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
