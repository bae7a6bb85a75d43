/** Sessions of the older protocol over HTTP: one server and one transport each, ended by the client or by silence. */

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
  /** Milliseconds without a request and without an open stream. */
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
  /** The requests under way. The transport finds the one that an answer belongs to by its id alone. */
  readonly requests: OpenRequests
  lastUsed: number
  /** Requests whose answers are still being written, the open stream among them. */
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
    // A session of another endpoint is as unknown as one that was never there.
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

  /** A request of a session is under way, until the function is called that it gives: a stream may stay open for hours. */
  hold(id: string): () => void {
    const session = this.#sessions.get(id)
    if (!session) return () => undefined
    session.open++
    return () => {
      session.open--
      session.lastUsed = this.#options.now()
    }
  }

  /** Ends what has been silent for too long. */
  sweep(): void {
    const { idle, now } = this.#options
    for (const session of this.#sessions.values())
      if (session.open === 0 && now() - session.lastUsed >= idle) void session.server.close()
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.close().catch(() => undefined)))
  }

  /** Makes room: of those that nobody waits in, the one that was silent longest. */
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
    const server = endpoint.serverFor({ client: `session ${id}`, conversation: id, era: 'legacy' })
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
    // It was refused: nothing has begun.
    if (!this.#sessions.has(id)) await server.close()
    return response
  }
}

function isInitialize(body: unknown): boolean {
  return [body].flat().some((message) => isInitializeRequest(message))
}

/** Somebody would begin, and what they say is not what the protocol has for that. */
function refuseInitialize(body: unknown): Response | undefined {
  const beginning = [body].flat().find((message) => isRecord(message) && message.method === 'initialize')
  if (!isRecord(beginning)) return undefined
  const message = describeInvalid('initialize', beginning) ?? 'Invalid initialize: it is no request.'
  return refusal(400, message, { code: -32602, id: isId(beginning.id) ? beginning.id : null })
}

function refusal(
  status: number,
  message: string,
  { code = -32000, id = null }: { readonly code?: number; readonly id?: RequestId | null } = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id }, { status })
}

// The requests of one session that have no answer yet. Those that were sent together are answered in one stream.

interface Stream {
  readonly waiting: Set<RequestId>
  readonly cancelled: Set<RequestId>
}

class OpenRequests {
  readonly #transport: WebStandardStreamableHTTPServerTransport
  readonly #send: WebStandardStreamableHTTPServerTransport['send']
  readonly #streams = new Map<RequestId, Stream>()

  /** Sees every answer that the transport is given from now on. */
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

  /** They were sent together. */
  add(ids: readonly RequestId[]): void {
    const stream: Stream = { waiting: new Set(ids), cancelled: new Set() }
    for (const id of ids) this.#streams.set(id, stream)
  }

  /** They were refused: nothing has begun. */
  drop(ids: readonly RequestId[]): void {
    for (const id of ids) this.#take(id)
  }

  /** What is cancelled is not answered, and the transport ends a stream only with its last answer. */
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
      // It is that of another request by now.
      if (this.#streams.has(id)) continue
      // Reaches nobody, for the stream is closed: the transport forgets a request with its answer.
      const error = { code: -32000, message: 'The request was cancelled.' }
      this.#send({ jsonrpc: '2.0', id, error }).catch(() => undefined)
    }
  }
}
