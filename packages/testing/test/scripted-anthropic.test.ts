import { afterEach, describe, expect, it } from 'vitest'
import { anthropicProtocol } from '../src/anthropic/protocol.js'
import type { AnthropicRequestBody, AnthropicRuleOptions } from '../src/anthropic/rules.js'
import { anthropicRenderOrder } from '../src/anthropic/usage.js'
import {
  type ScriptedEndpoint,
  type ScriptedEndpointOptions,
  type ScriptedReply,
  startScriptedEndpoint,
} from '../src/scripted-endpoint.js'

type Endpoint = ScriptedEndpoint<AnthropicRequestBody>
type Options = ScriptedEndpointOptions<AnthropicRequestBody>

const running: Endpoint[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((endpoint) => endpoint.close()))
})

async function start(model: Options['model'], more: Partial<Options> = {}, rules: AnthropicRuleOptions = {}) {
  const endpoint = await startScriptedEndpoint(anthropicProtocol(rules), { model, ...more })
  running.push(endpoint)
  return endpoint
}

interface Block {
  type: string
  text?: string
  input?: unknown
  [field: string]: unknown
}
interface Usage {
  input_tokens: number
  cache_creation_input_tokens: number
  cache_read_input_tokens: number
  cache_creation: object
  output_tokens: number
}
interface Message {
  content: Block[]
  stop_reason: string | null
  usage: Usage
  [field: string]: unknown
}
interface Event {
  type: string
  message?: Message
  index?: number
  content_block?: Block
  delta?: { type?: string; text?: string; partial_json?: string; [field: string]: unknown }
  usage?: Partial<Usage>
}

const mark = { type: 'ephemeral' }
const user = (content: unknown) => ({ role: 'user', content })
const text = (words: string, more: object = {}) => ({ type: 'text', text: words, ...more })
const tool = (name: string, more: object = {}) => ({ name, input_schema: { type: 'object' }, ...more })
const request = (more: object = {}) => ({
  model: 'scripted',
  max_tokens: 100,
  messages: [user('Hello')],
  ...more,
})

function post(endpoint: Endpoint, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${endpoint.url}/v1/messages`, { method: 'POST', body: JSON.stringify(body), headers })
}

async function create(endpoint: Endpoint, body: unknown = request()): Promise<Message> {
  return (await post(endpoint, body)).json() as Promise<Message>
}

function eventsIn(stream: string): Event[] {
  const events = stream.split('\n\n').filter((event) => event !== '')
  return events.map((event) => {
    const [name = '', data = ''] = event.split('\n')
    const parsed = JSON.parse(data.replace(/^data: /, '')) as Event
    expect(name).toBe(`event: ${parsed.type}`)
    return parsed
  })
}

/** Joins events as a careful client does; invalid JSON input becomes `{}`. */
function assemble(events: readonly Event[]): Message {
  let message: Message | undefined
  const inputs = new Map<number, string>()
  for (const { type, index = 0, delta, ...event } of events) {
    if (type === 'message_start') message = structuredClone(event.message)
    if (!message || type === 'ping') continue
    if (event.content_block) message.content[index] = { ...event.content_block }
    const block = message.content[index]
    if (block && delta?.type === 'text_delta') block.text += delta.text ?? ''
    if (delta?.type === 'input_json_delta') inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json)
    if (type === 'content_block_stop' && block && inputs.has(index))
      block.input = objectIn(inputs.get(index) ?? '')
    if (type === 'message_delta') {
      message = { ...message, ...delta, usage: { ...message.usage, ...event.usage } }
    }
  }
  if (!message) throw new Error('No message was started.')
  return message
}

function objectIn(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return {}
  }
}

describe('the scripted endpoint on the Anthropic wire', () => {
  it('answers with text, deterministically', async () => {
    const endpoint = await start([{ text: 'Hi' }])
    expect(await create(endpoint)).toEqual({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'scripted',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      stop_details: null,
      container: null,
      diagnostics: null,
      usage: {
        input_tokens: Math.ceil('user\n{"type":"text","text":"Hello"}\n'.length / 4),
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: 'standard',
        inference_geo: null,
        speed: null,
      },
    })
  })

  it('answers with calls whose input is an object and whose ids it counts', async () => {
    const calls = [
      { name: 'read', arguments: { path: 'a' } },
      { name: 'read', arguments: '{"path":"b"}' },
      { name: 'read', arguments: undefined, id: 'mine' },
      { name: 'read', arguments: '' },
    ]
    const message = await create(await start([{ text: 'Reading.', calls }]))
    expect(message.stop_reason).toBe('tool_use')
    expect(message.content.map(({ id, input, text }) => text ?? [id, input])).toEqual([
      'Reading.',
      ['toolu_1', { path: 'a' }],
      ['toolu_2', { path: 'b' }],
      ['mine', {}],
      ['toolu_3', {}],
    ])
  })

  it.each(['{"path":', '[1]', 7])(
    'answers input %j, which is not an object, as if it was cut short',
    async (input) => {
      const calls = [{ name: 'read', arguments: input }]
      const message = await create(await start([{ calls }]))
      expect(message).toMatchObject({ content: [{ type: 'tool_use', input: {} }], stop_reason: 'max_tokens' })
      const stream = await (await post(await start([{ calls }]), request({ stream: true }))).text()
      expect(
        eventsIn(stream)
          .map(({ delta }) => delta?.partial_json ?? '')
          .join(''),
      ).toBe(typeof input === 'string' ? input : JSON.stringify(input))
    },
  )

  it('ends for the reason the script gives', async () => {
    const endpoint = await start([{ calls: [{ name: 'read', arguments: '{' }], finish: 'refusal' }, {}])
    expect((await create(endpoint)).stop_reason).toBe('refusal')
    expect(await create(endpoint)).toMatchObject({ content: [], stop_reason: 'end_turn' })
  })

  it('refuses a violation in the shape of Anthropic and does not advance the script', async () => {
    const endpoint = await start([{ text: 'first' }])
    const refused = await post(endpoint, request({ max_tokens: undefined }))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'max_tokens: Field required' },
      request_id: null,
    })
    expect(endpoint.requests[0]?.violation?.code).toBe('missing_required_parameter')
    expect((await create(endpoint)).content[0]?.text).toBe('first')
  })

  it('sends the code that the official client knows', async () => {
    const messages = [
      user('Hello'),
      { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_reference', name: 'x' } }] },
    ]
    const endpoint = await start([], {}, { midConversationSystem: true })
    expect(await create(endpoint, request({ messages, tools: [tool('read')] }))).toMatchObject({
      error: { type: 'invalid_request_error', details: { error_code: 'tool_reference_unresolved' } },
    })
  })

  it.each([
    [429, 'rate_limit_error'],
    [500, 'api_error'],
    [529, 'overloaded_error'],
    [418, 'invalid_request_error'],
  ])('answers a scripted failure %i as %s', async (status, type) => {
    const response = await post(await start([{ status, error: 'No.' }]), request())
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ error: { type, message: 'No.' } })
  })

  it('knows one path and one key, in either header', async () => {
    const endpoint = await start(() => ({ text: 'Hi' }), { apiKey: 'secret' })
    const missing = await fetch(`${endpoint.url}/v1/complete`, { method: 'POST' })
    expect([missing.status, await missing.json()]).toMatchObject([
      404,
      { error: { type: 'not_found_error' } },
    ])
    const refused = await post(endpoint, request(), { 'x-api-key': 'wrong' })
    expect([refused.status, await refused.json()]).toMatchObject([
      401,
      { error: { type: 'authentication_error' } },
    ])
    expect((await post(endpoint, request(), { 'x-api-key': 'secret' })).status).toBe(200)
    expect((await post(endpoint, request(), { authorization: 'Bearer secret' })).status).toBe(200)
    expect((await fetch(`${endpoint.url}/v1/messages?beta=true`)).status).toBe(405)
  })
})

describe('a stream', () => {
  const replies: readonly [string, ScriptedReply][] = [
    ['text', { text: 'A sentence of more than eight characters.' }],
    ['text beyond the basic plane', { text: '🙂'.repeat(9) + 'a🙂'.repeat(9) }],
    ['nothing', {}],
    ['one call', { calls: [{ name: 'read', arguments: { path: '/tmp/🙂' } }] }],
    ['a call without input', { calls: [{ name: 'read', arguments: '' }] }],
    ['a broken call', { calls: [{ name: 'read', arguments: '{"broken' }] }],
    [
      'text and parallel calls',
      {
        text: 'Reading.',
        calls: [
          { name: 'read', arguments: { path: '/a/long/path/to/one/file' } },
          { name: 'list', arguments: {} },
        ],
      },
    ],
  ]

  it.each(replies)('of %s joins to the unstreamed answer', async (_of, reply) => {
    const whole = await create(await start([reply]))
    const response = await post(await start([reply]), request({ stream: true }))
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(assemble(eventsIn(await response.text()))).toEqual(whole)
  })

  it('sends the events of a call in order, its input in fragments', async () => {
    const endpoint = await start([{ text: 'Looking around.', calls: [{ name: 'list', arguments: {} }] }])
    const events = eventsIn(await (await post(endpoint, request({ stream: true }))).text())
    expect(events.map(({ type, index, delta }) => [type, index, delta?.text ?? delta?.partial_json])).toEqual(
      [
        ['message_start', undefined, undefined],
        ['ping', undefined, undefined],
        ['content_block_start', 0, undefined],
        ['content_block_delta', 0, 'Looking '],
        ['content_block_delta', 0, 'around.'],
        ['content_block_stop', 0, undefined],
        ['content_block_start', 1, undefined],
        ['content_block_delta', 1, ''],
        ['content_block_delta', 1, '{'],
        ['content_block_delta', 1, '}'],
        ['content_block_stop', 1, undefined],
        ['message_delta', undefined, undefined],
        ['message_stop', undefined, undefined],
      ],
    )
    expect(events[0]?.message).toMatchObject({ content: [], stop_reason: null, usage: { output_tokens: 1 } })
  })

  it('breaks off within the open block', async () => {
    const endpoint = await start([{ cutAfter: 11, text: 'The end is never seen.' }])
    const response = await post(endpoint, request({ stream: true }))
    let received = ''
    const reading = async () => {
      for await (const bytes of response.body ?? []) received += Buffer.from(bytes).toString()
    }
    await expect(reading()).rejects.toThrow('terminated')
    const events = eventsIn(received)
    expect(events.at(-1)?.type).toBe('content_block_delta')
    expect(assemble(events)).toMatchObject({ content: [{ text: 'The end is ' }], stop_reason: null })
  })
})

describe('the render order', () => {
  const rendered = (more: object) => anthropicRenderOrder(request(more) as AnthropicRequestBody)
  const read = tool('read', { description: 'Reads.' })
  const write = tool('write', { defer_loading: true })

  it('puts tools before the system prompt and that before messages', () => {
    expect(rendered({ tools: [read], system: 'Be brief.', messages: [user('Hi')] })).toBe(
      '{"name":"read","input_schema":{"type":"object"},"description":"Reads."}\n' +
        '{"type":"text","text":"Be brief."}\nuser\n{"type":"text","text":"Hi"}\n',
    )
  })

  it.each<[string, object, object]>([
    ['deferred tools', { tools: [read, write] }, { tools: [read] }],
    [
      'marks',
      { system: [text('Hi', { cache_control: mark })], cache_control: mark },
      { system: [text('Hi')] },
    ],
    [
      'the border between messages of one role',
      { messages: [user('A'), user('B')] },
      { messages: [user([text('A'), text('B')])] },
    ],
    ['an empty system prompt', { system: '' }, {}],
  ])('leaves out %s', (_what, one, other) => {
    expect(rendered(one)).toBe(rendered(other))
  })

  it('puts a definition where a reference brings it in, so that the prefix only grows', () => {
    const tools = [tool('search'), write]
    const call = { type: 'tool_use', id: 'a', name: 'search', input: {} }
    const before = [user('Hi'), { role: 'assistant', content: [call] }]
    const result = {
      type: 'tool_result',
      tool_use_id: 'a',
      content: [{ type: 'tool_reference', tool_name: 'write' }],
    }
    const prefix = rendered({ tools, messages: before })
    expect(rendered({ tools, messages: [...before, user([result])] })).toBe(
      `${prefix}user\n{"type":"tool_result","tool_use_id":"a","content":[{"name":"write","input_schema":{"type":"object"}}]}\n`,
    )
  })

  it('puts a definition where an addition brings it in, and none where a tool is removed', () => {
    const change = (type: string, entry: object) => ({ role: 'system', content: [{ type, tool: entry }] })
    const tools = [tool('search'), write]
    const byName = { type: 'tool_reference', name: 'write' }
    const definition = { ...tool('delete'), cache_control: mark }
    const added = rendered({ tools, messages: [user('Hi'), change('tool_addition', byName)] })
    expect(added).toMatch(/system\n\{"type":"tool_addition","tool":\{"name":"write","input_schema":.*\}\n$/)
    const removed = rendered({ tools, messages: [user('Hi'), change('tool_removal', byName)] })
    expect(removed).toMatch(
      /system\n\{"type":"tool_removal","tool":\{"type":"tool_reference","name":"write"\}\}\n$/,
    )
    const defined = { type: 'tool_definition', definition }
    expect(rendered({ tools, messages: [user('Hi'), change('tool_addition', defined)] })).toMatch(
      /"tool":\{"name":"delete","input_schema":\{"type":"object"\}\}\}\n$/,
    )
  })
})

describe('usage', () => {
  const endless = () => ({ text: 'Hi' })
  const lead = '{"type":"text","text":""}\n'.length
  /** A block that renders as this many tokens. */
  const block = (tokens: number, more: object = {}) => text('a'.repeat(tokens * 4 - lead), more)
  const marked = (tokens: number, ttl?: '1h') =>
    block(tokens, { cache_control: { ...mark, ...(ttl && { ttl }) } })
  const cost = async (endpoint: Endpoint, more: object) => {
    const { usage } = await create(endpoint, request(more))
    return [usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.input_tokens]
  }
  /** Tokens of `user\n{"type":"text","text":"Hello"}\n` after the system prompt. */
  const hello = Math.ceil('user\n{"type":"text","text":"Hello"}\n'.length / 4)

  it('keeps nothing without a mark', async () => {
    const endpoint = await start(endless)
    expect(await cost(endpoint, { system: [block(2000)] })).toEqual([0, 0, 2000 + hello])
    expect(await cost(endpoint, { system: [block(2000)] })).toEqual([0, 0, 2000 + hello])
  })

  it.each([
    [1023, [0, 0, 1023 + hello]],
    [1024, [1024, 0, hello]],
  ])('keeps a marked prefix of %i tokens as the minimum says', async (tokens, second) => {
    const endpoint = await start(endless)
    const [read] = await cost(endpoint, { system: [marked(tokens)] })
    expect(read).toBe(0)
    expect(await cost(endpoint, { system: [marked(tokens)] })).toEqual(second)
  })

  it('writes what lies between the kept prefix and its own last mark', async () => {
    const endpoint = await start(endless)
    expect(await cost(endpoint, { system: [marked(1500)] })).toEqual([0, 1500, hello])
    expect(await cost(endpoint, { system: [block(1500), marked(500), block(100)] })).toEqual([
      1500,
      500,
      100 + hello,
    ])
    expect(await cost(endpoint, { system: [marked(1500), marked(500)] })).toEqual([2000, 0, hello])
  })

  it('reads no further than its own last mark', async () => {
    const endpoint = await start(endless)
    await cost(endpoint, { system: [block(1500), marked(500)] })
    expect(await cost(endpoint, { system: [block(1500), block(500)] })).toEqual([0, 0, 2000 + hello])
    // The earlier mark lies behind this one, so there is nothing to read yet.
    expect(await cost(endpoint, { system: [marked(1500), block(500)] })).toEqual([0, 1500, 500 + hello])
  })

  it('tells writes for five minutes from writes for an hour', async () => {
    const { usage } = await create(
      await start(endless),
      request({ system: [marked(1100, '1h'), marked(200)] }),
    )
    expect(usage.cache_creation).toEqual({ ephemeral_1h_input_tokens: 1100, ephemeral_5m_input_tokens: 200 })
  })

  it('takes a mark on the request as one on its last block', async () => {
    const endpoint = await start(endless)
    const messages = [user([block(2000)])]
    const [, written, plain] = await cost(endpoint, { messages, cache_control: mark })
    expect([written, plain]).toEqual([2001, 1])
    const grown = [...messages, { role: 'assistant', content: 'Hi' }, user('Go on.')]
    expect((await cost(endpoint, { messages: grown, cache_control: mark }))[0]).toBe(2001)
  })

  it('keeps the prefix when deferred tools come and go, and loses it when others do', async () => {
    const endpoint = await start(endless)
    const system = [marked(2000)]
    const tools = [tool('search')]
    const [, written] = await cost(endpoint, { system, tools })
    const deferred = [...tools, tool('write', { defer_loading: true })]
    expect((await cost(endpoint, { system, tools: deferred })).slice(0, 2)).toEqual([written, 0])
    expect((await cost(endpoint, { system, tools: [...tools, tool('write')] }))[0]).toBe(0)
  })

  it('learns nothing from a request that was refused or failed', async () => {
    const endpoint = await start([{ status: 529, error: 'Busy.' }, { text: 'Hi' }])
    await post(endpoint, request({ system: [marked(2000)], max_tokens: -1 }))
    await post(endpoint, request({ system: [marked(2000)] }))
    expect(await cost(endpoint, { system: [marked(2000)] })).toEqual([0, 2000, hello])
  })

  it('counts what was written, and never nothing', async () => {
    const calls = [{ name: 'read', arguments: { a: 1 } }]
    const endpoint = await start([{ text: 'Hi', calls }, {}])
    expect((await create(endpoint)).usage.output_tokens).toBe(Math.ceil('Hiread{"a":1}'.length / 4))
    expect((await create(endpoint)).usage.output_tokens).toBe(1)
  })
})
