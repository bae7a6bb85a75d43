/** The accounts keep themselves: where a reply says what it cost, no host has to. */
import { type Conversation, createToolwell } from '@toolwell/core'
import { type AnthropicMessage, type AnthropicReply, anthropic } from '@toolwell/core/anthropic'
import { type GoogleContent, type GoogleResponse, google } from '@toolwell/core/google'
import {
  assemble,
  type ChatCompletion,
  type ChatMessage,
  openaiChat,
  readEvents,
} from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesItem, type ResponsesReply } from '@toolwell/core/openai-responses'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  type Protocol,
  responsesProtocol,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { majors, startHost } from './ai-sdk/support.js'
import { server } from './support/tools.js'

const tools = server(
  'box',
  Array.from({ length: 60 }, (_, index) => `tool_${index}`),
  { description: 'Does a thing that takes some words to say. '.repeat(8) },
)
const script: ScriptedReply[] = [
  { calls: [{ name: 'tool_search', arguments: { query: 'select:box__tool_7' } }] },
  { calls: [{ name: 'tool_search', arguments: { query: 'select:box__tool_8,box__tool_9' } }] },
  { text: 'Done.' },
]

interface Answered {
  readonly usage: number
  readonly goesOn: boolean
}

/** One request and what follows from it; gives what the provider counted. */
type Step = (url: string) => Promise<Answered>

async function post<T>(url: string, body: object): Promise<T> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as T
}

const wires: Record<string, [Protocol<never>, (conversation: Conversation) => Step]> = {
  'openai-chat': [
    chatProtocol() as never,
    (conversation) => {
      const messages: ChatMessage[] = [{ role: 'user', content: 'Go.' }]
      return async (url) => {
        const turn = await openaiChat(conversation).begin(messages)
        const completion = await post<ChatCompletion>(`${url}/chat/completions`, {
          model: 'any',
          ...turn.parts,
        })
        const { messages: results } = await turn.run(completion)
        messages.push(completion.choices[0]?.message as ChatMessage, ...results)
        const { prompt_tokens: usage } = completion.usage as { prompt_tokens: number }
        return { usage, goesOn: results.length > 0 }
      }
    },
  ],
  'openai-chat, streamed': [
    chatProtocol() as never,
    (conversation) => {
      const messages: ChatMessage[] = [{ role: 'user', content: 'Go.' }]
      return async (url) => {
        const turn = await openaiChat(conversation).begin(messages)
        const response = await fetch(`${url}/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            model: 'any',
            ...turn.parts,
            stream: true,
            stream_options: { include_usage: true },
          }),
        })
        const streamed = await assemble(readEvents(response.body as never))
        const { messages: results } = await turn.run(streamed)
        messages.push(...streamed.messages, ...results)
        return { usage: streamed.usage.inputTokens ?? 0, goesOn: results.length > 0 }
      }
    },
  ],
  anthropic: [
    anthropicProtocol() as never,
    (conversation) => {
      const messages: AnthropicMessage[] = [{ role: 'user', content: 'Go.' }]
      return async (url) => {
        const turn = await anthropic(conversation).begin(messages)
        const body = { model: 'any', max_tokens: 100, ...turn.parts }
        const reply = await post<AnthropicReply & { usage: Record<string, number> }>(
          `${url}/v1/messages`,
          body,
        )
        const { messages: results } = await turn.run(reply)
        messages.push({ role: 'assistant', content: reply.content } as AnthropicMessage, ...results)
        const { input_tokens = 0, cache_read_input_tokens = 0, cache_creation_input_tokens = 0 } = reply.usage
        return {
          usage: input_tokens + cache_read_input_tokens + cache_creation_input_tokens,
          goesOn: results.length > 0,
        }
      }
    },
  ],
  'openai-responses': [
    responsesProtocol() as never,
    (conversation) => {
      const items: ResponsesItem[] = [{ type: 'message', role: 'user', content: 'Go.' }]
      return async (url) => {
        const turn = await openaiResponses(conversation).begin(items)
        const body = { model: 'any', store: false, ...turn.parts }
        const reply = await post<ResponsesReply & { usage: { input_tokens: number } }>(
          `${url}/responses`,
          body,
        )
        const { messages: results } = await turn.run(reply)
        items.push(...reply.output, ...results)
        return { usage: reply.usage.input_tokens, goesOn: results.length > 0 }
      }
    },
  ],
  google: [
    googleProtocol() as never,
    (conversation) => {
      const contents: GoogleContent[] = [{ role: 'user', parts: [{ text: 'Go.' }] }]
      return async (url) => {
        const turn = await google(conversation).begin(contents)
        const reply = await post<GoogleResponse & { usageMetadata: { promptTokenCount: number } }>(
          `${url}/v1beta/models/any:generateContent`,
          turn.parts,
        )
        const { messages: results } = await turn.run(reply)
        contents.push(reply.candidates?.[0]?.content as GoogleContent, ...results)
        return { usage: reply.usageMetadata.promptTokenCount, goesOn: results.length > 0 }
      }
    },
  ],
}

describe.each(Object.entries(wires))('on %s', (_, [protocol, stepper]) => {
  it.each(['on', 'off'] as const)('A1: agree with what the replies say, deferral %s', async (mode) => {
    const endpoint = await startScriptedEndpoint(protocol, {
      model: mode === 'on' ? script : [{ text: 'Done.' }],
    })
    onTestFinished(() => endpoint.close())
    const well = createToolwell({ tools, mode })
    const conversation = await well.open({ id: 'thread-1' })
    const step = stepper(conversation)
    let counted = 0
    for (let goesOn = true; goesOn; ) {
      const answered = await step(endpoint.url)
      counted += answered.usage
      goesOn = answered.goesOn
    }
    const { accounting } = conversation.inspect()
    expect(accounting.measured).toBe(accounting.requests)
    expect(accounting.requests).toBe(mode === 'on' ? 3 : 1)
    expect(accounting.provider.inputTokens).toBe(counted)
    expect(accounting.actual / counted).toBeGreaterThan(0.98)
    expect(accounting.actual / counted).toBeLessThan(1.02)
    expect(well.report()).toContain('"thread-1": ')
  })
})

it.each(majors)('A1: through AI SDK $major, whole and streamed', async ({ major }) => {
  for (const streamed of [false, true]) {
    const host = await startHost({ major, wire: 'anthropic', script, options: { tools, mode: 'on' } })
    await (streamed ? host.askStreaming('Go.') : host.ask('Go.'))
    const { accounting } = host.conversation.inspect()
    expect(accounting.measured).toBe(3)
    expect(accounting.actual / accounting.provider.inputTokens).toBeCloseTo(1, 2)
  }
})

it.each([0.4, 0.7, 1.6])(
  'A1: where the provider counts %d times as much, its figures hold',
  async (factor) => {
    for (const mode of ['on', 'off'] as const) {
      const conversation = await createToolwell({ tools, mode }).open({ id: 'a' })
      const messages: ChatMessage[] = [{ role: 'user', content: 'Go.' }]
      let counted = 0
      for (const id of ['a', 'b', 'c']) {
        const turn = await openaiChat(conversation).begin(messages)
        const usage = { prompt_tokens: Math.round((factor * JSON.stringify(turn.parts).length) / 4) }
        counted += usage.prompt_tokens
        const call = { id, type: 'function', function: { name: 'box__tool_7', arguments: '{"value":"x"}' } }
        const reply = { role: 'assistant', content: null, tool_calls: [call] }
        const { messages: results } = await turn.run({ choices: [{ message: reply }], usage })
        messages.push(reply as ChatMessage, ...results)
      }
      const { accounting } = conversation.inspect()
      expect(accounting.measured).toBe(3)
      expect(accounting.actual / counted).toBeGreaterThan(0.98)
      expect(accounting.actual / counted).toBeLessThan(1.02)
      // With every tool sent, what was is what would have been.
      if (mode === 'off') expect(accounting.saved).toBe(0)
      else expect(accounting.saved).toBeGreaterThan(0)
    }
  },
)

it('a stream that broke off is not run', async () => {
  const conversation = await createToolwell({ tools, mode: 'on' }).open({ id: 'a' })
  const turn = await openaiChat(conversation).begin([{ role: 'user', content: 'Go.' }])
  const streamed = await assemble((async function* () {})())
  await expect(turn.run(streamed)).rejects.toThrow(/ended early.*Begin again with the same history/)
})

it('the report tells of requests without figures, and of a loss', async () => {
  const well = createToolwell({ tools: tools.slice(0, 2), mode: 'on' })
  const conversation = await well.open({ id: 'a' })
  const first = await openaiChat(conversation).begin([{ role: 'user', content: 'Go.' }])
  expect(well.report()).toContain(
    'no figures for 1 of 1 request: the reply had no usage. Pass the whole reply to run',
  )
  await conversation.recordRequest({ requestId: first.view.requestId, inputTokens: 3000 })
  expect(well.report()).toMatch(/input tokens: 3\.0k instead of .* tokens more than sending every tool \(\+/)
})

describe('debug', () => {
  it('prints one line in words for every event and notice', async () => {
    const lines: string[] = []
    const well = createToolwell({ tools, mode: 'on', delivery: 'append', debug: (line) => lines.push(line) })
    well.catalogue.setSource('mail', { tools: [{ name: '' } as never] })
    const conversation = await well.open({ id: 'thread-1' })
    const turn = await openaiChat(conversation).begin([{ role: 'user', content: 'Go.' }])
    const calls = [
      {
        id: 'a',
        type: 'function',
        function: { name: 'tool_search', arguments: '{"query":"select:box__tool_7"}' },
      },
      { id: 'b', type: 'function', function: { name: 'nothing', arguments: '{}' } },
    ]
    await turn.run({
      choices: [{ message: { role: 'assistant', tool_calls: calls } }],
      usage: { prompt_tokens: 1234 },
    })
    expect(lines.every((line) => !line.includes('\n'))).toBe(true)
    for (const words of [
      /^source "mail" is ready with 0 tools; .*has no name/,
      /^"thread-1" · frozen \(start\) on openai-chat: 60 tools deferred, append/,
      /^"thread-1" · request history .*: \d+ tokens of tools, 1?\d\.\dk if all were sent$/,
      /^"thread-1" · request .* used 1\.2k input tokens$/,
      /^"thread-1" · searched "select:box__tool_7": loaded box\/tool_7, \d+ tokens$/,
      /^"thread-1" · loaded box__tool_7 \(select\)$/,
      /^"thread-1" · call of "nothing" failed \(unknown\)$/,
    ])
      expect(lines).toContainEqual(expect.stringMatching(words))
  })

  it('that throws changes nothing, and a value that is not a function is rejected', async () => {
    const debug = () => {
      throw new Error('closed')
    }
    const conversation = await createToolwell({ tools, debug }).open({ id: 'a' })
    expect(
      (await openaiChat(conversation).begin([{ role: 'user', content: 'Go.' }])).view.requestId,
    ).toBeTruthy()
    expect(() => createToolwell({ debug: 'yes' as never })).toThrow(/debug/)
  })
})
