/** Values that JSON cannot hold, or that servers refuse in it, never reach a request: on every wire, on and off. */
import { type Conversation, createToolwell, type Tool } from '@toolwell/core'
import * as messagesApi from '@toolwell/core/anthropic'
import * as geminiApi from '@toolwell/core/google'
import * as chatApi from '@toolwell/core/openai-chat'
import * as responsesApi from '@toolwell/core/openai-responses'
import { anthropicProtocol, chatProtocol, googleProtocol, responsesProtocol } from '@toolwell/testing'
import { describe, expect, it } from 'vitest'
import { toPlainJson } from '../src/base/data.js'
import { tool } from './support/tools.js'

const HALF = '\ud83d'
const HALVES = /\\ud[89a-f]/i

interface Turn {
  readonly parts: object
  readonly warnings: readonly string[]
  run(reply: unknown): Promise<{ messages: object[]; answers: readonly { text: string }[] }>
}
interface Wire {
  readonly name: string
  begin(conversation: Conversation, messages: readonly object[], system?: string): Promise<Turn>
  importHistory(conversation: Conversation, messages: readonly object[]): Promise<unknown>
  importTools(description: string): readonly Tool[]
  violationOf(parts: object): unknown
  user(text: string): object
  /** A reply with one call, and what the host keeps of it. */
  called(input: unknown, text?: string): { readonly reply: unknown; readonly kept: readonly object[] }
}

const schema = { type: 'object' as const, properties: {} }
const run = () => ({ execute: () => 'ran' })
const textOf = (input: unknown, text?: string) => text ?? JSON.stringify(input)

const wires: readonly Wire[] = [
  {
    name: 'anthropic',
    begin: (conversation, messages, system = 'Be brief.') =>
      messagesApi.anthropic(conversation).begin(messages as never, { system }) as never,
    importHistory: (conversation, messages) =>
      messagesApi.anthropic(conversation).importHistory(messages as never),
    importTools: (description) =>
      messagesApi.importTools([{ name: 'own', description, input_schema: schema }], run),
    violationOf: (parts) => anthropicProtocol().violationOf({ model: 'm', max_tokens: 9, ...parts }),
    user: (content) => ({ role: 'user', content }),
    called(input) {
      const reply = { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'own', input }] }
      return { reply, kept: [reply] }
    },
  },
  {
    name: 'google',
    begin: (conversation, messages, system = 'Be brief.') =>
      geminiApi.google(conversation).begin(messages as never, { systemInstruction: system }) as never,
    importHistory: (conversation, messages) =>
      geminiApi.google(conversation).importHistory(messages as never),
    importTools: (description) =>
      geminiApi.importTools([{ name: 'own', description, parameters: schema }], run),
    violationOf: (parts) => googleProtocol().violationOf(parts),
    user: (text) => ({ role: 'user', parts: [{ text }] }),
    called(args) {
      const reply = { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'own', args } }] }
      return { reply, kept: [reply] }
    },
  },
  {
    name: 'openai-chat',
    begin: (conversation, messages, system = 'Be brief.') =>
      chatApi
        .openaiChat(conversation)
        .begin([{ role: 'system', content: system }, ...messages] as never) as never,
    importHistory: (conversation, messages) =>
      chatApi.openaiChat(conversation).importHistory(messages as never),
    importTools(description) {
      const own = { type: 'function', function: { name: 'own', description, parameters: schema } }
      return chatApi.importTools([own], run)
    },
    violationOf: (parts) => chatProtocol().violationOf({ model: 'm', ...parts } as never),
    user: (content) => ({ role: 'user', content }),
    called(input, text) {
      const calls = [
        { id: 'c1', type: 'function', function: { name: 'own', arguments: textOf(input, text) } },
      ]
      const message = { role: 'assistant', content: null, tool_calls: calls }
      return { reply: { message, finish_reason: 'tool_calls' }, kept: [message] }
    },
  },
  {
    name: 'openai-responses',
    begin: (conversation, messages, system = 'Be brief.') =>
      responsesApi.openaiResponses(conversation).begin(messages as never, { instructions: system }) as never,
    importHistory: (conversation, messages) =>
      responsesApi.openaiResponses(conversation).importHistory(messages as never),
    importTools: (description) =>
      responsesApi.importTools(
        [{ type: 'function', name: 'own', description, parameters: schema, strict: false }],
        run,
      ),
    violationOf: (parts) => responsesProtocol().violationOf({ model: 'm', ...parts } as never),
    user: (content) => ({ role: 'user', content }),
    called(input, text) {
      const output = [{ type: 'function_call', call_id: 'c1', name: 'own', arguments: textOf(input, text) }]
      return { reply: { output }, kept: output }
    },
  },
]

const settings = [
  { mode: 'off' as const },
  ...(['native', 'append', 'bridge', 'eager'] as const).map((delivery) => ({
    mode: 'on' as const,
    delivery,
  })),
]

function nested(levels: number): object {
  let value: object = {}
  for (let level = 0; level < levels; level++) value = { a: value }
  return value
}

describe.each(wires)('$name', (wire) => {
  it('never sends half a surrogate pair, from any origin', async () => {
    for (const setting of settings) {
      const own = tool('own', { description: `cut ${HALF}`, execute: () => `cut ${HALF}` })
      const far = tool('far', {
        source: 'x',
        description: `cut ${HALF}`,
        inputSchema: { ...schema, title: HALF },
      })
      const conversation = await createToolwell({ tools: [own, far], ...setting }).open({ id: 'a' })
      const messages = [wire.user(`cut ${HALF}`)]
      const turn = await wire.begin(conversation, messages, `cut ${HALF}`)
      const { reply, kept } = wire.called({ value: `cut ${HALF}` })
      const ran = await turn.run(reply)
      expect(JSON.stringify(ran.messages)).not.toMatch(HALVES)
      const next = await wire.begin(conversation, [...messages, ...kept, ...ran.messages], `cut ${HALF}`)
      for (const { parts } of [turn, next]) {
        // Arguments that are text may hold anything: servers do not look into them.
        expect(JSON.stringify(parts).replaceAll('\\\\ud83d', '')).not.toMatch(HALVES)
        expect(wire.violationOf(parts)).toBeUndefined()
      }
      expect(turn.warnings.length).toBeGreaterThan(0)
    }
  })

  it('sends the very tools of a host while deferral is off, with whole characters', async () => {
    const partsFor = async (description: string) => {
      const tools = wire.importTools(description)
      const { parts } = await wire.begin(await createToolwell({ tools, mode: 'off' }).open({ id: 'a' }), [
        wire.user('go'),
      ])
      return JSON.stringify(parts)
    }
    expect(await partsFor('whole 😀')).toContain('whole 😀')
    expect(await partsFor(`cut ${HALF}`)).toContain('cut �')
  })

  const circle: Record<string, unknown> = {}
  circle.self = [circle, circle]
  const unreadable = {
    get role() {
      throw new Error('boom')
    },
  }
  it.each<[string, () => readonly object[]]>([
    ['a field that throws', () => [unreadable]],
    ['arguments in a circle', () => wire.called(circle, '{}').kept.map((each) => ({ ...each, circle }))],
    [
      'arguments 20,000 levels deep',
      () => wire.called(nested(20_000), '{}').kept.map((each) => ({ ...each, deep: nested(20_000) })),
    ],
    [
      'a number too big for JSON',
      () => wire.called({ value: 1n }, '{}').kept.map((each) => ({ ...each, big: 1n })),
    ],
  ])('takes a history with %s', async (_what, entries) => {
    for (const setting of settings) {
      const conversation = await createToolwell({ tools: [tool('own')], ...setting }).open({ id: 'a' })
      const history = [wire.user('go'), ...entries(), wire.user('go on')]
      await expect(wire.importHistory(conversation, history)).resolves.toBeDefined()
      const { parts, warnings } = await wire.begin(conversation, history)
      expect(warnings.length).toBeGreaterThan(0)
      expect(JSON.stringify(parts).length).toBeLessThan(20_000)
    }
  })

  it('answers a call whose arguments are 20,000 levels deep, and continues', async () => {
    for (const setting of settings) {
      const conversation = await createToolwell({ tools: [tool('own')], ...setting }).open({ id: 'a' })
      const deep = `${`{"a":`.repeat(20_000)}1${'}'.repeat(20_000)}`
      const { reply, kept } = wire.called(nested(20_000), deep)
      const turn = await wire.begin(conversation, [wire.user('go')])
      const { messages, answers } = await turn.run(reply)
      expect(answers.map(({ text }) => text)).toEqual([expect.stringContaining('nested deeper than')])
      const next = await wire.begin(conversation, [wire.user('go'), ...kept, ...messages])
      expect(wire.violationOf(JSON.parse(JSON.stringify(next.parts)))).toBeUndefined()
    }
  })
})

describe('toPlainJson', () => {
  it('returns the same value if there is nothing to repair', () => {
    const value = { text: '😀', list: [1, null, undefined, { a: new Date(0), b: new Uint8Array(3) }] }
    expect(toPlainJson(value)).toBe(value)
    const shared = { a: 1 }
    const twice = [shared, shared]
    expect(toPlainJson(twice)).toBe(twice)
  })

  it('changes nothing but what has to change, and never what it was given', () => {
    const kept = { a: 1 }
    const value = { kept, cut: [HALF, kept], [`key ${HALF}`]: 1n }
    expect(toPlainJson(value)).toEqual({ kept, cut: ['�', kept], 'key �': '1' })
    expect(toPlainJson(value).kept).toBe(kept)
    expect(value.cut[0]).toBe(HALF)
  })
})
