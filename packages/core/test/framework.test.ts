/** A framework that keeps the loop, over every wire: it knows nothing of Toolwell but a `fetch`, some tools and `run`. */

import { createToolwell, type ToolwellOptions } from '@toolwell/core'
import * as anthropic from '@toolwell/core/anthropic'
import { type Framework, type FrameworkOptions, framework } from '@toolwell/core/framework'
import * as google from '@toolwell/core/google'
import * as chat from '@toolwell/core/openai-chat'
import * as responses from '@toolwell/core/openai-responses'
import {
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  type Protocol,
  responsesProtocol,
  type ScriptedReply,
  startScriptedEndpoint,
} from '@toolwell/testing'
import OpenAI from 'openai'
import { describe, expect, it, onTestFinished } from 'vitest'
import { mixed, tool } from './support/tools.js'

// biome-ignore lint/suspicious/noExplicitAny: what a framework reads of a reply is its own business here.
type Loose = any
interface Call {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** How a framework of one wire writes and reads. */
interface Blunt {
  readonly protocol: Protocol<never>
  path(stream: boolean): string
  body(history: readonly unknown[], tools: ReturnType<Framework['tools']>): Loose
  history(body: Loose): readonly unknown[]
  user(text: string): unknown
  assemble(events: AsyncIterable<unknown>): Promise<{ readonly reply: Loose }>
  /** The messages it pushes onto its history. */
  said(reply: Loose): readonly unknown[]
  calls(reply: Loose): readonly Call[]
  result(call: Call, text: string): unknown
}

const chatTool = ({ name, description, inputSchema }: Loose) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema },
})
const parametersOf = ({ name, description, inputSchema: parameters }: Loose) => ({
  name,
  description,
  parameters,
})

const wires: Readonly<Record<FrameworkOptions['wire'], Blunt>> = {
  'openai-chat': {
    protocol: chatProtocol() as never,
    path: () => '/chat/completions',
    body: (messages, tools) => ({ model: 'any', messages, tools: tools.map(chatTool) }),
    history: ({ messages }) => messages,
    user: (content) => ({ role: 'user', content }),
    assemble: chat.assemble as never,
    said: ({ choices, message }) => [message ?? choices[0].message],
    calls: ({ choices, message }) =>
      ((message ?? choices[0].message).tool_calls ?? []).map((call: Loose) => ({
        id: call.id,
        name: call.function.name,
        input: JSON.parse(call.function.arguments),
      })),
    result: ({ id }, content) => ({ role: 'tool', tool_call_id: id, content }),
  },
  'openai-responses': {
    protocol: responsesProtocol() as never,
    path: () => '/responses',
    body: (input, tools) => ({
      model: 'any',
      store: false,
      instructions: 'Be brief.',
      input,
      tools: tools.map((each) => ({ type: 'function', strict: false, ...parametersOf(each) })),
    }),
    history: ({ input }) => input,
    user: (content) => ({ role: 'user', content }),
    assemble: responses.assemble as never,
    said: ({ output }) => output,
    calls: ({ output }) =>
      output.flatMap((item: Loose) =>
        item.type === 'function_call'
          ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
          : [],
      ),
    result: ({ id: call_id }, output) => ({ type: 'function_call_output', call_id, output }),
  },
  anthropic: {
    protocol: anthropicProtocol() as never,
    path: () => '/v1/messages',
    body: (messages, tools) => ({
      model: 'any',
      max_tokens: 100,
      system: 'Be brief.',
      messages,
      tools: tools.map(({ name, description, inputSchema: input_schema }) => ({
        name,
        description,
        input_schema,
      })),
    }),
    history: ({ messages }) => messages,
    user: (content) => ({ role: 'user', content }),
    assemble: anthropic.assemble as never,
    said: ({ content }) => [{ role: 'assistant', content }],
    calls: ({ content }) => content.filter(({ type }: Loose) => type === 'tool_use'),
    result: ({ id: tool_use_id }, content) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id, content }],
    }),
  },
  google: {
    protocol: googleProtocol() as never,
    path: (stream) => `/v1beta/models/any:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: (contents, tools) => ({
      contents,
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, inputSchema: parametersJsonSchema }) => ({
            name,
            description,
            parametersJsonSchema,
          })),
        },
      ],
    }),
    history: ({ contents }) => contents,
    user: (text) => ({ role: 'user', parts: [{ text }] }),
    assemble: google.assemble as never,
    said: (reply) => [reply.candidates?.[0].content ?? reply],
    // It creates ids, as the ADK does if a server sends none.
    calls: (reply) =>
      (reply.candidates?.[0].content ?? reply).parts.flatMap(({ functionCall: call }: Loose, at: number) =>
        call ? [{ id: `own-${at}`, name: call.name, input: call.args ?? {}, given: call.id }] : [],
      ),
    result: (call, result) => ({
      role: 'user',
      parts: [{ functionResponse: { id: (call as Loose).given, name: call.name, response: { result } } }],
    }),
  },
}

const others = [tool('ask_boss')].map(({ name, description = '', inputSchema }) => ({
  name,
  description,
  inputSchema,
}))
const script: readonly ScriptedReply[] = [
  { calls: [{ name: 'tool_search', arguments: { query: 'select:tracker__create_issue' } }] },
  {
    calls: [
      { name: 'tracker__create_issue', arguments: { value: 'a' } },
      { name: 'fly_to_moon', arguments: {} },
      { name: 'createIssue', arguments: { value: 'b' } },
    ],
  },
  { text: 'Done.' },
]

async function start(wire: FrameworkOptions['wire'], options: Partial<ToolwellOptions> = {}) {
  const blunt = wires[wire]
  const endpoint = await startScriptedEndpoint(blunt.protocol, { model: script })
  onTestFinished(() => endpoint.close())
  const well = createToolwell({ tools: mixed(), mode: 'on', ...options })
  const conversation = await well.open({ id: 'thread-1' })
  const lazy = framework(conversation, { wire })
  const history: unknown[] = [blunt.user('Make an issue.')]
  const send = (body: object, stream = false) =>
    lazy.fetch(`${endpoint.url}${blunt.path(stream)}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, ...(stream && wire !== 'google' ? { stream } : {}) }),
    })
  const step = async (stream: boolean) => {
    const response = await send(blunt.body(history, lazy.tools()), stream)
    const reply = stream
      ? (await blunt.assemble(chat.readEvents(response.body as never))).reply
      : await response.json()
    const calls = blunt.calls(reply)
    history.push(...blunt.said(reply))
    // All at once, as frameworks do.
    const answers = await Promise.all(calls.map((call) => lazy.run(call)))
    history.push(...answers.map(({ text }, at) => blunt.result(calls[at] as Call, text)))
    return answers
  }
  const sentTools = () => endpoint.requests.map(({ body }) => JSON.stringify((body as Loose).tools)).join()
  return { blunt, endpoint, well, conversation, lazy, history, send, step, sentTools }
}

const places = Object.keys(wires).flatMap((wire) =>
  [false, true].map((stream) => ({ wire: wire as FrameworkOptions['wire'], stream })),
)

describe.each(places)('on $wire, streamed: $stream', ({ wire, stream }) => {
  it.each(['bridge', 'append'] as const)(
    'runs what the model wrote, whatever the name: %s',
    async (delivery) => {
      const host = await start(wire, { delivery })
      await host.step(stream)
      const [made, invented, spelt] = await host.step(stream)
      expect(made?.text).toBe('create_issue ran with {"value":"a"}')
      expect(invented?.text).toContain('Found no tool named "fly_to_moon"')
      expect(spelt?.text).toBe('create_issue ran with {"value":"b"}')
      await host.step(stream)
      expect(host.endpoint.requests.map(({ violation }) => violation)).toEqual([
        undefined,
        undefined,
        undefined,
      ])
      const bodies = host.endpoint.requests.map(({ body }) => body as Loose)
      const said = bodies.map((body) => JSON.stringify(host.blunt.history(body)).slice(0, -1))
      expect(said[1]?.startsWith(said[0] ?? '?')).toBe(true)
      expect(said[2]?.startsWith(said[1] ?? '?')).toBe(true)
      const tools = bodies.map((body) => JSON.stringify(body.tools))
      expect(tools[0]).not.toContain('"name":"tracker__')
      if (delivery === 'bridge') expect(new Set(tools).size).toBe(1)
      else expect(tools[1]).toContain('"name":"tracker__create_issue"')
      const { accounting } = host.conversation.inspect()
      expect(accounting.requests).toBe(3)
    },
  )

  it('keeps the accounts', async () => {
    const host = await start(wire)
    await host.step(stream)
    await host.step(stream)
    const { accounting } = host.conversation.inspect()
    // A stream of Chat Completions has figures only where the request asks for them.
    expect(accounting.measured).toBe(wire === 'openai-chat' && stream ? 0 : 2)
  })
})

describe.each(Object.keys(wires) as FrameworkOptions['wire'][])('%s', (wire) => {
  it('lets requests of others pass as they are', async () => {
    const host = await start(wire)
    const body = host.blunt.body(host.history, others)
    await host.send(body)
    expect(host.endpoint.requests[0]?.raw).toBe(JSON.stringify(body))
    expect(host.conversation.inspect().accounting.requests).toBe(0)
  })

  it('says that requests went out as they came where the agent was not given its tools', async () => {
    const lines: string[] = []
    const host = await start(wire, { debug: (line) => lines.push(line) })
    for (let request = 0; request < 2; request++) await host.send(host.blunt.body(host.history, others))
    const told =
      'requests were sent unchanged, because they do not offer tool_search: give the agent every tool'
    expect(host.well.report()).toContain(`"thread-1": 0 requests; ${told}`)
    expect(host.conversation.inspect().because).toContain(told)
    expect(lines.filter((line) => line.includes(told))).toHaveLength(1)
    // Another agent may share the client: once there is a request from this one, the report does not mention others.
    await host.step(false)
    expect(host.well.report()).not.toContain(told)
  })

  it('keeps tools that are not in the catalogue, and puts them first', async () => {
    const host = await start(wire)
    await host.send(host.blunt.body(host.history, [...host.lazy.tools(), ...others]))
    const sent = host.sentTools()
    expect(host.endpoint.requests[0]?.violation).toBeUndefined()
    expect(sent.indexOf('ask_boss')).toBeGreaterThan(0)
    expect(sent.indexOf('ask_boss')).toBeLessThan(sent.indexOf('tool_search'))
  })

  it('sends everything while deferral is off, by the names that it runs', async () => {
    const host = await start(wire, { mode: 'off' })
    await host.send(host.blunt.body(host.history, host.lazy.tools()))
    const sent = host.sentTools()
    expect(sent).toContain('"create_issue"')
    expect(sent).not.toContain('tool_search')
    const { text } = await host.lazy.run({ id: 'x', name: 'create_issue', input: { value: 'c' } })
    expect(text).toBe('create_issue ran with {"value":"c"}')
  })
})

const named = Object.keys(wires) as FrameworkOptions['wire'][]
const pairs = named.flatMap((wire) => named.flatMap((spoken) => (wire === spoken ? [] : [{ wire, spoken }])))

describe.each(pairs)('a client that speaks $spoken, where the wire is $wire', ({ wire, spoken }) => {
  it('rejects the first request with the right wire name, and sends nothing', async () => {
    const host = await start(wire)
    const { body, user } = wires[spoken]
    const foreign = body([user('Make an issue.')], host.lazy.tools())
    const says = `this request is in the form of ${spoken}, but framework was given the wire ${wire}`
    // Clients try an error of the network again; this one they show at once.
    const response = await host.send(foreign)
    expect(response.status).toBe(400)
    expect(((await response.json()) as Loose).error.message).toContain(says)
    expect(host.endpoint.requests).toEqual([])
    await expect(host.lazy.request(foreign)).rejects.toThrow(`wire: '${spoken}'`)
    expect(host.conversation.events).toEqual([])
  })
})

it('the official client shows what is wrong with the wire', async () => {
  const host = await start('openai-chat')
  const client = new OpenAI({ apiKey: 'any', baseURL: host.endpoint.url, fetch: host.lazy.fetch })
  const { body, user } = wires['openai-responses']
  const asked = client.responses.create(body([user('Make an issue.')], host.lazy.tools()))
  await expect(asked).rejects.toThrow("wire: 'openai-responses'")
})

it('says what is wrong with its options', async () => {
  const conversation = await createToolwell({ tools: mixed() }).open({ id: 'a' })
  expect(() => framework(conversation, { wire: 'chat' as never })).toThrow('wire must be one of anthropic')
  expect(() => framework({} as never, { wire: 'google' })).toThrow('await toolwell.open({ id })')
})

it('asks the same hook for a call that no request of this process has led to', async () => {
  const conversation = await createToolwell({ tools: [tool('erase')], mode: 'off' }).open({ id: 'a' })
  const lazy = framework(conversation, { wire: 'openai-chat', execute: () => 'asked the user' })
  const call = { id: 'x', name: 'erase', input: { value: 'c' } }
  await expect(lazy.run(call, { execute: () => 'ran' } as object)).rejects.toThrow(
    'Unknown option "execute" in run',
  )
  expect((await lazy.run(call)).text).toBe('asked the user')
})
