/** Text of a given length, and arguments that fit a schema, for conversations in which only sizes matter. */
import type { JsonSchema } from '@toolwell/core'

/** Common words, one token each including the space before them. */
const WORDS =
  'the report shows that each service returns a list of open items with their owner state date number and label while some of them still wait for review after the last change in this area because another team has to confirm the result before it can be closed'.split(
    ' ',
  )

/** About `tokens` tokens. Texts with different seeds differ from the first word on. */
export function filler(tokens: number, seed: string): string {
  let state = 2166136261
  for (const character of seed) state = Math.imul(state ^ character.charCodeAt(0), 16777619) >>> 0
  const words: string[] = [`(${seed})`]
  for (let count = seed.length / 3 + 2; count < tokens; count++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    words.push(WORDS[state % WORDS.length] as string)
  }
  return words.join(' ')
}

/** The smallest valid arguments: only required properties. */
export function sampleArguments(schema: JsonSchema): Record<string, unknown> {
  return sampleObject(schema, schema, '')
}

type Schema = { readonly [keyword: string]: unknown }

function sampleObject(schema: Schema, root: Schema, name: string): Record<string, unknown> {
  const properties = (schema.properties ?? {}) as Record<string, Schema>
  const required = Array.isArray(schema.required) ? schema.required.map(String) : []
  return Object.fromEntries(required.map((key) => [key, sample(properties[key] ?? {}, root, key || name)]))
}

function sample(schema: Schema, root: Schema, name: string): unknown {
  if (typeof schema.$ref === 'string') return sample(resolve(root, schema.$ref), root, name)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return schema.enum[0]
  if (schema.default !== undefined && schema.default !== null) return schema.default
  for (const keyword of ['anyOf', 'oneOf', 'allOf']) {
    const options = schema[keyword]
    if (Array.isArray(options) && options.length > 0) return sample(options[0] as Schema, root, name)
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'object' || (type === undefined && schema.properties)) return sampleObject(schema, root, name)
  if (type === 'array') {
    const length = typeof schema.minItems === 'number' ? schema.minItems : 1
    return Array.from({ length }, () => sample((schema.items ?? {}) as Schema, root, name))
  }
  if (type === 'integer' || type === 'number') return typeof schema.minimum === 'number' ? schema.minimum : 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  return sampleText(schema, name)
}

function sampleText(schema: Schema, name: string): string {
  if (schema.format === 'date-time') return '2026-11-02T09:00:00Z'
  if (schema.format === 'date') return '2026-11-02'
  if (schema.format === 'uuid') return '7f3b1c9e-4a52-4d0e-9b6f-2c1d8e5a7b90'
  if (schema.format === 'uri' || schema.format === 'url') return `https://example.com/${name}`
  if (schema.format === 'email') return 'someone@example.com'
  const text = typeof schema.pattern === 'string' ? name : `the ${name}`
  const least = typeof schema.minLength === 'number' ? schema.minLength : 0
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : text.length
  return text.padEnd(least, ' of it').slice(0, Math.max(most, 1))
}

function resolve(root: Schema, reference: string): Schema {
  let at: unknown = root
  for (const key of reference.replace(/^#\/?/, '').split('/').filter(Boolean))
    at = (at as Schema | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')]
  return (at ?? {}) as Schema
}
