/**
 * The HTTP server of every scripted endpoint, whatever its wire: a real one on the loopback interface, at the far end of
 * the flow, so that tests assert on the bytes a provider would get and break where a strict provider would refuse.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { assertKnownKeys } from '@toolwell/core/internal'
import type {
  AnswerContext,
  Protocol,
  RenderedAnswer,
  ScriptedAnswer,
  ScriptedCall,
  Violation,
} from './shared/protocol.js'

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
  /** A stream breaks behind these calls, before its end. */
  readonly calls?: readonly ScriptedCall[]
}

export type ScriptedReply = ScriptedAnswer | ScriptedFailure | ScriptedCut

/** `index` counts accepted requests from 0. What it throws is answered with status 500. */
export type ScriptedModel<Body extends object = object> = (
  request: Body,
  index: number,
) => ScriptedReply | Promise<ScriptedReply>

export interface ScriptedEndpointOptions<Body extends object> {
  /** A list answers the i-th accepted request with its i-th reply, and with status 500 once it is used up. */
  readonly model: ScriptedModel<Body> | readonly ScriptedReply[]
  /** When given, requests need it, in the header of the wire. */
  readonly apiKey?: string
  /** What stands in the record of a request whose body is no JSON object; `{}` when absent. */
  readonly emptyBody?: Body
}

export interface RecordedRequest<Body extends object = object> {
  /** The body's exact text. */
  readonly raw: string
  /** As parsed. Only a request without violation is sure to have this shape; a body that is no object becomes an empty request. */
  readonly body: Body
  /** 0 until the answer begins. */
  readonly status: number
  readonly violation?: Violation
}

export interface ScriptedEndpoint<Body extends object> {
  /** The base URL the official client of the wire wants. */
  readonly url: string
  /** Every body posted to the endpoint, refused ones included, in order of arrival. */
  readonly requests: readonly RecordedRequest<Body>[]
  /** Idempotent. Ends open connections, streams included; resolves when the port is free. */
  close(): Promise<void>
}

const BODY_LIMIT = 64 * 1024 * 1024
/** The official clients repeat a 500 unless told otherwise, which would bury a mistake in the script under retries. */
const NO_RETRY = { 'x-should-retry': 'false' }

type Recorded<Body extends object> = {
  -readonly [Key in keyof RecordedRequest<Body>]: RecordedRequest<Body>[Key]
}

type ErrorDetails = [
  message: string,
  code: string | null,
  headers?: ScriptedFailure['headers'],
  param?: string | null,
]

/**
 * Every request is judged by the protocol's rules first; one that breaks a rule gets a 400 and the script does not
 * advance. The protocol belongs to this endpoint alone, as it may remember what it has answered.
 */
export async function startScriptedEndpoint<Body extends object>(
  protocol: Protocol<Body>,
  options: ScriptedEndpointOptions<Body>,
): Promise<ScriptedEndpoint<Body>> {
  assertModel(options)
  const requests: Recorded<Body>[] = []
  /** The accepted requests in render order, for the prefix cache. */
  const rendered: string[] = []
  let defaultIds = 0

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refuse = (status: number, ...[message, code, headers = {}, param = null]: ErrorDetails) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(protocol.errorObject(status, message, code, param)))
    }
    const path = request.url?.split('?')[0] ?? ''
    const matched = protocol.match(path)
    if (!matched) return refuse(404, `Unknown request URL: ${request.method} ${request.url}.`, 'unknown_url')
    if (request.method !== 'POST') {
      const message = `Not allowed to ${request.method} on ${path} (Hint: it takes POST).`
      return refuse(405, message, 'method_not_supported', { allow: 'POST' })
    }
    const raw = await readBody(request)
    if (raw === undefined) return refuse(413, `The body exceeds ${BODY_LIMIT} bytes.`, 'body_too_large')
    const record = judged(raw)
    requests.push(record)
    // Noted before the first byte leaves, so that a client holding an answer finds its status here.
    const fail = (status: number, ...rest: ErrorDetails) => {
      record.status = status
      refuse(status, ...rest)
    }
    if (options.apiKey !== undefined && !protocol.authorised(request.headers, options.apiKey)) {
      return fail(401, 'Incorrect API key provided.', 'invalid_api_key')
    }
    if (record.violation) {
      return fail(400, record.violation.message, record.violation.code, {}, record.violation.param)
    }

    const index = rendered.push(protocol.renderOrder(record.body)) - 1
    try {
      const reply = await replyTo(record.body, index)
      if ('status' in reply) return fail(reply.status, reply.error, null, reply.headers)
      const streamed = matched.stream || protocol.wantsStream(record.body)
      const cut = 'cutAfter' in reply ? reply.cutAfter : undefined
      // A stream breaks off within the text, so the text that is never sent does not reach the protocol.
      const scripted = streamed && 'cutAfter' in reply ? { ...reply, text: reply.text.slice(0, cut) } : reply
      const answered = protocol.answer(scripted, record.body, contextOf(index))
      record.status = 200
      if (streamed) await sendStream(response, answered, cut !== undefined)
      else await sendObject(response, answered, cut)
    } catch (error) {
      if (response.headersSent) throw error
      fail(500, error instanceof Error ? error.message : String(error), 'script_failed', NO_RETRY)
    }
  }

  function judged(raw: string): Recorded<Body> {
    const emptyBody = options.emptyBody ?? ({} as Body)
    let body: unknown
    try {
      body = JSON.parse(raw)
    } catch {
      const message = 'We could not parse the JSON body of your request. The API expects a JSON payload.'
      return { raw, body: emptyBody, status: 0, violation: { message, param: null, code: 'invalid_json' } }
    }
    const violation = protocol.violationOf(body)
    const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
    return { raw, body: isObject ? (body as Body) : emptyBody, status: 0, ...(violation && { violation }) }
  }

  async function replyTo(body: Body, index: number): Promise<ScriptedReply> {
    const { model } = options
    if (typeof model === 'function') {
      const made = await model(body, index)
      assertReply(made, `Reply ${index}`)
      return made
    }
    const reply = model[index]
    if (reply) return reply
    throw new Error(
      `The script is exhausted: it has ${model.length} replies and this is request ${index + 1}.`,
    )
  }

  function contextOf(index: number): AnswerContext {
    return {
      index,
      rendered: rendered[index] ?? '',
      earlier: rendered.slice(0, index),
      nextCallId: (prefix) => `${prefix}${++defaultIds}`,
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
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${protocol.basePath}`,
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

const REPLY_KEYS = ['text', 'calls', 'thinking', 'finish', 'status', 'error', 'headers', 'cutAfter']

/** Scripts are often written without types: a slip in one is told, and not played. */
function assertModel({ model }: { readonly model: unknown }): void {
  if (typeof model === 'function') return
  if (!Array.isArray(model))
    throw new TypeError(
      'A scripted endpoint needs a model: a list of replies such as { text: "Done." }, or a function.',
    )
  for (const [index, reply] of model.entries()) assertReply(reply, `model[${index}]`)
}

function assertReply(reply: unknown, place: string): void {
  assertKnownKeys(reply, REPLY_KEYS, place)
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

async function sendObject(response: ServerResponse, { object }: RenderedAnswer, cut?: number): Promise<void> {
  const text = JSON.stringify(object)
  response.writeHead(200, { 'content-type': 'application/json' })
  if (cut === undefined) {
    response.end(text)
    return
  }
  response.flushHeaders()
  if (cut > 0) await send(response, text.slice(0, cut))
  response.socket?.destroySoon()
}

/** A protocol's last piece is its whole ending, and what a cut stream lacks. */
async function sendStream(response: ServerResponse, answered: RenderedAnswer, cut: boolean): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  let held: string | undefined
  for (const piece of answered.stream()) {
    if (held !== undefined && !(await send(response, held))) return
    held = piece
  }
  if (cut) response.socket?.destroySoon()
  else response.end(held)
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
