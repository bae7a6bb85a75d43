/**
 * The HTTP server behind every scripted endpoint. It is a real server on loopback, so tests assert on the bytes a provider would
 * receive and fail on requests that a strict provider refuses.
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

/** Replies with an HTTP error. A client that retries gets the next reply of the script. */
export interface ScriptedFailure {
  readonly status: number
  readonly error: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Breaks the connection after this many characters: of the text in a stream, otherwise of the JSON body. */
export interface ScriptedCut {
  readonly cutAfter: number
  readonly text: string
  /** A stream breaks after these calls, before its end. */
  readonly calls?: readonly ScriptedCall[]
}

export type ScriptedReply = ScriptedAnswer | ScriptedFailure | ScriptedCut

/** `index` counts accepted requests from 0. An exception becomes status 500. */
export type ScriptedModel<Body extends object = object> = (
  request: Body,
  index: number,
) => ScriptedReply | Promise<ScriptedReply>

export interface ScriptedEndpointOptions<Body extends object> {
  /** A list answers accepted requests in order, and with status 500 after its last reply. */
  readonly model: ScriptedModel<Body> | readonly ScriptedReply[]
  /** Required in the wire's header if set. */
  readonly apiKey?: string
  /** Recorded for a body that is not a JSON object. Default: `{}`. */
  readonly emptyBody?: Body
}

export interface RecordedRequest<Body extends object = object> {
  /** Exact text of the body. */
  readonly raw: string
  /** Parsed body. Only a request without a violation is guaranteed to have this shape. */
  readonly body: Body
  /** 0 until the answer begins. */
  readonly status: number
  readonly violation?: Violation
}

export interface ScriptedEndpoint<Body extends object> {
  /** Base URL for the official client of the wire. */
  readonly url: string
  /** Every request body in order of arrival, including refused ones. */
  readonly requests: readonly RecordedRequest<Body>[]
  /** Closes open connections, including streams, and resolves when the port is free. Idempotent. */
  close(): Promise<void>
}

const BODY_LIMIT = 64 * 1024 * 1024
/** Official clients retry a 500 by default, which would hide mistakes in the script. */
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
 * Checks every request against the rules of the protocol. A violation gets a 400 and does not advance the script. Use a new
 * protocol for each endpoint, because it may keep state.
 */
export async function startScriptedEndpoint<Body extends object>(
  protocol: Protocol<Body>,
  options: ScriptedEndpointOptions<Body>,
): Promise<ScriptedEndpoint<Body>> {
  assertModel(options)
  const requests: Recorded<Body>[] = []
  /** Accepted requests in render order, for the prefix cache. */
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
    // Recorded before the first byte is sent, so that a client with an answer finds its status here.
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
      // Cuts the text first, so that the protocol never sees the part that is not sent.
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
    // A client may disconnect at any time, even while sending its body.
    response.on('error', () => {})
    answer(request, response).catch(() => response.destroy())
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  // Connections stay open until close(), so that clients never reuse an expired connection.
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

/** Reports mistakes in scripts written without types. */
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

/** Undefined above the limit. Still reads to the end, because a client that is sending would miss the answer. */
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

/** The last piece of a protocol is the whole ending, which a cut stream lacks. */
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

/** Waits while the client does not read. False if it has left. */
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
