/**
 * `doctor` tells by its own rules which provider refuses a definition. The strict endpoints have theirs, written apart, so
 * the two must agree on every definition here.
 */
import { fitWire, normaliseSchema, wireRefusal } from '@toolwell/core/internal'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anthropicProtocol, chatProtocol, googleProtocol, responsesProtocol } from '../src/index.js'

interface Definition {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

const model = 'any'
const messages = [{ role: 'user', content: 'x' }]
const [anthropic, chat, responses, google] = [
  anthropicProtocol(),
  chatProtocol({ maxDescription: 1024 }),
  responsesProtocol(),
  googleProtocol(),
]

const endpoints: Readonly<Record<string, (tool: Definition) => unknown>> = {
  anthropic: ({ name, description, inputSchema: input_schema }) =>
    anthropic.violationOf({ model, max_tokens: 1, messages, tools: [{ name, description, input_schema }] }),
  'openai-chat': ({ name, description, inputSchema: parameters }) =>
    chat.violationOf({
      model,
      messages,
      tools: [{ type: 'function', function: { name, description, parameters } }],
    }),
  'openai-responses': ({ name, description, inputSchema: parameters }) =>
    responses.violationOf({
      model,
      input: 'x',
      tools: [{ type: 'function', name, description, parameters, strict: false }],
    }),
  google: ({ name, description, inputSchema: parametersJsonSchema }) =>
    google.violationOf({
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema }] }],
    }),
}

const tool = (inputSchema: Definition['inputSchema'], description = 'Does it.'): Definition => ({
  name: 'do_it',
  description,
  inputSchema: { type: 'object', ...inputSchema },
})

const properties = { a: { type: 'string' } }
const SAMPLES: readonly (readonly [string, Definition])[] = [
  ['plain', tool({ properties, required: ['a'] })],
  ['without properties', tool({})],
  ['with an array that names no items', tool({ properties: { list: { type: 'array' } } })],
  [
    'with an array of such arrays',
    tool({ properties: { list: { type: 'array', items: { type: 'array' } } } }),
  ],
  ...['anyOf', 'oneOf', 'allOf'].map(
    (keyword) =>
      [`with ${keyword} at the top`, tool({ properties, [keyword]: [{ required: ['a'] }] })] as const,
  ),
  ['with not at the top', tool({ properties, not: { required: ['b'] } })],
  ['with enum at the top', tool({ properties, enum: [{ a: 'x' }] })],
  ['with anyOf further down', tool({ properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } })],
  ['with a parameter that has a blank in its name', tool({ properties: { 'a b': { type: 'string' } } })],
  ['with a long parameter name', tool({ properties: { ['a'.repeat(65)]: { type: 'string' } } })],
  ['with a long description', tool({ properties }, 'x'.repeat(1025))],
  ['with the longest description', tool({ properties }, 'x'.repeat(1024))],
  ['that describes no object', tool({ type: 'string', properties })],
  ['with a keyword that holds nonsense', tool({ properties: { a: { type: 'text' } } })],
  ['with a reference that leads nowhere', tool({ properties: { a: { $ref: '#/$defs/gone' } } })],
  ['with definitions', tool({ properties: { a: { $ref: '#/$defs/b' } }, $defs: { b: { type: 'string' } } })],
]

describe.each(Object.entries(endpoints))('%s', (wire, violationOf) => {
  it.each(SAMPLES)('a definition %s: the rules say what the endpoint does', (_, sample) => {
    expect(wireRefusal(sample, wire) === undefined).toBe(violationOf(sample) === undefined)
  })

  it('takes whatever was fitted to it, by both', () => {
    const leaf = fc.record({
      type: fc.constantFrom('string', 'array', 'object', 'integer'),
      description: fc.string({ maxLength: 5 }),
    })
    const schema = fc.record({
      properties: fc.dictionary(fc.string({ minLength: 1, maxLength: 70 }), leaf, { maxKeys: 4 }),
      anyOf: fc.option(fc.constant([{ required: ['a'] }]), { nil: undefined }),
    })
    fc.assert(
      fc.property(schema, fc.string({ maxLength: 2000 }), (given, description) => {
        const { anyOf, ...rest } = given
        const inputSchema = normaliseSchema({ type: 'object', ...rest, ...(anyOf ? { anyOf } : {}) })
        const { tool: sent } = fitWire({ name: 'do_it', description, inputSchema }, wire)
        expect(wireRefusal(sent, wire)).toBeUndefined()
        expect(violationOf(sent)).toBeUndefined()
      }),
      { numRuns: 60 },
    )
  })
})
