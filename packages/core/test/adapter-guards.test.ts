/** Every adapter reports a wrong call by the host at once, with the same message. */
import { createToolwell } from '@toolwell/core'
import { createAdapter } from '@toolwell/core/adapter'
import { aiSdk } from '@toolwell/core/ai-sdk'
import * as messagesApi from '@toolwell/core/anthropic'
import * as geminiApi from '@toolwell/core/google'
import * as chatApi from '@toolwell/core/openai-chat'
import * as responsesApi from '@toolwell/core/openai-responses'
import { describe, expect, it } from 'vitest'
import { mixed, tool } from './support/tools.js'

const open = () => createToolwell({ tools: mixed(), mode: 'on' }).open({ id: 'a' })

/** The adapters, with the types taken off: this is what a host in plain JavaScript sees. */
interface Loose {
  begin(
    messages: unknown,
    request?: unknown,
  ): Promise<{ run(reply: unknown, options?: unknown): Promise<unknown> }>
  compact(before: unknown, after: unknown): Promise<void>
  importHistory(messages: unknown): Promise<unknown>
  thread(messages: unknown): unknown
  adopt(thread: unknown): unknown
}

const wires: Readonly<
  Record<
    string,
    {
      readonly create: () => Promise<Loose>
      readonly made: (conversation: unknown) => unknown
      readonly user: object
      readonly reply: object
      readonly wants: RegExp
    }
  >
> = {
  anthropic: {
    create: async () => messagesApi.anthropic(await open()) as unknown as Loose,
    made: (conversation) => messagesApi.anthropic(conversation as never),
    user: { role: 'user', content: 'Hi' },
    reply: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
    wants: /run takes the message of the API/,
  },
  google: {
    create: async () => geminiApi.google(await open()) as unknown as Loose,
    made: (conversation) => geminiApi.google(conversation as never),
    user: { role: 'user', parts: [{ text: 'Hi' }] },
    reply: { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] } }] },
    wants: /run takes the response of generateContent/,
  },
  'openai-chat': {
    create: async () => chatApi.openaiChat(await open()) as unknown as Loose,
    made: (conversation) => chatApi.openaiChat(conversation as never),
    user: { role: 'user', content: 'Hi' },
    reply: { choices: [{ message: { role: 'assistant', content: 'Hi' } }] },
    wants: /run takes the completion of the API/,
  },
  'openai-responses': {
    create: async () => responsesApi.openaiResponses(await open()) as unknown as Loose,
    made: (conversation) => responsesApi.openaiResponses(conversation as never),
    user: { type: 'message', role: 'user', content: 'Hi' },
    reply: { output: [{ type: 'message', role: 'assistant', content: 'Hi' }] },
    wants: /run takes the response of the API/,
  },
}

const refused = (message: RegExp) =>
  expect.objectContaining({ code: 'invalid-option', message: expect.stringMatching(message) })

describe.each(Object.entries(wires))('%s', (_name, { create, made, user, reply, wants }) => {
  it.each([
    undefined,
    null,
    'Hello',
    {},
    [null],
    [{}],
    [{ kind: 'nobody', text: '' }],
    [{ kind: 'user' }],
    [{ kind: 'answer', text: '' }],
    [{ kind: 'assistant', text: '' }],
    [{ kind: 'assistant', text: '', calls: [{ id: 'a', name: 'b' }] }],
    [{ kind: 'user', text: '', native: { wire: 'x', value: null } }],
  ])('rejects an invalid thread: %j', async (thread) => {
    const adapter = await create()
    expect(() => adapter.adopt(thread)).toThrow(expect.objectContaining({ code: 'invalid-option' }))
    expect(() => adapter.adopt(thread)).toThrow(/adopt takes the result of thread\(\) of an adapter/)
    if (Array.isArray(thread)) expect(() => adapter.adopt([...thread])).toThrow(/entry 0 of this list/)
  })

  it('rejects an invalid conversation', () => {
    for (const wrong of [undefined, null, {}, Promise.resolve()])
      expect(() => made(wrong)).toThrow(/An adapter takes a conversation: use await toolwell.open/)
  })

  it.each([
    undefined,
    null,
    'Hello',
    [],
    { text: 'Hello' },
    { data: { choices: [], output_text: 'Hello' } },
    { reply: {}, messages: [], usage: {}, complete: true },
  ])('rejects an invalid reply: %j', async (reply) => {
    const turn = await (await create()).begin([user])
    await expect(turn.run(reply)).rejects.toEqual(refused(wants))
  })

  it.each([undefined, null, 'Hello', { role: 'user' }])('rejects an invalid history: %j', async (history) => {
    const adapter = await create()
    const message = /Expected your history, an array of messages, not /
    await expect(adapter.begin(history)).rejects.toEqual(refused(message))
    expect(() => adapter.thread(history)).toThrow(message)
    expect(() => adapter.compact([user], history)).toThrow(message)
    expect(() => adapter.importHistory(history)).toThrow(message)
  })

  it('refuses what begin does not know, and names what it does', async () => {
    const adapter = await create()
    await expect(adapter.begin([user], { requestID: 'x' })).rejects.toEqual(
      refused(/Unknown option "requestID" in begin\. Did you mean "requestId"\?/),
    )
    await expect(adapter.begin([user], null)).rejects.toEqual(refused(/begin takes an object/))
  })

  it('refuses what run does not know, before anything runs', async () => {
    const turn = await (await create()).begin([user])
    const wrong: [unknown, RegExp][] = [
      [{ onExecute: () => 'asked' }, /Unknown option "onExecute" in run\. Did you mean "execute"\?/],
      [{ execute: 'ask' }, /run\.execute must be a function, not string/],
      [() => 'asked', /run takes an object of options \(execute, signal, onProgress\), not function/],
    ]
    for (const [options, message] of wrong)
      await expect(turn.run(reply, options)).rejects.toEqual(refused(message))
    await expect(turn.run(reply, {})).resolves.toMatchObject({ messages: [] })
  })
})

describe('an option of run that is not known', () => {
  it('keeps a tool from running without the approval it was to ask for', async () => {
    const ran: unknown[] = []
    const tools = [tool('erase', { execute: (input) => void ran.push(input) })]
    const conversation = await createToolwell({ tools }).open({ id: 'a' })
    const options = { onExecute: () => 'asked' } as object
    const called = { callId: 'c1', anchor: 'c1', name: 'erase', input: { value: { value: 'x' } } }
    await expect(conversation.run([called], options)).rejects.toEqual(refused(/in run/))
    const turn = await chatApi.openaiChat(conversation).begin([{ role: 'user', content: 'Go.' }])
    const given = { name: 'erase', arguments: '{"value":"x"}' }
    const tool_calls = [{ id: 'c1', type: 'function' as const, function: given }]
    const reply = { role: 'assistant' as const, content: null, tool_calls }
    await expect(turn.run(reply, options)).rejects.toEqual(refused(/in run/))
    expect(ran).toEqual([])
    expect((await turn.run(reply)).messages).toHaveLength(1)
    expect(ran).toHaveLength(1)
  })
})

describe('the options of an adapter', () => {
  it('are rejected if unknown, with the nearest known name', async () => {
    const conversation = await open()
    const { anthropic } = messagesApi
    expect(() => anthropic(conversation, { toolchanges: true } as never)).toThrow(
      /Did you mean "toolChanges"/,
    )
    expect(() => anthropic(conversation, { cache: '10m' } as never)).toThrow(/cache must be one of 5m, 1h/)
    expect(() => responsesApi.openaiResponses(conversation, { natve: false } as never)).toThrow(/"native"/)
    expect(() => aiSdk(conversation, { providerTool: {} } as never)).toThrow(/Did you mean "providerTools"/)
  })
})

describe('a Chat Completions reply that ran into its limit', () => {
  async function cut(written: string) {
    const ran: unknown[] = []
    const clear = tool('clear_all', { inputSchema: { type: 'object' }, execute: (input) => ran.push(input) })
    const adapter = chatApi.openaiChat(await createToolwell({ tools: [clear], mode: 'on' }).open({ id: 'a' }))
    const turn = await adapter.begin([{ role: 'user', content: 'Go.' }])
    const whole = { id: 'a', type: 'function', function: { name: 'clear_all', arguments: '{"all":1}' } }
    const last = { id: 'b', type: 'function', function: { name: 'clear_all', arguments: written } }
    const message = { role: 'assistant', content: null, tool_calls: [whole, last] }
    return { ran, turn, message }
  }

  it.each(['', '{', '{"a":1}'])('does not run the call it ended in: %j', async (written) => {
    const { ran, turn, message } = await cut(written)
    const { answers } = await turn.run({ message, finish_reason: 'length' })
    expect(ran).toEqual([{ all: 1 }])
    expect(answers.map(({ outcome }) => outcome.kind)).toEqual(['result', 'invalid'])
    expect(answers[1]?.text).toContain('the reply was cut off')
  })

  it('runs a complete reply in which a call has empty arguments', async () => {
    const { ran, turn, message } = await cut('')
    await turn.run({ message, finish_reason: 'tool_calls' })
    expect(ran).toEqual([{ all: 1 }, {}])
  })

  it('is known as such by what a stream adds up to', async () => {
    const { ran, turn } = await cut('')
    async function* chunks() {
      const start = { index: 0, id: 'a', function: { name: 'clear_all', arguments: '' } }
      yield { choices: [{ delta: { tool_calls: [start] } }] }
      yield { choices: [{ delta: {}, finish_reason: 'length' }] }
    }
    const { reply, messages, complete } = await chatApi.assemble(chunks())
    expect(complete).toBe(true)
    expect(messages).toEqual([reply.message])
    await turn.run(reply)
    expect(ran).toEqual([])
  })
})

describe('readUsage', () => {
  it('counts all input on every wire, and what of it was cached', () => {
    const figures = { inputTokens: 1000, cachedTokens: 800, outputTokens: 30 }
    expect(
      messagesApi.readUsage({
        input_tokens: 50,
        cache_read_input_tokens: 800,
        cache_creation_input_tokens: 150,
        output_tokens: 30,
      }),
    ).toEqual(figures)
    expect(
      chatApi.readUsage({
        prompt_tokens: 1000,
        prompt_tokens_details: { cached_tokens: 800 },
        completion_tokens: 30,
      }),
    ).toEqual(figures)
    // As DeepSeek has it.
    const parts = { prompt_cache_hit_tokens: 800, prompt_cache_miss_tokens: 200, completion_tokens: 30 }
    for (const usage of [parts, { ...parts, prompt_tokens: 1000 }])
      expect(chatApi.readUsage(usage)).toEqual(figures)
    expect(
      responsesApi.readUsage({
        input_tokens: 1000,
        input_tokens_details: { cached_tokens: 800 },
        output_tokens: 30,
      }),
    ).toEqual(figures)
    expect(
      geminiApi.readUsage({
        promptTokenCount: 1000,
        cachedContentTokenCount: 800,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 10,
      }),
    ).toEqual(figures)
  })

  it('reads fields that Gemini omits as zero', () => {
    expect(geminiApi.readUsage({ promptTokenCount: 7 })).toEqual({
      inputTokens: 7,
      cachedTokens: 0,
      outputTokens: 0,
    })
  })

  it.each([messagesApi, chatApi, responsesApi, geminiApi])(
    'returns undefined counts for missing usage',
    (door) => {
      for (const usage of [undefined, null, 3, [], {}])
        expect(door.readUsage(usage)).toEqual({
          inputTokens: undefined,
          cachedTokens: undefined,
          outputTokens: undefined,
        })
    },
  )
})

describe('a wire of your own', () => {
  it.each([undefined, null, 'x', {}, { name: 'x' }, { read: () => [] }])(
    'is rejected if invalid: %j',
    async (wire) => {
      const conversation = await open()
      expect(() => createAdapter(conversation, wire as never)).toThrow(
        expect.objectContaining({
          code: 'invalid-option',
          message: expect.stringMatching(
            /createAdapter takes a wire, but this one has no .*answer. See docs/,
          ),
        }),
      )
    },
  )

  it('is refused without a conversation', () => {
    expect(() => createAdapter(null as never, {} as never)).toThrow(/takes a conversation/)
    expect(() => aiSdk(Promise.resolve() as never)).toThrow(/takes a conversation/)
  })
})
