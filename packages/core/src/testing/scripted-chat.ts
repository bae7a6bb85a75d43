/**
 * A Chat Completions endpoint whose model is a script: a real HTTP server on the loopback interface, at the far end of
 * the flow, so that tests assert on the bytes a provider would get and break where a strict provider would refuse.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ChatCompletion, completionObject, deltaChunks, endingChunks } from './chat-completion.js'
import { type ChatRequestBody, type ChatRuleOptions, type ChatViolation, violationOf } from './chat-rules.js'
import { renderOrder, usageOf } from './chat-usage.js'

export type { ChatMessage, ChatRequestBody, ChatTool, ChatToolCall, ChatViolation } from './chat-rules.js'
export { commonPrefix, renderOrder } from './chat-usage.js'

export interface ScriptedCall {
  readonly name: string
  /** A string is sent as it is, broken JSON included; anything else as its JSON. */
  readonly arguments: unknown
  /** `call_1`, `call_2` … over the server's life when absent. */
  readonly id?: string
}

export interface ScriptedAnswer {
  readonly text?: string
  readonly calls?: readonly ScriptedCall[]
  /** `tool_calls` with calls and `stop` without when absent. */
  readonly finish?: string
}

/** Answered as an HTTP error. Clients that retry will ask again, and the script moves on by one. */
export interface ScriptedFailure {
  readonly status: number
  readonly error: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The connection breaks after this many characters: of the text in a stream, of the JSON body otherwise. */
export interface ScriptedCut {
  readonly cutAfter: number
  readonly text: string
}

export type ScriptedReply = ScriptedAnswer | ScriptedFailure | ScriptedCut

/** `index` counts accepted requests from 0. What it throws is answered with status 500. */
export type ScriptedModel = (
  request: ChatRequestBody,
  index: number,
) => ScriptedReply | Promise<ScriptedReply>

/** The rule options tighten the gate to one server's limits. */
export interface ScriptedChatOptions extends ChatRuleOptions {
  /** A list answers the i-th accepted request with its i-th reply, and with status 500 once it is used up. */
  readonly model: ScriptedModel | readonly ScriptedReply[]
  /** When given, requests need `authorization: Bearer <apiKey>`. */
  readonly apiKey?: string
}

export interface RecordedRequest {
  /** The body's exact text. */
  readonly raw: string
  /** As parsed. Only a request without violation is sure to have this shape; a body that is no object becomes an empty request. */
  readonly body: ChatRequestBody
  /** 0 until the answer begins. */
  readonly status: number
  readonly violation?: ChatViolation
}

export interface ScriptedChat {
  /** The base URL, ending in `/v1`. */
  readonly url: string
  /** Every body posted to the endpoint, refused ones included, in order of arrival. */
  readonly requests: readonly RecordedRequest[]
  /** Idempotent. Ends open connections, streams included; resolves when the port is free. */
  close(): Promise<void>
}

const PATH = '/v1/chat/completions'
const BODY_LIMIT = 64 * 1024 * 1024
/** The OpenAI clients repeat a 500 unless told otherwise, which would bury a mistake in the script under retries. */
const NO_RETRY = { 'x-should-retry': 'false' }

type Recorded = { -readonly [Key in keyof RecordedRequest]: RecordedRequest[Key] }

/** Every request is judged by `violationOf` first; one that breaks a rule gets a 400 and the script does not advance. */
export async function startScriptedChat(options: ScriptedChatOptions): Promise<ScriptedChat> {
  const requests: Recorded[] = []
  /** The accepted requests in render order, for the prefix cache. */
  const rendered: string[] = []
  let defaultIds = 0

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url?.split('?')[0] !== PATH) {
      return sendError(response, 404, `Unknown request URL: ${request.method} ${request.url}.`, 'unknown_url')
    }
    if (request.method !== 'POST') {
      const message = `Not allowed to ${request.method} on ${PATH} (Hint: it takes POST).`
      return sendError(response, 405, message, 'method_not_supported', { allow: 'POST' })
    }
    const raw = await readBody(request)
    if (raw === undefined)
      return sendError(response, 413, `The body exceeds ${BODY_LIMIT} bytes.`, 'body_too_large')
    const record = judged(raw, options)
    requests.push(record)
    // Noted before the first byte leaves, so that a client holding an answer finds its status here.
    const fail = (status: number, ...rest: ErrorDetails) => {
      record.status = status
      sendError(response, status, ...rest)
    }
    if (options.apiKey !== undefined && request.headers.authorization !== `Bearer ${options.apiKey}`) {
      return fail(401, 'Incorrect API key provided.', 'invalid_api_key')
    }
    if (record.violation) {
      return fail(400, record.violation.message, record.violation.code, {}, record.violation.param)
    }

    const index = rendered.push(renderOrder(record.body)) - 1
    try {
      const reply = await replyTo(record.body, index)
      if ('status' in reply) return fail(reply.status, reply.error, null, reply.headers)
      const completion = complete(reply, record.body, index)
      const cut = 'cutAfter' in reply ? reply.cutAfter : undefined
      record.status = 200
      if (record.body.stream) await sendStream(response, completion, record.body, cut)
      else await sendObject(response, completion, cut)
    } catch (error) {
      if (response.headersSent) throw error
      fail(500, error instanceof Error ? error.message : String(error), 'script_failed', NO_RETRY)
    }
  }

  async function replyTo(body: ChatRequestBody, index: number): Promise<ScriptedReply> {
    const { model } = options
    if (typeof model === 'function') return model(body, index)
    const reply = model[index]
    if (reply) return reply
    throw new Error(
      `The script is exhausted: it has ${model.length} replies and this is request ${index + 1}.`,
    )
  }

  function complete(
    reply: ScriptedAnswer | ScriptedCut,
    body: ChatRequestBody,
    index: number,
  ): ChatCompletion {
    const { text, calls: scripted = [], finish } = reply as ScriptedAnswer
    const calls = scripted.map(({ name, arguments: input, id }) => ({
      id: id ?? `call_${++defaultIds}`,
      type: 'function' as const,
      function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
    }))
    const written = [text ?? '', ...calls.flatMap((call) => [call.function.name, call.function.arguments])]
    return {
      id: `chatcmpl-${index + 1}`,
      model: body.model,
      content: text ?? (calls.length > 0 ? null : ''),
      calls,
      finish: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
      usage: usageOf(rendered[index] ?? '', rendered.slice(0, index), written.join('')),
    }
  }

  const server = createServer((request, response) => {
    // A client may leave at any moment, also halfway through its own body; nobody is left to be told.
    response.on('error', () => {})
    answer(request, response).catch(() => response.destroy())
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  // Kept-alive connections stay until close(): a client never meets one that has just timed out.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })

  let closed: Promise<void> | undefined
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close() {
      closed ??= new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
      return closed
    },
  }
}

function judged(raw: string, options: ChatRuleOptions): Recorded {
  let body: unknown
  try {
    body = JSON.parse(raw)
  } catch {
    const message = 'We could not parse the JSON body of your request. The API expects a JSON payload.'
    const violation = { message, param: null, code: 'invalid_json' }
    return { raw, body: { model: '', messages: [] }, status: 0, violation }
  }
  const violation = violationOf(body, options)
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  return {
    raw,
    body: isObject ? (body as ChatRequestBody) : { model: '', messages: [] },
    status: 0,
    ...(violation && { violation }),
  }
}

/** Undefined above the limit. Reads to the end even then: a client that is still sending would miss the answer. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  let chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > BODY_LIMIT) chunks = []
    else chunks.push(chunk)
  }
  return size > BODY_LIMIT ? undefined : Buffer.concat(chunks).toString('utf8')
}

type ErrorDetails = [
  message: string,
  code: string | null,
  headers?: ScriptedFailure['headers'],
  param?: string | null,
]

function sendError(response: ServerResponse, status: number, ...details: ErrorDetails): void {
  const [message, code, headers = {}, param = null] = details
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ error: { message, type, param, code } }))
}

async function sendObject(response: ServerResponse, completion: ChatCompletion, cut?: number): Promise<void> {
  const text = JSON.stringify(completionObject(completion))
  response.writeHead(200, { 'content-type': 'application/json' })
  if (cut === undefined) {
    response.end(text)
    return
  }
  response.flushHeaders()
  if (cut > 0) await send(response, text.slice(0, cut))
  response.socket?.destroySoon()
}

async function sendStream(
  response: ServerResponse,
  completion: ChatCompletion,
  body: ChatRequestBody,
  cut?: number,
): Promise<void> {
  const includeUsage =
    (body.stream_options as { include_usage?: unknown } | undefined)?.include_usage === true
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  const sent =
    cut === undefined ? completion : { ...completion, content: completion.content?.slice(0, cut) ?? '' }
  for (const chunk of deltaChunks(sent, includeUsage)) {
    if (!(await send(response, event(chunk)))) return
  }
  if (cut !== undefined) {
    response.socket?.destroySoon()
    return
  }
  const ending = [...endingChunks(sent, includeUsage)].map(event).join('')
  response.end(`${ending}data: [DONE]\n\n`)
}

function event(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** Waits while the client does not read. False once it has gone. */
async function send(response: ServerResponse, text: string): Promise<boolean> {
  if (response.destroyed) return false
  if (response.write(text)) return true
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done)
      resolve()
    }
    response.on('drain', done).on('close', done)
  })
  return !response.destroyed
}
