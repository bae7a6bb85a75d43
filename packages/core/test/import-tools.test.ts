/** Lists of tools for `importTools`: each entry point reads its own format, and for any other names the right one. No tool is lost silently. */

import { createToolwell, defineTool, type Tool } from '@toolwell/core'
import { importTools as importAi } from '@toolwell/core/ai-sdk'
import { importTools as importAnthropic } from '@toolwell/core/anthropic'
import { google, importTools as importGoogle } from '@toolwell/core/google'
import { importTools as importChat, openaiChat } from '@toolwell/core/openai-chat'
import { importTools as importResponses } from '@toolwell/core/openai-responses'
import { asSchema } from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'

const schema = { type: 'object' as const, properties: { n: { type: 'integer' } }, required: ['n'] }
const base = { name: 'count', description: 'Counts' }
const declaration = { ...base, parameters: schema }
const forms = {
  'openai-chat': { type: 'function', function: { ...base, parameters: schema } },
  'openai-responses': { type: 'function', ...base, parameters: schema },
  anthropic: { ...base, input_schema: schema },
  google: { functionDeclarations: [declaration] },
} as const
type Name = keyof typeof forms
const names = Object.keys(forms) as Name[]
const doors: Readonly<Record<Name, (tools: never, describe?: () => object) => readonly Tool[]>> = {
  'openai-chat': importChat,
  'openai-responses': importResponses,
  anthropic: importAnthropic,
  google: importGoogle,
}
const reading = (name: Name, ...tools: readonly unknown[]) => doors[name](tools as never)
const run = () => ({ execute: () => 'ran' })

describe.each(names)('importTools of %s', (name) => {
  it('reads its own form', () => {
    expect(doors[name]([forms[name]] as never, run)).toMatchObject([{ ...base, inputSchema: schema }])
    expect(createToolwell({ tools: reading(name, forms[name]) }).explain('count')).toBeDefined()
  })

  it.each(names.filter((other) => other !== name))('names the door that reads those of %s', (other) => {
    expect(() => reading(name, forms[other])).toThrow(
      `importTools of @toolwell/core/${other} reads a list of these`,
    )
    expect(() => reading(name, forms[name], forms[other])).toThrow(`@toolwell/core/${other}`)
  })

  it.each([
    ['of MCP', { ...base, inputSchema: schema }, /"count" cannot be imported: it is in the form of MCP/],
    [
      'of the AI SDK',
      { description: 'Counts', inputSchema: schema },
      /Entry 0 .*importTools of @toolwell\/core\/ai-sdk/,
    ],
    [
      'of the provider',
      { type: 'web_search' },
      /Entry 0 .*"web_search", so it is not your own function.*as providerTools/,
    ],
    [
      'of the provider, with a name',
      { type: 'bash_20250124', name: 'bash' },
      /"bash" cannot be imported.*"bash_20250124"/,
    ],
    [
      'that is custom',
      { type: 'custom', custom: { name: 'patch' } },
      /"custom", so it is not your own function/,
    ],
    ['that is a text', 'count', /Entry 0 .*is not an object/],
    ['that is null', null, /Entry 0 .*is not an object/],
    ['without anything', {}, /is not in the form of this wire, \{/],
  ])('says what to do about a tool %s', (_, tool, says) => {
    expect(() => reading(name, tool)).toThrow(says)
  })

  it.each([
    ['an object', { count: forms[name] }, 'a list of tools, not object'],
    ['one tool', forms[name], 'not one tool by itself: put it into a list.'],
    ['a promise', Promise.resolve([]), 'not a promise: await it.'],
    ['nothing', undefined, 'a list of tools, not undefined'],
  ])('takes a list, and says so to %s', (_, given, says) => {
    expect(() => doors[name](given as never)).toThrow(says)
  })

  it('takes nothing from a description that is undefined', () => {
    const [tool] = doors[name]([forms[name]] as never, () => ({ execute: undefined, name: undefined }))
    expect(tool).toEqual({ ...base, inputSchema: schema })
  })
})

describe('Gemini', () => {
  it('reads declarations in tools, by themselves and in both', () => {
    const other = { name: 'list', parametersJsonSchema: schema }
    const named = (...tools: readonly unknown[]) => reading('google', ...tools).map(({ name }) => name)
    expect(named(declaration, other)).toEqual(['count', 'list'])
    expect(named({ functionDeclarations: [declaration, other] })).toEqual(['count', 'list'])
    expect(named(forms.google, { functionDeclarations: [other] })).toEqual(['count', 'list'])
    expect(named({ functionDeclarations: [] })).toEqual([])
  })

  it('sends the very declarations while deferral is off', async () => {
    const tools = importGoogle([forms.google])
    const adapter = google(await createToolwell({ tools, mode: 'off' }).open({ id: 'a' }))
    const { parts } = await adapter.begin([{ role: 'user', parts: [{ text: 'Go.' }] }])
    expect(parts.tools?.[0]?.functionDeclarations).toBe(forms.google.functionDeclarations)
  })

  it.each([[{ googleSearch: {} }], [{ functionDeclarations: [declaration], googleSearch: {} }]])(
    'names what the provider runs: %j',
    (tool) => {
      expect(() => reading('google', forms.google, tool)).toThrow(
        /Entry 1 .*"googleSearch", so it is not your own function/,
      )
    },
  )

  it('accepts the entry point that the createToolwell error names', () => {
    for (const tool of [forms.google, { ...base, parametersJsonSchema: schema }]) {
      const tools = [tool] as unknown as Tool[]
      expect(() => createToolwell({ tools })).toThrow('@toolwell/core/google reads a list of these')
      expect(createToolwell({ tools: reading('google', tool) }).explain('count')).toBeDefined()
    }
  })
})

describe('the AI SDK', () => {
  const counted = { description: 'Counts', inputSchema: z.object({}) }
  it.each([
    ['a list', [forms['openai-chat']], asSchema, 'with the names of tools as keys, not a list'],
    ['a promise', Promise.resolve({}), asSchema, 'not a promise: await it'],
    ['tools without asSchema', { count: counted }, undefined, "import { asSchema } from 'ai'"],
    ['a tool that is none', { count: 1 }, asSchema, '"count" cannot be imported: it is not an object'],
    [
      'a tool of Anthropic',
      { count: { input_schema: schema } },
      asSchema,
      'importTools of @toolwell/core/anthropic',
    ],
    ['a tool without a schema', { count: { description: 'Counts' } }, asSchema, 'it has no inputSchema'],
  ])('%s is told', async (_, tools, as, says) => {
    await expect(importAi(tools as never, as as never)).rejects.toThrow(says)
  })
})

describe('a promise that nobody awaited', () => {
  const promise = importAi({}, asSchema) as never
  it.each<[string, () => unknown]>([
    ['tools', () => createToolwell({ tools: promise })],
    ['a tool', () => createToolwell({ tools: [promise] })],
    ['a source', () => createToolwell().catalogue.setSource('a', promise)],
    ['the tools of a source', () => createToolwell().catalogue.setSource('a', { tools: promise })],
  ])('is named as %s, with nothing else', (_, give) => {
    expect(give).toThrow(/is a promise; await it|not a promise: await it\.$/)
  })

  it('always comes with a fix in its finding', () => {
    const { catalogue } = createToolwell()
    catalogue.setSource('a', { tools: [promise] })
    expect(catalogue.findings).toMatchObject([{ detail: expect.stringContaining('is a promise; await it') }])
  })
})

describe('a tool is refused in words that fit', () => {
  it.each([
    [{ ...base, inputSchema: schema, execute: 'count' }, 'has an execute that is not a function'],
    [{ ...base, inputSchema: schema, timeout: 'long' }, 'has a timeout that is not a number'],
    [
      { ...base, inputSchema: { type: 'OBJECT' } },
      'of type "OBJECT"; the top level of a tool\'s input must be "object", in small letters',
    ],
    [
      { ...base, inputSchema: { type: 'objct' } },
      'of type "objct"; the top level of a tool\'s input must be "object"; is "object" meant?',
    ],
    [
      { ...base, inputSchema: { type: 'array' } },
      'of type "array"; the top level of a tool\'s input must be "object".',
    ],
    [{ ...base, inputSchema: { type: 'You must obey' } }, 'of another type; the top level'],
    [[{ ...base, inputSchema: schema }], 'is a list; give its tools one by one: [...list]'],
  ])('%j', (tool, says) => {
    expect(() => createToolwell({ tools: [tool as never] })).toThrow(says)
  })

  it('options that are a list or a number are refused by the name of what takes them', async () => {
    const conversation = await createToolwell().open({ id: 'a' })
    expect(() => openaiChat(conversation, [] as never)).toThrow('openaiChat takes an object of options')
    expect(() => createToolwell(1 as never)).toThrow('createToolwell takes an object')
  })

  it('a schema of zod/mini is named as such, and the advice works', () => {
    const inputSchema = mini.object({ n: mini.int() })
    const validate = (input: unknown) => inputSchema['~standard'].validate(input)
    const given = { ...base, inputSchema, execute: () => 'ran' } as never
    expect(() => defineTool(given)).toThrow(/of zod\/mini, whose schemas do not convert.*z\.toJSONSchema/)
    expect(() => defineTool(given)).not.toThrow(/update zod/)
    const json = mini.toJSONSchema(inputSchema, { io: 'input' }) as Tool['inputSchema']
    expect(createToolwell({ tools: [{ ...base, inputSchema: json, validate }] }).catalogue.findings).toEqual(
      [],
    )
  })
})

describe('the types of importTools', () => {
  it('accept only the format of their wire', () => {
    const handlers: Readonly<Record<string, () => string>> = { count: () => 'ran' }
    const chat = [{ type: 'function', function: { ...base, parameters: schema } }]
    expect(importChat(chat, ({ function: { name } }) => ({ execute: handlers[name] }))).toHaveLength(1)
    expect(
      importChat([{ type: 'function', function: { name: 'a', description: 'A', parameters: schema } }]),
    ).toHaveLength(1)
    // @ts-expect-error a tool of the Responses API
    expect(() => importChat([{ type: 'function', name: 'a', parameters: schema }])).toThrow(
      'openai-responses',
    )
    const responses = [{ type: 'function', name: 'a', parameters: schema }]
    // @ts-expect-error the same in a variable
    expect(() => importChat(responses)).toThrow('openai-responses')
    // @ts-expect-error a tool of Anthropic
    expect(() => importChat([forms.anthropic])).toThrow('anthropic')
    expect(
      importGoogle([{ functionDeclarations: [declaration] }], ({ name = '' }) => ({
        execute: handlers[name],
      })),
    ).toHaveLength(1)
    expect(importGoogle([declaration], ({ parameters }) => ({ defer: parameters === schema }))).toMatchObject(
      [{ defer: true }],
    )
    expect(importAnthropic([forms.anthropic], ({ name }) => ({ execute: handlers[name] }))).toHaveLength(1)
    expect(
      importResponses([forms['openai-responses']], ({ name }) => ({ execute: handlers[name] })),
    ).toHaveLength(1)
  })
})
