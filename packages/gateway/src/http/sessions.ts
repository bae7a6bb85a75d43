/** Sessions of the older protocol over HTTP: one server and one transport each, ended by the client or by silence. */
import { randomUUID } from 'node:crypto'
import {
  isInitializeRequest,
  type McpHandlerRequestOptions,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
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
  lastUsed: number
  /** Answers that are still being written, the open stream among them. */
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

  get size(): number {
    return this.#sessions.size
  }

  async fetch(request: Request, endpoint: Endpoint, options: McpHandlerRequestOptions): Promise<Response> {
    const id = request.headers.get('mcp-session-id')
    if (id === null && isBeginning(options.parsedBody)) return this.#begin(request, endpoint, options)
    const session = id === null ? undefined : this.#sessions.get(id)
    if (id === null)
      return refusal(400, 'The header Mcp-Session-Id is missing. Begin a session with initialize.')
    // A session of another endpoint is as unknown as one that was never there.
    if (session?.endpoint !== endpoint)
      return refusal(404, 'There is no such session. Begin a new one with initialize.')
    session.lastUsed = this.#options.now()
    return this.#watched(session, await session.transport.handleRequest(request, options))
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

  async #begin(request: Request, endpoint: Endpoint, options: McpHandlerRequestOptions): Promise<Response> {
    const { most, maxRequestBodySize, now, onOpen, onClose } = this.#options
    if (this.#sessions.size >= most)
      return refusal(503, `There are ${most} sessions already. Close some, or wait until they end.`)
    const id = randomUUID()
    const server = endpoint.serverFor({ client: `session ${id}`, conversation: id })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      maxRequestBodySize,
      onsessioninitialized: () => {
        this.#sessions.set(id, { endpoint, server, transport, lastUsed: now(), open: 0 })
        onOpen(id, server, endpoint)
      },
    })
    const { onclose } = server
    server.onclose = () => {
      if (this.#sessions.delete(id)) onClose(id)
      onclose?.()
    }
    await server.connect(transport)
    const response = await transport.handleRequest(request, options)
    const session = this.#sessions.get(id)
    // It was refused: nothing has begun.
    if (!session) await server.close()
    return session ? this.#watched(session, response) : response
  }

  /** Counts the answer as open until its last byte is read. */
  #watched(session: Session, response: Response): Response {
    if (!response.body || !response.headers.get('content-type')?.includes('event-stream')) return response
    session.open++
    let isOpen = true
    const done = () => {
      if (!isOpen) return
      isOpen = false
      session.open--
      session.lastUsed = this.#options.now()
    }
    const reader = response.body.getReader()
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done: isLast, value } = await reader.read().catch(() => ({ done: true, value: undefined }))
        if (value) controller.enqueue(value)
        if (!isLast) return
        done()
        controller.close()
      },
      cancel: (reason) => {
        done()
        return reader.cancel(reason)
      },
    })
    return new Response(body, { status: response.status, headers: response.headers })
  }
}

function isBeginning(body: unknown): boolean {
  return [body].flat().some((message) => isInitializeRequest(message))
}

function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status })
}
