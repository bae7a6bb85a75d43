import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { chatRenderOrder } from '../src/openai-chat/answer.js'
import {
  commonPrefix,
  type ScriptedChat,
  type ScriptedChatOptions,
  type ScriptedReply,
  startScriptedChat,
} from '../src/openai-chat/protocol.js'

const running: ScriptedChat[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((chat) => chat.close()))
})

async function start(model: ScriptedChatOptions['model'], more: Partial<ScriptedChatOptions> = {}) {
  const chat = await startScriptedChat({ model, ...more })
  running.push(chat)
  return chat
}

interface Message {
  role: string
  content: string | null
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[]
}
interface Usage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: { cached_tokens: number }
}
interface Completion {
  choices: { message: Message; finish_reason: string }[]
  usage: Usage
}
interface Chunk {
  object: string
  choices: {
    delta: {
      role?: string
      content?: string | null
      tool_calls?: {
        index: number
        id?: string
        type?: string
        function: { name?: string; arguments: string }
      }[]
    }
    finish_reason: string | null
  }[]
  usage?: Usage | null
}

const user = (content: string) => ({ role: 'user', content })
const tool = (name: string, description = '') => ({ type: 'function', function: { name, description } })
const request = (more: object = {}) => ({ model: 'scripted', messages: [user('Hello')], ...more })

function post(chat: ScriptedChat, body: unknown, more: RequestInit = {}): Promise<Response> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return fetch(`${chat.url}/chat/completions`, { method: 'POST', body: text, ...more })
}

async function complete(chat: ScriptedChat, body: unknown): Promise<Completion> {
  return (await post(chat, body)).json() as Promise<Completion>
}

async function chunksOf(response: Response): Promise<Chunk[]> {
  const events = (await response.text()).split('\n\n').filter((event) => event !== '')
  expect(events.pop()).toBe('data: [DONE]')
  return events.map((event) => JSON.parse(event.replace(/^data: /, '')) as Chunk)
}

/** Joins chunks as a careful client does. */
function assemble(chunks: readonly Chunk[]): { message: Message; finish: string | null } {
  const message: Message = { role: '', content: null }
  let finish: string | null = null
  for (const choice of chunks.flatMap((chunk) => chunk.choices)) {
    finish = choice.finish_reason ?? finish
    message.role = choice.delta.role ?? message.role
    if (typeof choice.delta.content === 'string')
      message.content = (message.content ?? '') + choice.delta.content
    for (const { index, id = '', type = '', function: piece } of choice.delta.tool_calls ?? []) {
      message.tool_calls ??= []
      message.tool_calls[index] ??= { id, type, function: { name: piece.name ?? '', arguments: '' } }
      message.tool_calls[index].function.arguments += piece.arguments
    }
  }
  return { message, finish }
}

describe('the scripted endpoint', () => {
  it('answers with text, deterministically', async () => {
    const chat = await start([{ text: 'Hi' }])
    expect(await complete(chat, request())).toEqual({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'scripted',
      choices: [
        { index: 0, message: { role: 'assistant', content: 'Hi' }, logprobs: null, finish_reason: 'stop' },
      ],
      usage: {
        prompt_tokens: Math.ceil('[{"role":"user","content":"Hello"}]'.length / 4),
        completion_tokens: 1,
        total_tokens: 10,
        prompt_tokens_details: { cached_tokens: 0 },
      },
    })
  })

  it('counts the ids of calls over its life and leaves given ids and texts alone', async () => {
    const chat = await start([
      {
        calls: [
          { name: 'read', arguments: { path: 'a' } },
          { name: 'read', arguments: '{"path":' },
        ],
      },
      {
        calls: [
          { name: 'read', arguments: {}, id: 'mine' },
          { name: 'read', arguments: undefined },
        ],
        finish: 'length',
      },
    ])
    const first = await complete(chat, request())
    const second = await complete(chat, request())
    expect(first.choices[0]).toMatchObject({
      message: {
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'read', arguments: '{"path":"a"}' } },
          { id: 'call_2', type: 'function', function: { name: 'read', arguments: '{"path":' } },
        ],
      },
      finish_reason: 'tool_calls',
    })
    expect(second.choices[0]).toMatchObject({
      message: { tool_calls: [{ id: 'mine' }, { id: 'call_3', function: { arguments: '{}' } }] },
      finish_reason: 'length',
    })
  })

  it('asks a model function with the request and the index among accepted ones', async () => {
    const chat = await start(async (body, index) => ({
      text: `${index}: ${String(body.messages[0]?.content)}`,
    }))
    expect((await complete(chat, request())).choices[0]?.message.content).toBe('0: Hello')
    await post(chat, request({ messages: [] }))
    expect((await complete(chat, request())).choices[0]?.message.content).toBe('1: Hello')
  })

  it('records the exact text of every body, in order, with its status', async () => {
    const chat = await start([{ text: 'Hi' }, { status: 429, error: 'Slow down.' }])
    const spaced = '{ "model" : "scripted",\n "messages":[{"content":"caf\\u00e9 é 🙂","role":"user"}] }'
    await post(chat, spaced)
    await post(chat, request())
    await post(chat, '{"model":')
    await post(chat, '[]')
    expect(chat.requests.map(({ raw, status }) => [raw, status])).toEqual([
      [spaced, 200],
      [JSON.stringify(request()), 429],
      ['{"model":', 400],
      ['[]', 400],
    ])
    expect(chat.requests[0]?.body.messages).toEqual([{ content: 'café é 🙂', role: 'user' }])
    expect(chat.requests.map(({ violation }) => violation?.code)).toEqual([
      undefined,
      undefined,
      'invalid_json',
      'invalid_type',
    ])
  })

  it('refuses a violation in the shape of OpenAI and neither asks the model nor advances the script', async () => {
    const chat = await start([{ text: 'first' }])
    const refused = await post(chat, request({ tools: [] }))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({
      error: {
        message:
          "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        type: 'invalid_request_error',
        param: 'tools',
        code: 'empty_array',
      },
    })
    expect((await complete(chat, request())).choices[0]?.message.content).toBe('first')
  })

  it('passes limits on to the rules', async () => {
    const chat = await start([{ text: 'Hi' }], { maxTools: 1 })
    expect((await post(chat, request({ tools: [tool('a'), tool('b')] }))).status).toBe(400)
    expect((await post(chat, request({ tools: [tool('a')] }))).status).toBe(200)
  })

  it('answers a scripted failure with its status and headers', async () => {
    const chat = await start([{ status: 429, error: 'Slow down.', headers: { 'retry-after': '1' } }])
    const response = await post(chat, request())
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await response.json()).toMatchObject({ error: { message: 'Slow down.' } })
  })

  it.each<[string, ScriptedChatOptions['model'], string]>([
    ['an exhausted script', [], 'The script is exhausted: it has 0 replies and this is request 1.'],
    [
      'a model that throws',
      () => {
        throw new Error('No idea.')
      },
      'No idea.',
    ],
    ['a model that rejects', () => Promise.reject('Nothing.'), 'Nothing.'],
    [
      'arguments without JSON',
      [{ calls: [{ name: 'read', arguments: 1n }] }],
      'Do not know how to serialize a BigInt',
    ],
    ['an impossible status', [{ status: 42, error: 'Odd.' }], 'Invalid status code: 42'],
  ])('answers 500 with the reason, not to be retried, to %s', async (_case, model, message) => {
    const chat = await start(model)
    const response = await post(chat, request())
    expect(response.status).toBe(500)
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await response.json()).toMatchObject({ error: { message, type: 'server_error' } })
    expect(chat.requests[0]?.status).toBe(500)
  })

  it('knows one path, one method and one key', async () => {
    const chat = await start([{ text: 'Hi' }], { apiKey: 'secret' })
    const authorization = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
    expect((await fetch(`${chat.url}/models`)).status).toBe(404)
    const got = await fetch(`${chat.url}/chat/completions`)
    expect([got.status, got.headers.get('allow')]).toEqual([405, 'POST'])
    expect((await post(chat, request())).status).toBe(401)
    expect((await post(chat, request(), authorization('wrong'))).status).toBe(401)
    expect((await post(chat, request(), authorization('secret'))).status).toBe(200)
    expect(chat.requests.map(({ status }) => status)).toEqual([401, 401, 200])
  })

  it('reads a body of 64 MiB and refuses one byte more', async () => {
    const chat = await start([])
    const limit = 64 * 1024 * 1024
    expect((await post(chat, 'a'.repeat(limit + 1))).status).toBe(413)
    expect(chat.requests).toHaveLength(0)
    expect((await post(chat, 'a'.repeat(limit))).status).toBe(400)
    expect(chat.requests[0]?.raw).toHaveLength(limit)
  })
})

describe('a stream', () => {
  const replies: readonly [string, ScriptedReply][] = [
    ['text', { text: 'A sentence of more than eight characters.' }],
    ['text beyond the basic plane', { text: '🙂'.repeat(9) + 'a🙂'.repeat(9) }],
    ['empty text', { text: '' }],
    ['nothing', {}],
    ['one call', { calls: [{ name: 'read', arguments: { path: '/tmp/🙂' } }] }],
    ['a call with empty arguments', { calls: [{ name: 'read', arguments: '' }] }],
    [
      'text and parallel calls',
      {
        text: 'Reading.',
        calls: [
          { name: 'read', arguments: { path: '/a/long/path/to/one/file' } },
          { name: 'list', arguments: {} },
          { name: 'read', arguments: '{"broken' },
        ],
      },
    ],
  ]

  it.each(replies)('of %s joins to the message of the unstreamed answer', async (_of, reply) => {
    const whole = await complete(await start([reply]), request())
    const response = await post(await start([reply]), request({ stream: true }))
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    const { message, finish } = assemble(await chunksOf(response))
    expect(message).toEqual(whole.choices[0]?.message)
    expect(finish).toBe(whole.choices[0]?.finish_reason)
  })

  it('splits text and arguments, names a call once, and lets parallel calls take turns', async () => {
    const calls = [
      { name: 'read', arguments: {} },
      { name: 'list', arguments: { depth: 1 } },
    ]
    const chunks = await chunksOf(
      await post(await start([{ text: 'Looking around.', calls }]), request({ stream: true })),
    )
    const deltas = chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta))
    expect(deltas.flatMap(({ content }) => content ?? [])).toEqual(['', 'Looking ', 'around.'])
    const fragments = deltas.flatMap((delta) => delta.tool_calls ?? [])
    expect(
      fragments.map(({ index, id, function: piece }) => [index, id, piece.name, piece.arguments]),
    ).toEqual([
      [0, 'call_1', 'read', ''],
      [1, 'call_2', 'list', ''],
      [0, undefined, undefined, '{'],
      [1, undefined, undefined, '{"de'],
      [0, undefined, undefined, '}'],
      [1, undefined, undefined, 'pth"'],
      [1, undefined, undefined, ':1}'],
    ])
    expect(chunks.some((chunk) => 'usage' in chunk)).toBe(false)
  })

  it('ends with the usage of the unstreamed answer, in a chunk without choices, when asked', async () => {
    const whole = await complete(await start([{ text: 'Hi' }]), request())
    const streamed = request({ stream: true, stream_options: { include_usage: true } })
    const chunks = await chunksOf(await post(await start([{ text: 'Hi' }]), streamed))
    expect(chunks.pop()).toMatchObject({ choices: [], usage: whole.usage })
    expect(chunks.every((chunk) => chunk.usage === null)).toBe(true)
  })

  it.each([
    { name: 'after the given number of characters', calls: [], arrived: {} },
    {
      name: 'behind a call, before the end',
      calls: [{ id: 'call_a', name: 'look', arguments: {} }],
      arrived: {
        tool_calls: [{ id: 'call_a', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
    },
  ])('breaks off $name', async ({ calls, arrived }) => {
    const chat = await start([{ cutAfter: 11, text: 'The end is never seen.', calls }])
    const response = await post(chat, request({ stream: true }))
    let received = ''
    const reading = async () => {
      for await (const bytes of response.body ?? []) received += Buffer.from(bytes).toString()
    }
    await expect(reading()).rejects.toThrow('terminated')
    const events = received.split('\n\n').filter((event) => event !== '')
    const chunks = events.map((event) => JSON.parse(event.replace('data: ', '')) as Chunk)
    const message = { role: 'assistant', content: 'The end is ', ...arrived }
    expect(assemble(chunks)).toEqual({ message, finish: null })
  })

  it.each([0, 20, 100_000])('breaks an unstreamed answer off after %i characters', async (cutAfter) => {
    const chat = await start([{ cutAfter, text: 'Never whole.' }, { text: 'Again.' }])
    const response = await post(chat, request())
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow('terminated')
    expect((await complete(chat, request())).choices[0]?.message.content).toBe('Again.')
  })
})

describe('usage', () => {
  const ask = async (chat: ScriptedChat, body: unknown) => (await complete(chat, body)).usage
  const cached = async (chat: ScriptedChat, body: unknown) =>
    (await ask(chat, body)).prompt_tokens_details.cached_tokens
  const long = (tokens: number) => 'a'.repeat(tokens * 4)
  const endless = () => ({ text: 'Hi' })

  it('counts a token for every four bytes of tools and messages', async () => {
    const body = request({ messages: [user('é🙂')], tools: [tool('read')] })
    const bytes = Buffer.byteLength(JSON.stringify(body.messages) + JSON.stringify([tool('read')]))
    const calls = [{ name: 'read', arguments: { a: 1 } }]
    expect(await ask(await start([{ text: 'Hi', calls }]), body)).toMatchObject({
      prompt_tokens: Math.ceil(bytes / 4),
      completion_tokens: Math.ceil('Hiread{"a":1}'.length / 4),
      total_tokens: Math.ceil(bytes / 4) + 4,
    })
  })

  it('renders tools before messages and nothing for absent tools', () => {
    const messages = [{ role: 'user' as const, content: 'Hello' }]
    const tools = [{ type: 'function' as const, function: { name: 'read' } }]
    expect(chatRenderOrder({ messages })).toBe('[{"role":"user","content":"Hello"}]')
    expect(chatRenderOrder({ messages, tools })).toBe(
      '[{"type":"function","function":{"name":"read"}}][{"role":"user","content":"Hello"}]',
    )
  })

  it.each([
    ['', 'abc', 0],
    ['abc', 'abd', 2],
    ['abc', 'abcd', 3],
    ['abc', 'abc', 3],
    ['xbc', 'abc', 0],
  ])('finds the common prefix of %j and %j', (a, b, length) => {
    expect(commonPrefix(a, b)).toBe(length)
    expect(commonPrefix(b, a)).toBe(length)
  })

  it('reports a shared prefix in steps of 128 tokens, from 1,024 on', async () => {
    const opening = '[{"role":"user","content":"'.length
    const fill = (tokens: number) => 'a'.repeat(tokens * 4 - opening)
    for (const [shared, expected] of [
      [1023, 0],
      [1024, 1024],
      [1151, 1024],
      [1152, 1152],
    ] as const) {
      const chat = await start(endless)
      expect(await cached(chat, request({ messages: [user(`${fill(shared)}x`)] }))).toBe(0)
      expect(await cached(chat, request({ messages: [user(`${fill(shared)}y`)] }))).toBe(expected)
    }
  })

  it('finds the prefix in any earlier request, not only the last', async () => {
    const chat = await start(endless)
    await ask(chat, request({ messages: [user(long(2000))] }))
    await ask(chat, request({ messages: [user('Something else.')] }))
    expect(await cached(chat, request({ messages: [user(long(2000)), user('More.')] }))).toBe(1920)
  })

  it('keeps the tools cached when one is appended, and loses everything when one is put in front', async () => {
    const chat = await start(endless)
    const messages = [user(long(2000))]
    const read = tool('read', long(1100))
    await ask(chat, request({ messages, tools: [read] }))
    expect(await cached(chat, request({ messages, tools: [read, tool('write')] }))).toBe(1024)
    expect(await cached(chat, request({ messages, tools: [tool('list'), read] }))).toBe(0)
  })

  it('learns nothing from a refused request', async () => {
    const chat = await start(endless)
    await post(chat, request({ messages: [user(long(2000))], stream: 'no' }))
    expect(await cached(chat, request({ messages: [user(long(2000))] }))).toBe(0)
  })
})

describe('closing', () => {
  it('ends an open stream, frees the port, and may be asked for twice', async () => {
    // More than the buffers between two ends of a connection hold, so the stream is open while nobody reads.
    const chat = await start([{ text: 'a'.repeat(4_000_000) }])
    const response = await post(chat, request({ stream: true }))
    const reader = response.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await Promise.all([chat.close(), chat.close()])
    await chat.close()
    const drain = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(drain()).rejects.toThrow('terminated')
    await expect(post(chat, request())).rejects.toThrow('fetch failed')
  })

  it('ends a request whose model is still thinking', async () => {
    let asked = () => {}
    let decide = (_reply: ScriptedReply) => {}
    const thinking = new Promise<void>((resolve) => {
      asked = resolve
    })
    const chat = await start(
      () =>
        new Promise<ScriptedReply>((resolve) => {
          decide = resolve
          asked()
        }),
    )
    const answer = expect(post(chat, request())).rejects.toThrow('fetch failed')
    await thinking
    expect(chat.requests[0]?.status).toBe(0)
    await chat.close()
    await answer
    decide({ text: 'Too late.' })
  })

  it('survives clients that leave halfway, in their request or in the answer', async () => {
    const chat = await start((_body, index) => ({
      text: index === 0 ? 'a'.repeat(4_000_000) : 'Still here.',
    }))
    const socket = connect(Number(new URL(chat.url).port), '127.0.0.1')
    await once(socket, 'connect')
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: here\r\ncontent-length: 100\r\n\r\n{"model"')
    socket.resetAndDestroy()
    const noise = connect(Number(new URL(chat.url).port), '127.0.0.1', () => noise.write('not HTTP\r\n\r\n'))
    await once(noise, 'close')
    const leaving = new AbortController()
    const response = await post(chat, request({ stream: true }), { signal: leaving.signal })
    leaving.abort()
    await expect(response.text()).rejects.toThrow()
    expect((await complete(chat, request())).choices[0]?.message.content).toBe('Still here.')
    expect(chat.requests.map(({ status }) => status)).toEqual([200, 200])
  })
})
