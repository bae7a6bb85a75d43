/** Tools whose schema comes from a validation library, and tools in the shapes of other libraries. */
import { createToolwell, defineTool, type JsonSchema, type Tool } from '@toolwell/core'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import { type } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { z as z3 } from 'zod/v3'
import { lastResult, startHost } from './support/host.js'

const base = { name: 'book', description: 'Books a table' }

const zodTool = (seen: unknown[] = []) =>
  defineTool({
    ...base,
    inputSchema: z.object({
      guests: z.number().int().min(1),
      at: z.string().transform((text) => new Date(text)),
      note: z.string().default('none'),
    }),
    execute: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ guests: number; at: Date; note: string }>()
      seen.push(input)
      return 'booked'
    },
  })

const valibotTool = () =>
  defineTool({
    ...base,
    inputSchema: toStandardJsonSchema(v.object({ guests: v.pipe(v.number(), v.minValue(1)) })),
    execute: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ guests: number }>()
      return 'booked'
    },
  })

const arktypeTool = () =>
  defineTool({
    ...base,
    inputSchema: type({ guests: 'number >= 1' }),
    execute: (input) => {
      expectTypeOf(input).toEqualTypeOf<{ guests: number }>()
      return 'booked'
    },
  })

/** The answer to one call of the tool, and the definition that was sent. */
async function call(tool: Tool, input: unknown, delivery: 'append' | 'bridge' = 'append') {
  const name = delivery === 'bridge' ? 'tool_call' : 'book'
  const given = delivery === 'bridge' ? { name: 'book', arguments: input } : input
  const host = await startHost({ tools: [{ ...tool, defer: delivery === 'bridge' }], mode: 'on', delivery }, [
    { calls: [{ name, arguments: given }] },
    { text: 'ok' },
  ])
  await host.ask('go')
  return { answer: lastResult(host), sent: host.body(0).tools?.[0]?.function }
}

describe('a schema of a library', () => {
  it('reaches the model as JSON Schema of what it accepts', async () => {
    const { sent } = await call(zodTool(), {})
    expect(sent?.parameters).toEqual({
      type: 'object',
      properties: {
        guests: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
        at: { type: 'string' },
        note: { type: 'string', default: 'none' },
      },
      required: ['guests', 'at'],
    })
  })

  it.each(['append', 'bridge'] as const)(
    'decides by its own validator, and its output runs (%s)',
    async (delivery) => {
      const seen: unknown[] = []
      const { answer } = await call(zodTool(seen), { guests: 2, at: '2026-01-02' }, delivery)
      expect(answer).toContain('booked')
      expect(seen).toEqual([{ guests: 2, at: new Date('2026-01-02'), note: 'none' }])
    },
  )

  it.each([
    ['zod', zodTool],
    ['valibot', valibotTool],
    ['arktype', arktypeTool],
  ])('%s: a mismatch names the place, and nothing runs', async (_, make) => {
    const { answer } = await call(make(), { guests: 0, at: 'now' })
    expect(answer).toContain('The arguments do not match the schema of book. Nothing was run.')
    expect(answer).toContain('guests')
    // A comparison is said in words: the sign would be an escape.
    expect(answer).toMatch(/at least 1/)
    expect(answer).not.toContain('u003')
  })

  it.each([
    [
      'check',
      v.pipe(
        v.string(),
        v.trim(),
        v.check((name) => name !== 'x', 'not x'),
        v.minLength(1),
      ),
    ],
    [
      'checkAsync',
      v.pipeAsync(
        v.string(),
        v.checkAsync(async (name) => name !== 'x', 'not x'),
        v.minLength(1),
      ),
    ],
  ])('valibot: a check by %s is not in the sent schema, but still decides', async (_, name) => {
    // Its types leave async ones out; it takes them.
    const schema = v.objectAsync({ name }) as unknown as v.GenericSchema<{ name: string }>
    const inputSchema = toStandardJsonSchema(schema)
    const tool = defineTool({ ...base, inputSchema, execute: () => 'booked' })
    const { answer, sent } = await call(tool, { name: 'x' })
    expect(sent?.parameters).toMatchObject({ properties: { name: { type: 'string', minLength: 1 } } })
    expect(answer).toContain('not x')
    expect((await call(tool, { name: 'y' })).answer).toContain('booked')
  })

  it.each([
    ['zod 3', z3.object({ a: z3.string() }), /zod 3, which has no converter.*zod 4/],
    [
      'bare valibot',
      v.object({ a: v.string() }),
      /toStandardJsonSchema\(schema\) from @valibot\/to-json-schema/,
    ],
    ['a date', z.object({ a: z.date() }), /zod cannot write as JSON Schema: "Date.*z\.iso\.datetime\(\)/],
    [
      'a date of valibot',
      toStandardJsonSchema(v.object({ a: v.date() })),
      /valibot cannot write as JSON Schema: "The \\"date\\" schema cannot.*v\.isoTimestamp\(\)/,
    ],
    [
      'another library',
      { '~standard': { version: 1 as const, vendor: 'mine', validate: (value: unknown) => ({ value }) } },
      /of mine, which offers no JSON Schema; give JSON Schema as inputSchema/,
    ],
    [
      'a zod that is older still',
      { _def: { typeName: 'ZodObject' }, parse: (value: unknown) => value },
      /of zod 3, which has no converter.*zod 4.*zod-to-json-schema makes as inputSchema\.$/,
    ],
  ])('%s is refused with what to do, with and without defineTool', (kind, given, says) => {
    const inputSchema = given as unknown as JsonSchema
    expect(() => defineTool({ ...base, inputSchema })).toThrow(says)
    // What can be converted is only to be wrapped.
    if (!kind.startsWith('a date'))
      expect(() => createToolwell({ tools: [{ ...base, inputSchema }] })).toThrow(says)
    expect(() => defineTool({ ...base, inputSchema })).not.toThrow('z.toJSONSchema(schema))')
  })

  it('of another top level than an object is refused when it is used', () => {
    const tool = defineTool({ ...base, inputSchema: z.string() })
    expect(() => createToolwell({ tools: [tool] })).toThrow(/type "string"; the top level .* "object"/)
  })

  it('is rejected if not wrapped, with the advice to wrap it', () => {
    const tool = { ...base, inputSchema: z.object({}) } as unknown as Tool
    expect(() => createToolwell({ tools: [tool] })).toThrow(/a schema of zod; wrap the tool in defineTool/)
    const callable = { ...base, inputSchema: type({}) } as unknown as Tool
    expect(() => createToolwell({ tools: [callable] })).toThrow(/a schema of arktype; wrap/)
  })
})

describe('JSON Schema written out in code', () => {
  it('types the arguments', () => {
    defineTool({
      ...base,
      inputSchema: {
        type: 'object',
        properties: {
          guests: { type: 'integer' },
          table: { enum: ['in', 'out'] },
          names: { type: 'array', items: { type: 'string' } },
          contact: { type: 'object', properties: { mail: { type: 'string' } }, required: ['mail'] },
          odd: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        },
        required: ['guests', 'contact'],
      },
      execute: (input) => {
        expectTypeOf(input).toEqualTypeOf<{
          guests: number
          contact: { mail: string }
          table?: 'in' | 'out'
          names?: string[]
          odd?: unknown
        }>()
      },
    })
    const known: Tool['inputSchema'] = { type: 'object' }
    defineTool({
      ...base,
      inputSchema: known,
      execute: (input) => expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>(),
    })
  })

  it('leaves no typing error to run time', () => {
    const inputSchema = z.object({ guests: z.number() })
    // @ts-expect-error the field is called alwaysLoad
    defineTool({ ...base, inputSchema, eager: true })
    // @ts-expect-error the same with JSON Schema
    defineTool({ ...base, inputSchema: { type: 'object' }, eager: true })
    // @ts-expect-error a tool has a description
    defineTool({ name: 'book', inputSchema })
    expect(() => {
      // @ts-expect-error a schema that nothing makes JSON Schema of
      defineTool({ ...base, inputSchema: z3.object({ guests: z3.number() }) })
    }).toThrow('zod 3')
    expect(() => {
      // @ts-expect-error the same
      defineTool({ ...base, inputSchema: v.object({ guests: v.number() }) })
    }).toThrow('toStandardJsonSchema')
    // @ts-expect-error the schema has no such field
    defineTool({ ...base, inputSchema, execute: ({ guest }) => guest })
  })

  it('stays the very tool that was given', () => {
    const tool = { ...base, inputSchema: { type: 'object' } } as const
    expect(defineTool(tool)).toBe(tool)
  })
})

describe('a tool in the shape of another library', () => {
  it.each([
    [
      'OpenAI, chat',
      { type: 'function', function: { name: 'book', parameters: {} } },
      /Tool "book" is in OpenAI's shape; importTools of @toolwell\/core\/openai-chat/,
    ],
    [
      'OpenAI, responses',
      { type: 'function', name: 'book', parameters: {} },
      /OpenAI's shape; importTools of @toolwell\/core\/openai-responses/,
    ],
    [
      'Anthropic',
      { name: 'book', input_schema: { type: 'object' } },
      /Anthropic's shape; importTools of @toolwell\/core\/anthropic/,
    ],
    [
      'Gemini',
      { functionDeclarations: [{ name: 'book' }] },
      /Gemini's shape; importTools of @toolwell\/core\/google/,
    ],
    [
      'Gemini, one declaration',
      { name: 'book', parametersJsonSchema: { type: 'object' } },
      /Gemini's shape; importTools of @toolwell\/core\/google/,
    ],
    [
      'LangChain',
      { name: 'book', description: 'Books', schema: z.object({}) },
      /give its schema as inputSchema to defineTool/,
    ],
    ['nothing', { name: 'book', description: 'Books' }, /has no inputSchema; give \{ "type": "object"/],
    [
      'fields of a schema',
      { name: 'book', description: 'Books', inputSchema: { guests: z.number() } },
      /fields are schemas of a library; make one schema of them: z\.object/,
    ],
    [
      'parameters alone',
      { name: 'book', parameters: { type: 'object' } },
      /has parameters and no inputSchema; give its parameters as inputSchema/,
    ],
    ['AI SDK', { description: 'Books', inputSchema: z.object({}) }, /importTools of @toolwell\/core\/ai-sdk/],
  ])('%s is told what to do', (_, tool, says) => {
    expect(() => createToolwell({ tools: [tool as unknown as Tool] })).toThrow(says)
  })

  it('rejects a record of tools, and says what to do', () => {
    const tools = { book: { description: 'Books', inputSchema: z.object({}) } } as unknown as Tool[]
    expect(() => createToolwell({ tools })).toThrow(/list of tools, not object.*importTools/)
    expect(() => createToolwell().catalogue.setSource('a', { tools })).toThrow(/importTools/)
  })

  it('MCP is taken as it is', async () => {
    const tool = { name: 'book', title: 'Book', inputSchema: { type: 'object' }, _meta: {}, icons: [] }
    const { sent } = await call(tool as unknown as Tool, {})
    expect(sent?.name).toBe('book')
  })
})
