import { afterEach, describe, expect, it } from 'vitest'
import { responsesProtocol, responsesRenderOrder } from '../src/openai-responses/protocol.js'
import type { ResponsesRequestBody } from '../src/openai-responses/request.js'
import {
  type ScriptedEndpoint,
  type ScriptedEndpointOptions,
  startScriptedEndpoint,
} from '../src/scripted-endpoint.js'
import { commonPrefix } from '../src/shared/usage.js'

type Endpoint = ScriptedEndpoint<ResponsesRequestBody>
type Options = ScriptedEndpointOptions<ResponsesRequestBody>

const running: Endpoint[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((endpoint) => endpoint.close()))
})

async function start(model: Options['model'], more: Partial<Options> = {}): Promise<Endpoint> {
  const endpoint = await startScriptedEndpoint(responsesProtocol(), { model, ...more })
  running.push(endpoint)
  return endpoint
}

interface Item {
  id: string
  type: string
  status: string
  call_id?: string
  name?: string
  namespace?: string
  arguments?: unknown
  content?: { type: string; text: string }[]
}
interface Answer {
  id: string
  status: string
  output: Item[]
  incomplete_details: unknown
  usage: { input_tokens: number; input_tokens_details: { cached_tokens: number }; output_tokens: number }
}
interface Event {
  type: string
  sequence_number: number
  output_index: number
  content_index: number
  item_id: string
  item: Item
  part: { type: string; text: string }
  delta: string
  response: Answer
}

const parameters = { type: 'object', properties: { query: { type: 'string' } } }
const search = { type: 'tool_search', execution: 'client' as const, description: 'Find tools', parameters }
const tool = (name: string, more: object = {}) => ({ type: 'function', name, description: name, ...more })
const user = (content: string) => ({ role: 'user', content })
const request = (more: object = {}): ResponsesRequestBody => ({ model: 'scripted', input: 'Hello', ...more })
const loadedBy = (call: Item, ...tools: object[]) => ({
  type: 'tool_search_output',
  execution: 'client',
  call_id: call.call_id,
  tools,
})

function post(endpoint: Endpoint, body: unknown, more: RequestInit = {}): Promise<Response> {
  return fetch(`${endpoint.url}/responses`, { method: 'POST', body: JSON.stringify(body), ...more })
}

async function ask(endpoint: Endpoint, body: unknown): Promise<Answer> {
  return (await post(endpoint, body)).json() as Promise<Answer>
}

async function stream(endpoint: Endpoint, body: object): Promise<Event[]> {
  const text = await (await post(endpoint, { ...body, stream: true })).text()
  return text
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      const [, type, data] = /^event: (.+)\ndata: (.+)$/.exec(event) ?? []
      const parsed = JSON.parse(data ?? '') as Event
      expect(parsed.type).toBe(type)
      return parsed
    })
}

/** Joins events as a careful client does, by index, and looks at no `done` event but for searches. */
function assemble(events: readonly Event[]): Item[] {
  const output: Item[] = []
  const at = (event: Event) => output[event.output_index] as Item
  for (const event of events) {
    if (event.type === 'response.output_item.added') output[event.output_index] = structuredClone(event.item)
    if (event.type === 'response.content_part.added') at(event).content?.push({ ...event.part })
    if (event.type === 'response.output_text.delta') {
      const part = at(event).content?.[event.content_index]
      if (part) part.text += event.delta
    }
    if (event.type === 'response.function_call_arguments.delta') {
      expect(event.item_id).toBe(at(event).id)
      at(event).arguments += event.delta
    }
    if (event.type === 'response.output_item.done') {
      at(event).status = event.item.status
      if (event.item.type === 'tool_search_call') at(event).arguments = event.item.arguments
    }
  }
  return output
}

describe('the scripted Responses endpoint', () => {
  it('answers with text, deterministically and without output_text, which clients add', async () => {
    const endpoint = await start([{ text: 'Hi' }])
    expect(await ask(endpoint, request({ instructions: 'Be brief', temperature: 0 }))).toEqual({
      id: 'resp_1',
      object: 'response',
      created_at: 1_700_000_000,
      status: 'completed',
      background: false,
      completed_at: 1_700_000_000,
      error: null,
      incomplete_details: null,
      instructions: 'Be brief',
      max_output_tokens: null,
      metadata: {},
      model: 'scripted',
      output: [
        {
          id: 'msg_1',
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }],
        },
      ],
      parallel_tool_calls: true,
      previous_response_id: null,
      reasoning: { effort: null, summary: null },
      store: true,
      temperature: 0,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: 1,
      truncation: 'disabled',
      usage: {
        input_tokens: Math.ceil('"Be brief"[{"role":"user","content":"Hello"}]'.length / 4),
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 13,
      },
    })
  })

  it('counts the call ids over its life and leaves given ids and texts alone', async () => {
    const endpoint = await start([
      {
        calls: [
          { name: 'read', arguments: { query: 'a' } },
          { name: 'read', arguments: '{"query":' },
        ],
      },
      { calls: [{ name: 'read', arguments: undefined, id: 'mine' }] },
    ])
    const body = request({ tools: [tool('read')] })
    expect((await ask(endpoint, body)).output).toEqual([
      {
        id: 'fc_1_1',
        type: 'function_call',
        status: 'completed',
        call_id: 'call_1',
        name: 'read',
        arguments: '{"query":"a"}',
      },
      {
        id: 'fc_1_2',
        type: 'function_call',
        status: 'completed',
        call_id: 'call_2',
        name: 'read',
        arguments: '{"query":',
      },
    ])
    expect((await ask(endpoint, body)).output).toMatchObject([{ call_id: 'mine', arguments: '{}' }])
  })

  it('says an empty text where the script says nothing', async () => {
    const endpoint = await start([{}])
    expect((await ask(endpoint, request())).output).toMatchObject([{ content: [{ text: '' }] }])
  })

  it('searches natively, and calls what was loaded in its namespace, through a whole turn', async () => {
    const endpoint = await start([
      { calls: [{ name: 'tool_search', arguments: { query: 'write' } }] },
      {
        calls: [
          { name: 'write', arguments: {} },
          { name: 'list', arguments: {} },
          { name: 'crm.list', arguments: {} },
          { name: 'read', arguments: {} },
        ],
      },
      { text: 'Done' },
    ])
    const tools = [tool('read'), search]
    const first = await ask(endpoint, request({ input: [user('Go')], tools }))
    expect(first.output).toEqual([
      {
        id: 'tsc_1_1',
        type: 'tool_search_call',
        status: 'completed',
        execution: 'client',
        call_id: 'call_1',
        arguments: { query: 'write' },
      },
    ])

    const namespace = (name: string) => ({
      type: 'namespace',
      name,
      description: name,
      tools: [tool('list')],
    })
    const found = [tool('write', { defer_loading: true }), namespace('erp'), namespace('crm')]
    const [call] = first.output as [Item]
    const input: object[] = [user('Go'), call, loadedBy(call, ...found)]
    const second = await ask(endpoint, request({ input, tools }))
    expect(second.output.map((item) => [item.name, item.namespace])).toEqual([
      ['write', 'write'],
      ['list', 'erp'],
      ['list', 'crm'],
      ['read', undefined],
    ])

    const answers = second.output.map((item) => ({
      type: 'function_call_output',
      call_id: item.call_id,
      output: '',
    }))
    input.push(...second.output, ...answers)
    expect((await ask(endpoint, request({ input, tools }))).status).toBe('completed')

    const stripped = input.map((item) => ({ ...item, namespace: undefined }))
    const refused = await post(endpoint, request({ input: stripped, tools }))
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: { type: 'invalid_request_error', code: 'missing_namespace', param: 'input[3].namespace' },
    })
  })

  it('takes a call of tool_search for an ordinary one where the native tool is absent', async () => {
    const endpoint = await start([{ calls: [{ name: 'tool_search', arguments: {} }] }])
    const { output } = await ask(endpoint, request({ tools: [tool('tool_search')] }))
    expect(output).toMatchObject([{ type: 'function_call', name: 'tool_search', arguments: '{}' }])
  })

  it('parses the arguments of a search if they are JSON', async () => {
    const calls = ['{"query":"a"}', '{"query":'].map((text) => ({ name: 'tool_search', arguments: text }))
    const endpoint = await start([{ calls }])
    const { output } = await ask(endpoint, request({ tools: [search] }))
    expect(output.map((item) => item.arguments)).toEqual([{ query: 'a' }, '{"query":'])
  })

  it('does not run the search of the server', async () => {
    const endpoint = await start([{ calls: [{ name: 'tool_search', arguments: {} }] }])
    const response = await post(endpoint, request({ tools: [{ type: 'tool_search' }] }))
    expect(response.status).toBe(500)
    expect(await response.json()).toMatchObject({ error: { type: 'server_error', code: 'script_failed' } })
  })

  it('ends as the script says', async () => {
    const endpoint = await start(() => ({ text: 'Hel', finish: 'max_output_tokens' }))
    const ended = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete' }],
    }
    expect(await ask(endpoint, request())).toMatchObject(ended)
    const last = (await stream(endpoint, request())).at(-1)
    expect(last).toMatchObject({ type: 'response.incomplete', response: ended })
  })

  it('wants the key as the official client sends it, and knows one path', async () => {
    const endpoint = await start([{ text: 'Hi' }], { apiKey: 'secret' })
    expect((await post(endpoint, request())).status).toBe(401)
    const headers = { authorization: 'Bearer secret' }
    expect((await post(endpoint, request(), { headers })).status).toBe(200)
    expect((await fetch(`${endpoint.url}/chat/completions`, { method: 'POST' })).status).toBe(404)
    expect(endpoint.url).toMatch(/\/v1$/)
  })
})

describe('a stream of the scripted Responses endpoint', () => {
  const script = {
    text: 'Reading 😀 both files',
    calls: [
      { name: 'read', arguments: { query: 'a longer query' }, id: 'a' },
      { name: 'tool_search', arguments: { query: 'more' }, id: 'b' },
      { name: 'write', arguments: {}, id: 'c' },
    ],
  }
  const call = { type: 'tool_search_call', execution: 'client', call_id: 's', arguments: {} }
  const loading = { type: 'tool_search_output', execution: 'client', call_id: 's', tools: [tool('write')] }
  const body = request({ input: [user('Go'), call, loading], tools: [tool('read'), search] })

  it('reassembles to the object, item by item and as a whole', async () => {
    const whole = await ask(await start([script]), body)
    const events = await stream(await start([script]), body)
    expect(assemble(events)).toEqual(whole.output)
    expect(events.at(-1)).toMatchObject({ type: 'response.completed' })
    expect(events.at(-1)?.response).toEqual(whole)
    const finished = events.filter((event) => event.type === 'response.output_item.done')
    expect(finished.sort((a, b) => a.output_index - b.output_index).map((event) => event.item)).toEqual(
      whole.output,
    )
  })

  it('numbers its events, opens with the empty response and names the events hosts wait for', async () => {
    const events = await stream(await start([script]), body)
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_, index) => index))
    expect(events[0]).toMatchObject({
      type: 'response.created',
      response: { status: 'in_progress', output: [] },
    })
    expect(new Set(events.map((event) => event.type))).toEqual(
      new Set([
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.function_call_arguments.delta',
        'response.function_call_arguments.done',
        'response.completed',
      ]),
    )
  })

  it('lets parallel calls take turns', async () => {
    const events = await stream(await start([script]), body)
    const deltas = events.filter((event) => event.type === 'response.function_call_arguments.delta')
    expect(deltas.slice(0, 4).map((event) => event.output_index)).toEqual([1, 3, 1, 3])
  })

  it('breaks off within the text, with nothing closed', async () => {
    const endpoint = await start([{ text: 'Hello, world', cutAfter: 9 }])
    const response = await post(endpoint, request({ stream: true }))
    let received = ''
    const decoder = new TextDecoder()
    await expect(async () => {
      for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
        received += decoder.decode(chunk, { stream: true })
      }
    }).rejects.toThrow()
    const deltas = [...received.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta)
    expect(deltas.join('')).toBe('Hello, wo')
    expect(received).not.toMatch(/\.done|completed"/)
  })
})

describe('the render order of the Responses wire', () => {
  it('is tools, instructions, items', () => {
    const body = request({ tools: [tool('read')], instructions: 'Be brief', input: [user('Hello')] })
    expect(responsesRenderOrder(body)).toBe(
      JSON.stringify(body.tools) + JSON.stringify('Be brief') + JSON.stringify(body.input),
    )
    expect(responsesRenderOrder(request())).toBe(responsesRenderOrder({ input: [user('Hello')] }))
  })

  it('withholds the schema of a deferred function and all of a deferred member', () => {
    const late = { defer_loading: true, parameters }
    const crm = { type: 'namespace', name: 'crm', description: 'Customers' }
    const tools = [search, tool('write', late), { ...crm, tools: [tool('list'), tool('drop', late)] }]
    const shown = [search, tool('write'), { ...crm, tools: [tool('list')] }]
    expect(responsesRenderOrder(request({ tools }))).toBe(responsesRenderOrder(request({ tools: shown })))
    const adding = (list: object[]) =>
      request({ input: [{ type: 'additional_tools', role: 'developer', tools: list }] })
    expect(responsesRenderOrder(adding(tools))).toBe(responsesRenderOrder(adding(shown)))
  })

  it('shows loaded definitions whole, in the place of their item, so that loading keeps the prefix', () => {
    const tools = [search]
    const call = { type: 'tool_search_call', execution: 'client' as const, call_id: 's', arguments: {} }
    const loading = { ...call, type: 'tool_search_output', tools: [tool('write', { parameters })] }
    const before = responsesRenderOrder({ tools, input: [user('Go'), call] })
    const after = responsesRenderOrder({ tools, input: [user('Go'), call, loading] })
    expect(commonPrefix(before, after)).toBe(before.length - 1)
    expect(after).toContain(JSON.stringify(parameters))
  })
})

describe('the cache of the scripted Responses endpoint', () => {
  it('keeps whole steps of 128 tokens from 1,024 on, through the loading of a tool', async () => {
    const endpoint = await start(() => ({ text: 'Hi' }))
    const long = user('a'.repeat(5000))
    const call = { type: 'tool_search_call', execution: 'client', call_id: 's', arguments: {} }
    const loading = { ...call, type: 'tool_search_output', tools: [tool('write')] }
    const cached = async (body: object) =>
      (await ask(endpoint, request(body))).usage.input_tokens_details.cached_tokens
    expect(await cached({ input: [long], tools: [search] })).toBe(0)
    expect(await cached({ input: [long, call, loading], tools: [search] })).toBe(1280)
    expect(await cached({ input: [long], tools: [tool('other'), search] })).toBe(0)
  })
})
