import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type GoogleResponse, googleRenderOrder } from '../src/google/answer.js'
import { googleProtocol } from '../src/google/protocol.js'
import type { GooglePart, GoogleRequestBody, GoogleRuleOptions } from '../src/google/request.js'
import {
  type ScriptedEndpoint,
  type ScriptedEndpointOptions,
  type ScriptedReply,
  startScriptedEndpoint,
} from '../src/scripted-endpoint.js'

type Endpoint = ScriptedEndpoint<GoogleRequestBody>

const running: Endpoint[] = []
afterEach(async () => {
  await Promise.all(running.splice(0).map((endpoint) => endpoint.close()))
})

async function start(
  model: readonly ScriptedReply[],
  more: Partial<ScriptedEndpointOptions<GoogleRequestBody>> & GoogleRuleOptions = {},
): Promise<Endpoint> {
  const endpoint = await startScriptedEndpoint(googleProtocol(more), { model, ...more })
  running.push(endpoint)
  return endpoint
}

const ask = (text: string) => ({ role: 'user' as const, parts: [{ text }] })
const request = (more: object = {}) => ({ contents: [ask('Hello')], ...more })
const tools = (...names: string[]) => [{ functionDeclarations: names.map((name) => ({ name })) }]

function post(
  endpoint: Endpoint,
  body: unknown,
  method = 'generateContent',
  headers = {},
): Promise<Response> {
  const url = `${endpoint.url}/v1beta/models/scripted:${method}`
  return fetch(url, { method: 'POST', body: JSON.stringify(body), headers })
}

async function generate(endpoint: Endpoint, body: unknown): Promise<GoogleResponse> {
  return (await post(endpoint, body)).json() as Promise<GoogleResponse>
}

async function chunksOf(endpoint: Endpoint, body: unknown): Promise<GoogleResponse[]> {
  const response = await post(endpoint, body, 'streamGenerateContent?alt=sse')
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  return events(await response.text())
}

function events(text: string): GoogleResponse[] {
  return text
    .split('\r\n\r\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as GoogleResponse)
}

/** Joins chunks as a careful client does: neighbouring text becomes one part, empty text none. */
function assemble(chunks: readonly GoogleResponse[]): GoogleResponse {
  const last = chunks.at(-1)
  if (!last) throw new Error('There is no chunk.')
  const parts: GooglePart[] = []
  for (const part of chunks.flatMap((chunk) => chunk.candidates[0].content.parts ?? [])) {
    const before = parts.at(-1)
    if (part.text === undefined) parts.push(part)
    else if (before?.text === undefined) parts.push(...(part.text === '' ? [] : [part]))
    else parts[parts.length - 1] = { text: before.text + part.text }
  }
  return { ...last, candidates: [{ ...last.candidates[0], content: { role: 'model', parts } }] }
}

describe('the scripted endpoint on the Gemini wire', () => {
  it('answers with text, deterministically', async () => {
    const endpoint = await start([{ text: 'Hi' }])
    const prompt = Math.ceil('[{"role":"user","parts":[{"text":"Hello"}]}]'.length / 4)
    expect(await generate(endpoint, request())).toEqual({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount: prompt, candidatesTokenCount: 1, totalTokenCount: prompt + 1 },
      modelVersion: 'scripted',
      responseId: 'response-1',
    })
  })

  it('sends arguments as objects, counts the ids of calls over its life and leaves given ids alone', async () => {
    const endpoint = await start([
      {
        text: 'Wait.',
        calls: [
          { name: 'read', arguments: { path: 'a' } },
          { name: 'read', arguments: '{"path":"b"}', id: 'mine' },
        ],
      },
      { calls: [{ name: 'list', arguments: undefined }], finish: 'MAX_TOKENS' },
    ])
    const first = await generate(endpoint, request())
    expect(first.candidates[0]).toEqual({
      content: {
        role: 'model',
        parts: [
          { text: 'Wait.' },
          { functionCall: { id: 'function-call-1', name: 'read', args: { path: 'a' } } },
          { functionCall: { id: 'mine', name: 'read', args: { path: 'b' } } },
        ],
      },
      finishReason: 'STOP',
      index: 0,
    })
    const second = await generate(endpoint, request())
    expect(second.candidates[0]).toMatchObject({
      content: { parts: [{ functionCall: { id: 'function-call-2', name: 'list', args: {} } }] },
      finishReason: 'MAX_TOKENS',
    })
  })

  it.each(['{"path":', '', '[1]', 'null', 7])(
    'ends without any call on the arguments %j',
    async (malformed) => {
      const calls = [
        { name: 'list', arguments: {} },
        { name: 'read', arguments: malformed },
      ]
      const endpoint = await start([{ calls }, { text: 'Wait.', calls }, { calls }])
      const ending = {
        finishReason: 'MALFORMED_FUNCTION_CALL',
        finishMessage: `Malformed function call: read(${malformed})`,
        index: 0,
      }
      expect((await generate(endpoint, request())).candidates[0]).toEqual({
        content: { role: 'model' },
        ...ending,
      })
      expect((await generate(endpoint, request())).candidates[0]).toEqual({
        content: { role: 'model', parts: [{ text: 'Wait.' }] },
        ...ending,
      })
      expect((await chunksOf(endpoint, request())).map((chunk) => chunk.candidates[0])).toEqual([
        { content: { role: 'model' }, ...ending },
      ])
    },
  )

  it('takes its own answer back in the next request', async () => {
    const endpoint = await start([{ calls: [{ name: 'read', arguments: {} }] }, { text: 'Done' }])
    const body = request({ tools: tools('read') })
    const { content } = (await generate(endpoint, body)).candidates[0]
    const id = content.parts?.[0]?.functionCall?.id
    const answer = { functionResponse: { id, name: 'read', response: { output: 'text' } } }
    const contents = [...body.contents, content, { role: 'user', parts: [answer] }]
    expect((await generate(endpoint, { ...body, contents })).candidates[0].content.parts).toEqual([
      { text: 'Done' },
    ])
  })

  it('refuses a violation in the shape of Google and does not advance the script', async () => {
    const endpoint = await start([{ text: 'Hi' }])
    const response = await post(endpoint, { contents: [] })
    const message = '* GenerateContentRequest.contents: contents is not specified'
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual({
      error: {
        code: 400,
        message,
        status: 'INVALID_ARGUMENT',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.BadRequest',
            fieldViolations: [{ field: 'contents', description: message }],
          },
        ],
      },
    })
    expect(endpoint.requests[0]?.violation?.code).toBe('missing_required_field')
    expect((await post(endpoint, request())).status).toBe(200)
  })

  it('names a scripted failure as Google does', async () => {
    const endpoint = await start([
      { status: 429, error: 'Quota exceeded.' },
      { status: 418, error: 'Teapot.' },
    ])
    expect(await generate(endpoint, request())).toEqual({
      error: { code: 429, message: 'Quota exceeded.', status: 'RESOURCE_EXHAUSTED' },
    })
    expect(await generate(endpoint, request())).toEqual({
      error: { code: 418, message: 'Teapot.', status: 'UNKNOWN' },
    })
  })

  it('knows two methods of any model, and one key', async () => {
    const endpoint = await start([{ text: 'Hi' }], { apiKey: 'secret' })
    expect((await post(endpoint, request(), 'countTokens')).status).toBe(404)
    expect((await fetch(`${endpoint.url}/v1beta/models/scripted`, { method: 'POST' })).status).toBe(404)
    expect((await post(endpoint, request())).status).toBe(401)
    expect((await post(endpoint, request(), 'generateContent', { 'x-goog-api-key': 'secret' })).status).toBe(
      200,
    )
  })

  it('signs the first call where signatures are demanded', async () => {
    const calls = [
      { name: 'read', arguments: {} },
      { name: 'read', arguments: {} },
    ]
    const endpoint = await start([{ calls }, { text: 'Done' }], { thoughtSignatures: true })
    const body = request({ tools: tools('read') })
    const { content } = (await generate(endpoint, body)).candidates[0]
    expect(content.parts?.map((part) => part.thoughtSignature)).toEqual(['dGhvdWdodCAx', undefined])

    const answers = content.parts?.map(({ functionCall }) => ({
      functionResponse: { id: functionCall?.id, name: 'read', response: {} },
    }))
    const next = (model: object) => ({ ...body, contents: [...body.contents, model, { parts: answers }] })
    const unsigned = { ...content, parts: content.parts?.map(({ functionCall }) => ({ functionCall })) }
    expect((await post(endpoint, next(unsigned))).status).toBe(400)
    expect((await post(endpoint, next(content))).status).toBe(200)
  })
})

describe('a stream on the Gemini wire', () => {
  const replies: readonly (readonly [kind: string, reply: ScriptedReply])[] = [
    ['text', { text: 'A text of more than eight characters, with 🦊🦊🦊🦊🦊🦊🦊🦊 in it.' }],
    ['a call', { calls: [{ name: 'read', arguments: { path: 'a' } }] }],
    [
      'text and parallel calls',
      {
        text: 'Wait a moment.',
        calls: [
          { name: 'read', arguments: { path: 'a' } },
          { name: 'read', arguments: { path: 'b' } },
        ],
      },
    ],
    ['a malformed call after text', { text: 'Wait.', calls: [{ name: 'read', arguments: '{' }] }],
    ['an end of its own', { text: 'Hi', finish: 'SAFETY' }],
  ]

  it.each(replies)('adds up to the unstreamed answer: %s', async (_kind, reply) => {
    const options = { thoughtSignatures: true }
    const [streamed, whole] = await Promise.all([start([reply], options), start([reply], options)])
    expect(assemble(await chunksOf(streamed, request()))).toEqual(await generate(whole, request()))
  })

  it('splits text and sends each call whole, as the only part of a chunk', async () => {
    const endpoint = await start([
      {
        text: 'A long answer.',
        calls: [
          { name: 'read', arguments: { path: 'a long path to a file' } },
          { name: 'read', arguments: {} },
        ],
      },
    ])
    const chunks = await chunksOf(endpoint, request())
    expect(chunks.map((chunk) => chunk.candidates[0].content.parts)).toEqual([
      [{ text: 'A long a' }],
      [{ text: 'nswer.' }],
      [{ functionCall: { id: 'function-call-1', name: 'read', args: { path: 'a long path to a file' } } }],
      [{ functionCall: { id: 'function-call-2', name: 'read', args: {} } }],
    ])
    expect(chunks.map((chunk) => chunk.candidates[0].finishReason)).toEqual([
      undefined,
      undefined,
      undefined,
      'STOP',
    ])
  })

  it('reports the prompt in every chunk and the whole usage in the last', async () => {
    const endpoint = await start([{ text: 'Hi' }])
    const prompt = Math.ceil(googleRenderOrder(request()).length / 4)
    expect((await chunksOf(endpoint, request())).map((chunk) => chunk.usageMetadata)).toEqual([
      { promptTokenCount: prompt, totalTokenCount: prompt },
      { promptTokenCount: prompt, candidatesTokenCount: 1, totalTokenCount: prompt + 1 },
    ])
  })

  it('ends text with an empty part, as the official chat takes a chunk without parts for a failure', async () => {
    const endpoint = await start([{ text: '' }])
    expect((await chunksOf(endpoint, request())).map((chunk) => chunk.candidates[0])).toEqual([
      { content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP', index: 0 },
    ])
  })

  it('breaks off after the given number of characters', async () => {
    const endpoint = await start([{ cutAfter: 10, text: 'Hello, world' }])
    const body = JSON.stringify(request())
    const socket = connect(Number(new URL(endpoint.url).port), '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8').on('data', (data: string) => {
      received += data
    })
    socket.write(
      'POST /v1beta/models/scripted:streamGenerateContent?alt=sse HTTP/1.1\r\nhost: localhost\r\n' +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    await once(socket, 'close')
    const pieces = [...received.matchAll(/"text":"(.*?)"/g)].map(([, text]) => text)
    expect(pieces.join('')).toBe('Hello, wor')
    expect(received).not.toContain('finishReason')
  })
})

describe('usage on the Gemini wire', () => {
  const long = (bytes: number) => 'a'.repeat(bytes)
  const cachedOf = async (...bodies: object[]) => {
    const endpoint = await start(bodies.map(() => ({ text: 'Hi' })))
    const cached: (number | undefined)[] = []
    for (const body of bodies)
      cached.push((await generate(endpoint, body)).usageMetadata.cachedContentTokenCount)
    return cached
  }

  it('renders the system instruction, then tools, then contents', () => {
    const systemInstruction = { parts: [{ text: 'Be brief.' }] }
    const body = { contents: [ask('Hi')], toolConfig: {}, tools: tools('read'), systemInstruction }
    expect(googleRenderOrder(body)).toBe(
      '{"parts":[{"text":"Be brief."}]}' +
        '[{"functionDeclarations":[{"name":"read"}]}]' +
        '[{"role":"user","parts":[{"text":"Hi"}]}]',
    )
    expect(googleRenderOrder({ contents: [ask('Hi')] })).toBe('[{"role":"user","parts":[{"text":"Hi"}]}]')
  })

  it('reports a shared prefix from 4,096 tokens on, and none by leaving the field out', async () => {
    const opening = '[{"role":"user","parts":[{"text":"'.length
    const body = (shared: number, rest: string) => ({ contents: [ask(long(shared - opening) + rest)] })
    expect(await cachedOf(body(4 * 4096, 'b'), body(4 * 4096, 'c'))).toEqual([undefined, 4096])
    expect(await cachedOf(body(4 * 4096 - 1, 'b'), body(4 * 4096 - 1, 'c'))).toEqual([undefined, undefined])
    expect(await cachedOf(body(4 * 5000, 'b'), body(4 * 5000, 'c'))).toEqual([undefined, 5000])
  })

  it('keeps the system instruction cached when the tools change, and loses the contents', async () => {
    const systemInstruction = { parts: [{ text: long(20_000) }] }
    const contents = [ask(long(40_000))]
    const [, changed, masked] = await cachedOf(
      { systemInstruction, contents, tools: tools('read') },
      { systemInstruction, contents, tools: tools('write') },
      {
        systemInstruction,
        contents,
        tools: tools('read'),
        toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['read'] } },
      },
    )
    expect(changed).toBeGreaterThanOrEqual(5000)
    expect(changed).toBeLessThan(5100)
    expect(masked).toBeGreaterThan(15_000)
  })
})
