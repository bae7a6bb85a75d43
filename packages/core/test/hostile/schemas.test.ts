/** No provider rejects a request because of a server's schema, and a valid schema is sent unchanged. */
import { Validator } from '@cfworker/json-schema'
import type { Tool } from '@toolwell/core'
import { findSchemaProblems, fitWire, normaliseSchema } from '@toolwell/core/internal'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  responsesProtocol,
  type ScriptedReply,
} from '@toolwell/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../../test/setup/tier.ts'
import { keywordObjection } from '../../../testing/src/shared/schema-keywords.js'
import { objectSchema } from '../../src/adapters/shared/tools.js'
import { checkArguments } from '../../src/schema/validation.js'
import { tool } from '../support/tools.js'
import type { WireHarness } from '../support/wire-harness.js'
import { anthropicHarness } from '../support/wires/anthropic.js'
import { googleHarness } from '../support/wires/google.js'
import { openaiChatHarness } from '../support/wires/openai-chat.js'
import { openaiResponsesHarness } from '../support/wires/openai-responses.js'

type Schema = Tool['inputSchema']
const [anthropic, chat, responses, google] = [
  anthropicProtocol(),
  chatProtocol({ maxDescription: 1024 }),
  responsesProtocol(),
  googleProtocol(),
]
const messages = [{ role: 'user', content: 'x' }]

/** The strict endpoint's objection to a request with this schema, per wire. */
const refusal: Record<string, (name: string, schema: Schema) => unknown> = {
  anthropic: (name, input_schema) =>
    anthropic.violationOf({ model: 'm', max_tokens: 1, messages, tools: [{ name, input_schema }] }),
  'openai-chat': (name, parameters) =>
    chat.violationOf({ model: 'm', messages, tools: [{ type: 'function', function: { name, parameters } }] }),
  'openai-responses': (name, parameters) =>
    responses.violationOf({
      model: 'm',
      input: 'x',
      tools: [{ type: 'function', name, parameters, strict: false }],
    }),
  google: (name, parametersJsonSchema) =>
    google.violationOf({
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      tools: [{ functionDeclarations: [{ name, parametersJsonSchema }] }],
    }),
}
const WIRES = Object.keys(refusal)

const asSent = (inputSchema: Schema, wire: string) =>
  fitWire({ name: 'list', description: 'Lists.', inputSchema }, wire)
const refusalsOf = (inputSchema: Schema) =>
  WIRES.flatMap((wire) => {
    const { tool: sent } = asSent(inputSchema, wire)
    const found = refusal[wire]?.('list', objectSchema(sent))
    return found === undefined ? [] : [{ wire, found }]
  })

/** The form in which a property with this schema is sent, and the reported problem. */
const sent = (schema: unknown, more: object = {}) => {
  const made = normaliseSchema({ type: 'object', properties: { a: schema }, ...more })
  return (made.properties as { a: unknown }).a
}

describe('a property whose schema is not sound', () => {
  it.each([
    [
      'a type that is none',
      { type: 'strin', title: 'A' },
      { title: 'A', description: 'Also given: {"type":"strin"}' },
    ],
    ['a type in capitals', { type: 'STRING' }, { type: 'string' }],
    ['a type twice', { type: ['string', 'string'] }, { type: ['string'] }],
    [
      'a reference to nothing',
      { $ref: '#/$defs/Gone' },
      { description: 'Also given: {"$ref":"#/$defs/Gone"}' },
    ],
    [
      'a reference to elsewhere',
      { $ref: 'https://example.com/a.json' },
      { description: 'Also given: {"$ref":"https://example.com/a.json"}' },
    ],
    [
      'a reference that does not decode to text',
      { $ref: '#/%' },
      { description: 'Also given: {"$ref":"#/%"}' },
    ],
    [
      'a reference that does not decode further on',
      { $ref: '#/%zz/nope' },
      { description: 'Also given: {"$ref":"#/%zz/nope"}' },
    ],
    [
      'a reference to what holds schemas',
      { $ref: '#/properties' },
      { description: 'Also given: {"$ref":"#/properties"}' },
    ],
    [
      'a reference of an old draft to nothing',
      { $recursiveRef: '#/nope' },
      { description: 'Also given: {"$recursiveRef":"#/nope"}' },
    ],
    [
      'a reference to itself',
      { $ref: '#/properties/a' },
      { description: 'Also given: {"$ref":"#/properties/a"}' },
    ],
    ['a vocabulary that is none', { $vocabulary: { a: 1 }, title: 'A' }, { title: 'A' }],
    [
      'a pattern that is none',
      { type: 'string', pattern: '[' },
      { type: 'string', description: 'Also given: {"pattern":"["}' },
    ],
    ['no schema', 5, {}],
    ['a word', 'a path', { description: 'a path' }],
    [
      'an enum that is no list',
      { enum: 'a', description: 'A.' },
      { description: 'A.\n\nAlso given: {"enum":"a"}' },
    ],
    ['an enum of nothing', { enum: [] }, {}],
    ['an enum with a value twice', { enum: ['a', 'b', 'a'] }, { enum: ['a', 'b'] }],
    [
      'a bound in quotes',
      { minimum: '3', maximum: 5 },
      { maximum: 5, description: 'Also given: {"minimum":"3"}' },
    ],
    ['a bound of an old draft', { minimum: 3, exclusiveMinimum: true }, { exclusiveMinimum: 3 }],
    ['a bound that old drafts include', { maximum: 3, exclusiveMaximum: false }, { maximum: 3 }],
    ['a length below zero', { minLength: -1 }, { description: 'Also given: {"minLength":-1}' }],
    ['a mark of its own', { required: true }, { description: 'Also given: {"required":true}' }],
    ['names that are none', { required: ['a', 1, 'a'] }, { required: ['a'] }],
    [
      'items by place, of an old draft',
      { items: [{ type: 'string' }], additionalItems: false },
      { prefixItems: [{ type: 'string' }], items: false },
    ],
    ['a choice of nothing', { anyOf: [] }, {}],
    [
      'a negation of what is lost',
      { not: { type: 'strin' } },
      { description: 'Also given: {"not":{"type":"strin"}}' },
    ],
    [
      'names by a pattern that is none',
      { patternProperties: { '(': {}, '^x': {} }, additionalProperties: false },
      {
        patternProperties: { '^x': {} },
        description: 'Also given: {"patternProperties":{"(":{}},"additionalProperties":false}',
      },
    ],
    [
      'a condition that is lost',
      Object.fromEntries([
        ['if', 5],
        ['then', { type: 'string' }],
      ]),
      { description: 'Also given: {"if":5,"then":{"type":"string"}}' },
    ],
  ])('by %s keeps the rest, and the description mentions the lost part', (_, given, made) => {
    const schema = { type: 'object', properties: { a: given } }
    expect(sent(given)).toEqual(made)
    expect(keywordObjection(schema)).toBeDefined()
    expect(refusalsOf(schema)).toEqual([])
    const [problem] = findSchemaProblems(schema)
    expect(problem?.path).toMatch(/^properties\.a/)
    expect(problem?.problem.length).toBeGreaterThan(5)
  })

  it('is negated by reference: what it leads to is looser, so the negation goes', () => {
    const $defs = { Odd: { type: 'strin' } }
    expect(sent({ not: { $ref: '#/$defs/Odd' } }, { $defs })).toEqual({
      description: 'Also given: {"not":{"$ref":"#/$defs/Odd"}}',
    })
  })

  it.each([
    ['an anchor in a default', '#foo', { b: { default: { $anchor: 'foo' } } }],
    ['a default', '#/properties/b/default', { b: { default: { type: 'strin' } } }],
    ['a keyword of its own', '#/properties/b/x-own/q', { b: { 'x-own': { q: { type: 'strin' } } } }],
    ['an entry of an enum', '#/properties/b/enum/0', { b: { enum: [{ type: 'strin' }] } }],
  ])('refers to %s, which is data and no schema', (_, $ref, others) => {
    const schema = { type: 'object', properties: { a: { $ref }, ...others } }
    expect(keywordObjection(schema)).toContain('/properties/a/$ref cannot be resolved')
    expect(normaliseSchema(schema)).toEqual({
      type: 'object',
      properties: { a: { description: `Also given: ${JSON.stringify({ $ref })}` }, ...others },
    })
    expect(findSchemaProblems(schema)).toMatchObject([{ path: 'properties.a.$ref' }])
    expect(refusalsOf(schema)).toEqual([])
  })

  it('has an anchor that another schema has: references lead to the first', () => {
    const properties = {
      a: { $anchor: 'z' },
      b: { $anchor: 'z' },
      c: { $dynamicAnchor: 'z' },
      d: { $ref: '#z' },
    }
    const schema = { type: 'object', properties }
    expect(keywordObjection(schema)).toContain('is not unique')
    expect(normaliseSchema(schema).properties).toEqual({
      a: { $anchor: 'z' },
      b: {},
      c: {},
      d: { $ref: '#z' },
    })
    expect(findSchemaProblems(schema).map(({ path }) => path)).toEqual([
      'properties.b.$anchor',
      'properties.c.$dynamicAnchor',
    ])
    expect(refusalsOf(schema)).toEqual([])
  })

  it('is one of several that only refer to each other; what refers to them from outside stays', () => {
    const $defs = {
      b: { $ref: '#/$defs/c' },
      c: { $ref: '#here', $anchor: 'there' },
      d: { $ref: '#/$defs/b' },
    }
    const whole = { type: 'object', properties: { a: { $ref: '#/$defs/d' } }, $defs }
    const schema = { ...whole, $defs: { ...$defs, b: { ...$defs.b, $anchor: 'here' } } }
    expect(keywordObjection(schema)).toContain('leads only to itself')
    expect(normaliseSchema(schema)).toEqual({
      ...whole,
      $defs: {
        b: { $anchor: 'here', description: 'Also given: {"$ref":"#/$defs/c"}' },
        c: { $anchor: 'there', description: 'Also given: {"$ref":"#here"}' },
        d: { $ref: '#/$defs/b' },
      },
    })
    expect(refusalsOf(schema)).toEqual([])
  })

  it('is referred to by its place in a list of an old draft', () => {
    const properties = { a: { items: [{ type: 'string' }] }, b: { $ref: '#/properties/a/items/0' } }
    const made = normaliseSchema({ type: 'object', properties })
    expect(made.properties).toEqual({
      a: { prefixItems: [{ type: 'string' }] },
      b: { $ref: '#/properties/a/prefixItems/0' },
    })
  })

  it('was referenced at the top, which is not allowed', () => {
    const schema = {
      type: 'object',
      properties: { a: { $ref: '#/anyOf/0' } },
      anyOf: [{ type: 'object' }],
    }
    expect(refusalsOf(schema)).toEqual([])
  })

  it('tells no more than helps', () => {
    const { description } = sent({ type: 'x'.repeat(100_000) }) as { description: string }
    expect(description).toBe('Also given: type')
  })
})

describe('references', () => {
  it.each([
    ['#'],
    ['#/$defs/A'],
    ['#/$defs/a~1b'],
    ['#/$defs/a%2Fb'],
    ['#/$defs/a%7E1b'],
    ['#/$defs/a%20c'],
    ['#/$defs/%25'],
    ['#/$defs/default/properties/default'],
    ['#/$defs/length/prefixItems/0'],
    ['#here'],
    ['https://example.com/own#/$defs/A'],
  ])('that lead somewhere stay: %s', ($ref) => {
    const schema = {
      $id: 'https://example.com/own',
      type: 'object',
      properties: { a: { $ref } },
      $defs: {
        ...{ A: {}, 'a/b': {}, 'a c': true, '%': {}, here: { $anchor: 'here' } },
        default: { properties: { default: { $ref: '#/$defs/default' } } },
        length: { prefixItems: [{}] },
      },
    }
    expect(keywordObjection(schema)).toBeUndefined()
    expect(normaliseSchema(schema)).toBe(schema)
  })
})

const KEYWORDS =
  '$anchor $comment $defs $dynamicAnchor $dynamicRef $id $recursiveRef $ref $schema $vocabulary additionalItems additionalProperties allOf anyOf const contains contentSchema default definitions dependencies dependentRequired dependentSchemas deprecated description else enum examples exclusiveMaximum exclusiveMinimum format if items maxItems maxLength maxProperties maximum minItems minLength minimum multipleOf not oneOf pattern patternProperties prefixItems properties propertyNames readOnly required then title type unevaluatedItems unevaluatedProperties uniqueItems x-own'.split(
    ' ',
  )
const name = fc.constantFrom('a', 'b', 'properties', 'default', 'not', '[', '__proto__', 'a b')
const junk = fc.constantFrom<unknown>(
  ...[null, 5, -1, 1.5, '', 'x', '[', 'string', 'array', 'strin', true, false, [], [1], ['a', 'a'], ['a']],
  ...[[null], ['string', 'array'], {}, '#', '#/$defs/a', '#/properties/a', '#/not', '#a', 'https://x/y'],
  ...['a', '#/', '#/%', '#/$defs/a%20b', '#/x-own', '#/default', '#/properties/a/default', { a: true }],
)
const { schema: anySchema } = fc.letrec<{ schema: Record<string, unknown>; value: unknown }>((tie) => ({
  schema: fc.dictionary(fc.constantFrom(...KEYWORDS), tie('value'), { maxKeys: 5 }),
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    junk,
    tie('schema'),
    fc.array(tie('schema'), { maxLength: 3 }),
    fc.dictionary(name, fc.oneof(tie('schema'), junk), { maxKeys: 3 }),
  ),
}))
const anyInput = anySchema.map((schema): Schema => ({ ...schema, type: 'object' }))

describe('any schema', () => {
  it('is accepted by every provider in its sent form, and that form is stable', () => {
    fc.assert(
      fc.property(anyInput, (schema) => {
        expect(refusalsOf(schema)).toEqual([])
        const made = normaliseSchema(schema)
        expect(normaliseSchema(made)).toBe(made)
      }),
      { numRuns: runs(1500) },
    )
  })

  it('that is valid stays identical, and an invalid one is reported with its place', () => {
    let sound = 0
    fc.assert(
      fc.property(anyInput, (schema) => {
        const isSound = keywordObjection(schema) === undefined
        if (isSound) sound++
        expect(normaliseSchema(schema) === schema).toBe(isSound)
        expect(findSchemaProblems(schema).length > 0).toBe(!isSound)
      }),
      { numRuns: runs(1500) },
    )
    expect(sound).toBeGreaterThan(20)
  })

  it('never refuses arguments that it allowed as it was', () => {
    let allowed = 0
    const check = (inputSchema: Schema, value: unknown) =>
      checkArguments({ name: 'x', description: '', inputSchema }, value).kind
    /** By the validator itself, as far as it gets. */
    const allows = (schema: Schema, value: unknown) => {
      try {
        return new Validator(structuredClone(schema), '2020-12').validate(value).valid
      } catch {
        return false
      }
    }
    const value = fc.dictionary(
      fc.constantFrom('a', 'b', 'c'),
      fc.constantFrom<unknown>(1, 'x', [], ['x', 1], { a: 1 }, null),
    )
    fc.assert(
      fc.property(anyInput, value, (schema, input) => {
        // As booleans these belong to another draft.
        fc.pre(!/"exclusiveM\w+":(?:true|false)/.test(JSON.stringify(schema)))
        if (keywordObjection(schema) === undefined || !allows(schema, input)) return
        allowed++
        expect(check(normaliseSchema(schema), input)).not.toBe('invalid')
      }),
      { numRuns: runs(3000) },
    )
    expect(allowed).toBeGreaterThan(20)
  })

  it('of very many references, each to the next, is looked through once', () => {
    const $defs: Record<string, unknown> = { d20000: { type: 'string' } }
    for (let at = 0; at < 20_000; at++) $defs[`d${at}`] = { $ref: `#/$defs/d${at + 1}` }
    const schema = { type: 'object', $defs }
    expect(normaliseSchema(schema)).toBe(schema)
  })

  it('of many levels is looked through to the end', () => {
    let schema: Record<string, unknown> = { type: 'strin' }
    for (let depth = 0; depth < 400; depth++) schema = { type: 'object', properties: { a: schema } }
    expect(refusalsOf(schema)).toEqual([])
    expect(JSON.stringify(normaliseSchema(schema))).toContain('Also given')
  })
})

describe.each<WireHarness>([anthropicHarness, openaiResponsesHarness, openaiChatHarness, googleHarness])(
  'a request on $name',
  (harness) => {
    it.each(harness.deliveries)('is taken with a bad tool among good ones (%s)', async (delivery) => {
      const properties = { path: { type: 'strin' }, mode: { $ref: '#/$defs/Gone' }, count: 5 }
      const received: unknown[] = []
      const bad = tool('bad', {
        source: 'odd',
        inputSchema: { type: 'object', properties, required: ['path'] },
        execute: (input) => `ran ${received.push(input)}`,
      })
      const call = (input: object) =>
        delivery === 'bridge'
          ? { name: 'tool_call', arguments: { name: 'odd__bad', arguments: input } }
          : { name: 'odd__bad', arguments: input }
      const script: ScriptedReply[] = [
        { calls: [{ name: 'tool_search', arguments: { query: 'select:odd__bad' } }] },
        { calls: [call({ mode: 'x' })] },
        { calls: [call({ path: 'p', mode: 'x' })] },
        { text: 'done' },
      ]
      const host = await harness.open({ tools: [tool('read_file'), bad], mode: 'on', delivery }, script)
      await host.ask('go')
      expect(host.requests.map(({ violation }) => violation)).toEqual([
        undefined,
        undefined,
        undefined,
        undefined,
      ])
      expect(received.at(-1)).toEqual({ path: 'p', mode: 'x' })
      // The valid part of the schema is still checked if the host validates arguments.
      if (delivery === 'bridge') expect(received).toHaveLength(1)
    })
  },
)
