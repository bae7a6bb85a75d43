/** Stdio clients behind a bridge. Each is a connection upgraded from HTTP. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { homedir } from 'node:os'
import type { Duplex } from 'node:stream'
import {
  classifyInboundRequest,
  isJSONRPCRequest,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCResultResponse,
  PROTOCOL_VERSION_META_KEY,
  type Server,
  type Transport,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { isListening } from '../answer/subscriptions.js'
import { type ClientRules, RULES_HEADER, readRules } from '../bridge/client-rules.js'
import { CLIENT_HEADER, LONGEST_LINE, PID_HEADER, UPGRADE, WORKSPACE_HEADER } from '../bridge/protocol.js'
import { prompts } from '../prompts.js'
import { type McpPath, readPath, readWorkspace, writePath } from './address.js'
import type { Clients } from './clients.js'
import type { Endpoint } from './endpoint.js'
import { header, parseUrl, refuseSocket } from './exchange.js'
import type { Refusal } from './guard.js'
import { limitPath, type Principal } from './principals.js'

export interface BridgesOptions {
  readonly clients: Clients
  readonly find: (
    path: McpPath,
    workspace: string | undefined,
    principal: Principal,
    rules: ClientRules | undefined,
  ) => Endpoint
  /** Returns the principal, or why a request is refused, after emitting the event. */
  readonly identify: (request: IncomingMessage) => Principal | Refusal
  /** Delays the answer to a wrong token. */
  readonly slowDown: (request: IncomingMessage, refused: Refusal) => Promise<Refusal>
  readonly onUsed: () => void
  readonly onJoined: (endpoint: string) => void
  /** `client` is its id as the owner of processes. */
  readonly onLeft: (endpoint: string, client: string) => void
}

const NO_PATH: Refusal = { status: 400, message: `This path does not accept ${UPGRADE}.` }

export class Bridges {
  readonly #options: BridgesOptions
  /** Closed with the gateway. */
  readonly #sockets = new Set<Duplex>()
  #isDraining = false

  constructor(options: BridgesOptions) {
    this.#options = options
  }

  keep(socket: Duplex): void {
    socket.on('error', () => socket.destroy())
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.keep(socket)
    const asked = readPath(parseUrl(request)?.pathname ?? '')
    const principal = this.#options.identify(request)
    if ('status' in principal) {
      void this.#options.slowDown(request, principal).then((refused) => refuseSocket(socket, refused))
      return
    }
    const path = asked ? limitPath(asked, principal) : NO_PATH
    if ('status' in path) {
      refuseSocket(socket, path)
      return
    }
    try {
      const rules = readRules(header(request, RULES_HEADER))
      const workspace = readWorkspace(header(request, WORKSPACE_HEADER))
      const endpoint = this.#options.find(path, workspace, principal, rules)
      endpoint.check()
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${UPGRADE}\r\n\r\n`)
      if (head.length > 0) socket.unshift(head)
      const given = header(request, CLIENT_HEADER) ?? ''
      this.#attach(socket, endpoint, {
        id: /^[\w-]{1,64}$/.test(given) ? given : randomUUID(),
        pid: Number(header(request, PID_HEADER)) || undefined,
      })
    } catch (error) {
      refuseSocket(socket, { status: 400, message: (error as Error).message })
    }
  }

  /** Refuses new calls with the advice to restart the client. */
  drain(): void {
    this.#isDraining = true
  }

  /** Everything was written to the clients. */
  get isFlushed(): boolean {
    return [...this.#sockets].every(({ writableLength }) => writableLength === 0)
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #attach(
    socket: Duplex,
    endpoint: Endpoint,
    { id: conversation, pid }: { readonly id: string; readonly pid: number | undefined },
  ): void {
    const { clients, onUsed, onJoined, onLeft } = this.#options
    const id = `bridge ${conversation}`
    const key = randomUUID()
    const name = writePath(endpoint.path)
    const client = { id, kind: 'stdio', endpoint: name, workspace: endpoint.place.workspace, pid } as const
    ;(socket as Socket).setNoDelay?.(true)
    const release = endpoint.hold(() => socket.destroy())
    const transport = new StdioServerTransport(socket, socket, { maxBufferSize: LONGEST_LINE })
    let server: Server | undefined
    const served = serveStdio(
      ({ era }) => {
        server = endpoint.serverFor({ client: id, conversation, era })
        clients.join(key, { ...client, server })
        return server
      },
      { transport },
    )
    answerInstead(
      transport,
      (message) => unsupported(message) ?? (this.#isDraining ? upgraded(message) : undefined),
    )
    const endListening = watchResources(transport, (message, signal) =>
      endpoint.listen(
        {
          body: message,
          signal,
          onUpdated: (uri) => void server?.sendResourceUpdated({ uri }).catch(() => undefined),
        },
        { client: id, conversation, era: 'modern', workspace: endpoint.place.workspace ?? homedir() },
      ),
    )
    clients.join(key, { ...client, server: undefined })
    onJoined(name)
    socket.on('data', onUsed)
    // An HTTP server keeps its side of the connection half-open.
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      clients.leave(key)
      endListening()
      release()
      onUsed()
      void served.close().catch(() => undefined)
      onLeft(name, id)
    })
  }
}

/**
 * Subscribes the resources of each `subscriptions/listen` request before it is answered, until the request is cancelled, refused or
 * over. The returned function ends all subscriptions. Call it after `onmessage` is set.
 */
function watchResources(
  transport: Transport,
  listen: (message: JSONRPCMessage, signal: AbortSignal) => Promise<unknown>,
): () => void {
  const { onmessage } = transport
  const send = transport.send.bind(transport)
  const open = new Map<unknown, AbortController>()
  const end = (id: unknown) => {
    open.get(id)?.abort()
    open.delete(id)
  }
  transport.send = (message, options) => {
    if (!('method' in message)) end(message.id)
    return send(message, options)
  }
  transport.onmessage = (message, extra) => {
    if ('method' in message && message.method === 'notifications/cancelled') end(message.params?.requestId)
    if (!isJSONRPCRequest(message) || !isListening(message)) {
      onmessage?.(message, extra)
      return
    }
    const ending = new AbortController()
    open.set(message.id, ending)
    void listen(message, ending.signal).then((answered) => {
      if (!ending.signal.aborted) onmessage?.(answered as JSONRPCMessage, extra)
    })
  }
  return () => {
    for (const ending of open.values()) ending.abort()
  }
}

/** Versions that are named in each request. A test compares them with the SDK's answer over HTTP. */
const SUPPORTED = ['2026-07-28']

/** Sends `find(message)` instead of passing the message on, unless it is undefined. Call it after `onmessage` is set. */
function answerInstead(
  transport: Transport,
  find: (message: JSONRPCMessage) => JSONRPCErrorResponse | JSONRPCResultResponse | undefined,
): void {
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    const answer = find(message)
    if (answer) transport.send(answer).catch(() => undefined)
    else onmessage?.(message, extra)
  }
}

function upgraded(message: JSONRPCMessage): JSONRPCResultResponse | undefined {
  if (!isJSONRPCRequest(message) || message.method !== 'tools/call') return undefined
  const isModern = message.params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined
  return {
    jsonrpc: '2.0',
    id: message.id,
    result: {
      content: [{ type: 'text', text: prompts.upgraded }],
      isError: true,
      ...(isModern ? { resultType: 'complete' } : {}),
    },
  }
}

/** Answers requests with an unsupported version as over HTTP. The SDK checks only the first request of a connection. */
function unsupported(message: JSONRPCMessage): JSONRPCErrorResponse | undefined {
  if (!isJSONRPCRequest(message)) return undefined
  const found = classifyInboundRequest({ httpMethod: 'POST', body: message })
  if (found.kind !== 'modern') return undefined
  const { revision: requested } = found.classification
  if (requested === undefined || SUPPORTED.includes(requested)) return undefined
  const {
    code,
    message: text,
    data,
  } = new UnsupportedProtocolVersionError({ supported: SUPPORTED, requested })
  return { jsonrpc: '2.0', id: message.id, error: { code, message: text, data } }
}
