/** HTTP sessions of the older protocol: one server and one transport each, ended by the client or after a time without requests. */
import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  type McpHandlerRequestOptions,
  type RequestId,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { isRecord } from '@toolwell/core/internal'
import { describeInvalid } from '../answer/checked-server.js'
import { describeTakenId, isId } from '../bridge/messages.js'
import type { Endpoint } from './endpoint.js'

export interface SessionsOptions {
  /** Milliseconds without a request or an open stream after which a session ends. */
  readonly idle: number
  readonly most: number
  readonly maxRequestBodySize: number
  readonly now: () => number
  readonly onOpen: (id: string, server: Server, endpoint: Endpoint) => void
  readonly onClose: (id: string) => void
}

interface Session {
  readonly endpoint: Endpoint
  readonly server: Server
  readonly transport: WebStandardStreamableHTTPServerTransport
  /** Requests without an answer. The transport matches answers by id alone. */
  readonly requests: OpenRequests
  lastUsed: number
  /** Responses still being written, including the open stream. */
  open: number
}

export class Sessions {
  readonly #options: SessionsOptions
  readonly #sessions = new Map<string, Session>()
  readonly #sweeping: NodeJS.Timeout

  constructor(options: SessionsOptions) {
    this.#options = options
    this.#sweeping = setInterval(() => this.sweep(), Math.min(options.idle, 60_000))
    this.#sweeping.unref()
  }

  async fetch(request: Request, endpoint: Endpoint, options: McpHandlerRequestOptions): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null && isInitialize(options.parsedBody)) return this.#begin(request, endpoint, options)
    const wrong = id === null ? refuseInitialize(options.parsedBody) : undefined
    if (wrong) return wrong
    const session = id === null ? undefined : this.#sessions.get(id)
    if (id === null)
      return refusal(400, 'The header Mcp-Session-Id is missing. Begin a session with initialize.')
    // A session of another endpoint counts as unknown.
    if (session?.endpoint !== endpoint)
      return refusal(404, 'There is no such session. Begin a new one with initialize.')
    session.lastUsed = this.#options.now()
    return this.#ask(session, request, options)
  }

  async #ask(
    { transport, requests }: Session,
    request: Request,
    options: McpHandlerRequestOptions,
  ): Promise<Response> {
    const messages = [options.parsedBody].flat().filter(isRecord)
    const asked = messages.flatMap(({ method, id }) => (typeof method === 'string' && isId(id) ? [id] : []))
    const taken = asked.find((id, index) => requests.has(id) || asked.indexOf(id) < index)
    if (taken !== undefined) return refusal(400, describeTakenId(taken))
    requests.add(asked)
    const response = await transport.handleRequest(request, options)
    if (!response.ok) requests.drop(asked)
    else
      for (const { method, params } of messages)
        if (method === 'notifications/cancelled' && isRecord(params) && isId(params.requestId))
          requests.cancel(params.requestId)
    return response
  }

  has(id: string | undefined): boolean {
    return id !== undefined && this.#sessions.has(id)
  }

  /** Keeps a session open until the returned function is called. A stream may stay open for hours. */
  hold(id: string): () => void {
    const session = this.#sessions.get(id)
    if (!session) return () => undefined
    session.open++
    return () => {
      session.open--
      session.lastUsed = this.#options.now()
    }
  }

  /** Ends idle sessions. */
  sweep(): void {
    const { idle, now } = this.#options
    for (const session of this.#sessions.values())
      if (session.open === 0 && now() - session.lastUsed >= idle) void session.server.close()
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.close().catch(() => undefined)))
  }

  /** Ends the session without open requests that was idle longest. Returns whether there was one. */
  async #endOldest(): Promise<boolean> {
    const silent = [...this.#sessions.values()].filter(({ open }) => open === 0)
    const [first] = silent.sort((a, b) => a.lastUsed - b.lastUsed)
    await first?.server.close().catch(() => undefined)
    return first !== undefined
  }

  async #begin(request: Request, endpoint: Endpoint, options: McpHandlerRequestOptions): Promise<Response> {
    const { most, maxRequestBodySize, now, onOpen, onClose } = this.#options
    if (this.#sessions.size >= most && !(await this.#endOldest()))
      return refusal(503, `There are ${most} sessions already. Close some, or wait until they end.`)
    const id = randomUUID()
    const server = endpoint.serverFor({ client: nameSession(id), conversation: id, era: 'legacy' })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize,
      onsessioninitialized: () => {
        this.#sessions.set(id, { endpoint, server, transport, requests, lastUsed: now(), open: 0 })
        onOpen(id, server, endpoint)
      },
    })
    const { onclose } = server
    server.onclose = () => {
      if (this.#sessions.delete(id)) onClose(id)
      onclose?.()
    }
    const requests = new OpenRequests(transport)
    await server.connect(transport)
    const response = await transport.handleRequest(request, options)
    // The transport refused the request.
    if (!this.#sessions.has(id)) await server.close()
    return response
  }
}

/** The id of a session as the owner of processes. */
export function nameSession(id: string): string {
  return `session ${id}`
}

function isInitialize(body: unknown): boolean {
  return [body].flat().some((message) => isInitializeRequest(message))
}

/** Refuses an `initialize` message that is not a valid request. */
function refuseInitialize(body: unknown): Response | undefined {
  const beginning = [body].flat().find((message) => isRecord(message) && message.method === 'initialize')
  if (!isRecord(beginning)) return undefined
  const message = describeInvalid('initialize', beginning) ?? 'Invalid initialize: not a request.'
  return refusal(400, message, { code: -32602, id: isId(beginning.id) ? beginning.id : null })
}

function refusal(
  status: number,
  message: string,
  { code = -32000, id = null }: { readonly code?: number; readonly id?: RequestId | null } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status })
}

interface Stream {
  readonly waiting: Set<RequestId>
  readonly cancelled: Set<RequestId>
}

class OpenRequests {
  readonly #transport: WebStandardStreamableHTTPServerTransport
  readonly #send: WebStandardStreamableHTTPServerTransport['send']
  readonly #streams = new Map<RequestId, Stream>()

  /** Wraps `send` to see every answer. */
  constructor(transport: WebStandardStreamableHTTPServerTransport) {
    this.#transport = transport
    this.#send = transport.send.bind(transport)
    transport.send = async (message, options) => {
      const id = 'method' in message ? undefined : message.id
      const stream = id === undefined ? undefined : this.#take(id)
      await this.#send(message, options)
      if (id !== undefined && stream) this.#endIfOver(stream, id)
    }
  }

  has(id: RequestId): boolean {
    return this.#streams.has(id)
  }

  /** Adds requests that were sent together and share one stream. */
  add(ids: readonly RequestId[]): void {
    const stream: Stream = { waiting: new Set(ids), cancelled: new Set() }
    for (const id of ids) this.#streams.set(id, stream)
  }

  /** Forgets refused requests. */
  drop(ids: readonly RequestId[]): void {
    for (const id of ids) this.#take(id)
  }

  /** Cancelled requests get no answer, but the transport closes a stream only after the last answer. */
  cancel(id: RequestId): void {
    const stream = this.#take(id)
    if (!stream) return
    stream.cancelled.add(id)
    this.#endIfOver(stream, id)
  }

  #take(id: RequestId): Stream | undefined {
    const stream = this.#streams.get(id)
    this.#streams.delete(id)
    stream?.waiting.delete(id)
    return stream
  }

  #endIfOver({ waiting, cancelled }: Stream, last: RequestId): void {
    if (waiting.size > 0) return
    this.#transport.closeSSEStream(last)
    for (const id of cancelled) {
      // The id was used again.
      if (this.#streams.has(id)) continue
      // The stream is closed, so nobody reads this. The transport forgets a request only with its answer.
      const error = { code: -32000, message: 'The request was cancelled.' }
      this.#send({ jsonrpc: '2.0', id, error }).catch(() => undefined)
    }
  }
}
