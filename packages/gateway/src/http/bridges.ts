/** Stdio clients at the other end of a bridge: each is a connection that the server for HTTP has given away. */

import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  classifyInboundRequest,
  isJSONRPCRequest,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type Transport,
  UnsupportedProtocolVersionError,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { LONGEST_LINE, PID_HEADER, UPGRADE, WORKSPACE_HEADER } from '../bridge/protocol.js'
import { type McpPath, readPath, readWorkspace, writePath } from './address.js'
import type { Clients } from './clients.js'
import type { Endpoint } from './endpoint.js'
import { header, parseUrl, refuseSocket } from './exchange.js'
import type { Refusal } from './guard.js'

export interface BridgesOptions {
  readonly clients: Clients
  readonly find: (path: McpPath, workspace: string | undefined) => Endpoint
  /** Why somebody may not come in; told of already. */
  readonly refused: (request: IncomingMessage) => Refusal | undefined
  readonly onUsed: () => void
  readonly onJoined: (endpoint: string) => void
  readonly onLeft: (endpoint: string) => void
}

export class Bridges {
  readonly #options: BridgesOptions
  /** So that they end with the gateway. */
  readonly #sockets = new Set<Duplex>()

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
    const path = readPath(parseUrl(request)?.pathname ?? '')
    const refused = this.#options.refused(request)
    if (refused || !path) {
      refuseSocket(socket, refused ?? { status: 400, message: `This is not an endpoint for ${UPGRADE}.` })
      return
    }
    try {
      const endpoint = this.#options.find(path, readWorkspace(header(request, WORKSPACE_HEADER)))
      endpoint.check()
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${UPGRADE}\r\n\r\n`)
      if (head.length > 0) socket.unshift(head)
      this.#attach(socket, endpoint, Number(header(request, PID_HEADER)) || undefined)
    } catch (error) {
      refuseSocket(socket, { status: 400, message: (error as Error).message })
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #attach(socket: Duplex, endpoint: Endpoint, pid: number | undefined): void {
    const { clients, onUsed, onJoined, onLeft } = this.#options
    const id = randomUUID()
    const name = writePath(endpoint.path)
    const client = { kind: 'stdio', endpoint: name, workspace: endpoint.place.workspace, pid } as const
    ;(socket as Socket).setNoDelay?.(true)
    const release = endpoint.hold()
    const transport = new StdioServerTransport(socket, socket, { maxBufferSize: LONGEST_LINE })
    const served = serveStdio(
      ({ era }) => {
        const server = endpoint.serverFor({ client: `bridge ${id}`, conversation: id, era })
        clients.join(id, { ...client, server })
        return server
      },
      { transport },
    )
    answerUnknownVersions(transport)
    clients.join(id, { ...client, server: undefined })
    onJoined(name)
    socket.on('data', onUsed)
    // A server for HTTP lets its side of a connection stay open.
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      clients.leave(id)
      release()
      onUsed()
      void served.close().catch(() => undefined)
      onLeft(name)
    })
  }
}

// Requests over stdio that name a version which nobody speaks. The SDK looks at the version of a connection's first request alone; over HTTP each is looked at, and here it gets the same answer.

/** Of those in which each request names its version; a test holds it to what the SDK says over HTTP. */
const SUPPORTED = ['2026-07-28']

/** From now on the transport answers such requests itself. Whoever reads its messages has to be there already. */
function answerUnknownVersions(transport: Transport): void {
  const { onmessage } = transport
  transport.onmessage = (message, extra) => {
    const answer = unsupported(message)
    if (answer) transport.send(answer).catch(() => undefined)
    else onmessage?.(message, extra)
  }
}

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
