/** The gateway as an HTTP server on loopback: its endpoints for both eras, its bridges, and what the command asks it. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { isAbsolute, resolve } from 'node:path'
import type { Duplex } from 'node:stream'
import { type NodeIncomingMessageLike, toNodeHandler } from '@modelcontextprotocol/node'
import { isLegacyRequest, type McpHandlerRequestOptions, type Server } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Called } from '../answer/call-tool.js'
import { proofOf } from '../bridge/folder.js'
import { type Identity, PID_HEADER, PROTOCOL, UPGRADE, WORKSPACE_HEADER } from '../bridge/protocol.js'
import { type HallEvent, Halls, type HallsOptions } from '../room/halls.js'
import { statOf } from '../room/stat.js'
import { Clients, type Counted } from './clients.js'
import { createEndpoint, type Endpoint, UnknownProfile } from './endpoint.js'
import { type Refused, refusedOrigin, refusedToken } from './guard.js'
import { inOneWrite } from './one-write.js'
import { type McpPath, readPath, writePath } from './path.js'
import { type GatewayReport, reportOn } from './report.js'
import { Sessions } from './sessions.js'

export type GatewayEvent =
  | HallEvent
  | { readonly kind: 'client-joined' | 'client-left'; readonly client: string; readonly endpoint: string }
  /** Whoever came without the token, with another one, or from elsewhere. */
  | { readonly kind: 'turned-away'; readonly status: number; readonly reason: Refused['reason'] }
  | {
      readonly kind: 'listed'
      readonly client: string
      readonly endpoint: string
    }
  | ({ readonly client: string; readonly endpoint: string; readonly milliseconds?: number } & Omit<
      Called,
      'kind'
    > & {
        readonly kind: 'call'
        readonly what: Called['kind']
      })

export interface GatewayOptions extends Omit<HallsOptions, 'onEvent'> {
  readonly version: string
  /** Asked at every request: it may have been replaced. `isFresh`: as it is now, whatever was read a moment ago. */
  readonly token: (isFresh: boolean) => string
  /** Where the token is, for whoever comes without it; a sentence. */
  readonly tokenHint?: string
  readonly instance?: string
  readonly onEvent?: (event: GatewayEvent) => void
  /** Somebody with the token asks the gateway to stop. */
  readonly onStop?: () => void
  /** Milliseconds until a silent session of the older protocol ends. */
  readonly sessionIdle?: number
  /** Bytes of one request. */
  readonly maxRequestBodySize?: number
  readonly now?: () => number
}

export interface Gateway {
  /** Resolves with the port. */
  listen(port: number, host?: string): Promise<number>
  readonly instance: string
  /** Reads the config now: servers of which nothing is cached are listed before the first client comes. */
  prepare(): void
  inspect(): Promise<GatewayReport>
  /** When the last request was, and how many clients stay. */
  readonly activity: { readonly lastUsed: number; readonly staying: number; readonly busy: number }
  /** Ends connections and servers. Idempotent. */
  close(): Promise<void>
}

const MIB = 1024 * 1024
const MOST_SESSIONS = 1000

export function createGateway(options: GatewayOptions): Gateway {
  const {
    version,
    token,
    tokenHint = '',
    instance = randomUUID(),
    onStop,
    sessionIdle = 30 * 60_000,
    maxRequestBodySize = 16 * MIB,
    now = Date.now,
  } = options
  const emit = (event: GatewayEvent) => {
    try {
      options.onEvent?.(event)
    } catch {
      // A listener that throws has no say in what happens here.
    }
  }
  const halls = new Halls({ ...options, onEvent: emit })
  const clients = new Clients(now)
  const endpoints = new Map<string, Endpoint>()
  const startedAt = now()
  const counts = { calls: 0, searches: 0, refused: 0, failed: 0, answerCharacters: 0, lists: 0 }
  let lastUsed = now()

  const endpointOf = (path: McpPath, workspace: string | undefined): Endpoint => {
    const name = writePath(path)
    const key = JSON.stringify([name, workspace ?? ''])
    const known = endpoints.get(key)
    if (known) return known
    const place = halls.find(workspace)
    const note = (server: Server, client: string, counted?: Counted) =>
      clients.used(server, client, name, workspace, counted)
    const made = createEndpoint({
      place,
      path,
      version,
      maxRequestBodySize,
      onListed(server, client) {
        counts.lists++
        emit({ kind: 'listed', client: note(server, client), endpoint: name })
      },
      onCalled({ kind, ...called }, server, client) {
        const counted = kind === 'search' ? 'searches' : kind === 'run' ? 'calls' : 'refused'
        counts[counted]++
        if (kind === 'run' && called.isError) counts.failed++
        counts.answerCharacters += called.characters
        emit({ kind: 'call', what: kind, ...called, client: note(server, client, counted), endpoint: name })
      },
    })
    endpoints.set(key, made)
    return made
  }

  const sessions = new Sessions({
    idle: sessionIdle,
    most: MOST_SESSIONS,
    maxRequestBodySize,
    now,
    onOpen(id, server, { place, path }) {
      const endpoint = writePath(path)
      clients.join(id, { kind: 'session', endpoint, workspace: place.workspace, pid: undefined, server })
      emit({ kind: 'client-joined', client: 'session', endpoint })
    },
    onClose(id) {
      clients.leave(id)
      emit({ kind: 'client-left', client: 'session', endpoint: '' })
    },
  })

  /** A web request that has passed every guard. */
  const answer = async (request: Request, given: McpHandlerRequestOptions = {}): Promise<Response> => {
    const url = new URL(request.url)
    const path = readPath(url.pathname)
    if (!path) return json(404, { error: { message: `There is nothing at ${url.pathname}.` } })
    let endpoint: Endpoint
    try {
      endpoint = endpointOf(path, workspaceOf(request.headers.get(WORKSPACE_HEADER) ?? undefined))
    } catch (error) {
      if (error instanceof UnknownProfile || error instanceof WrongWorkspace)
        return json(error instanceof UnknownProfile ? 404 : 400, rpcError(error.message))
      throw error
    }
    if (request.method !== 'POST') {
      if (await isLegacyRequest(request)) return sessions.fetch(request, endpoint, given)
      return endpoint.modern.fetch(request, given)
    }
    const text = await request.text()
    const parsedBody = parsed(text)
    // What is no JSON gets the answer that the protocol has for it.
    if (parsedBody === undefined)
      return endpoint.modern.fetch(
        new Request(request.url, { method: 'POST', headers: request.headers, body: text }),
        given,
      )
    const options = { ...given, parsedBody }
    return (await isLegacyRequest(request, parsedBody))
      ? sessions.fetch(request, endpoint, options)
      : endpoint.modern.fetch(request, options)
  }
  const onMcp = toNodeHandler({ fetch: answer }, { maxRequestBodySize })

  /** One that is not known may have been made a moment ago. */
  const refusedBy = (request: IncomingMessage) =>
    refusedToken(request, token(false), tokenHint) && refusedToken(request, token(true), tokenHint)

  const tellOf = ({ status, reason }: Refused) => {
    if (reason) emit({ kind: 'turned-away', status, reason })
  }
  const turnAway = (response: ServerResponse, refused: Refused) => {
    tellOf(refused)
    refuse(response, refused)
  }

  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refused = refusedOrigin(request)
    if (refused) return turnAway(response, refused)
    const url = urlOf(request)
    if (!url) return refuse(response, { status: 400, message: 'The path of this request cannot be read.' })
    const { pathname, searchParams } = url
    const isMcp = readPath(pathname) !== undefined
    if (pathname === '/identity')
      return reply(response, 200, {
        toolwell: 'gateway',
        instance,
        version,
        protocol: PROTOCOL,
        proof: proofOf(token(true), (searchParams.get('challenge') ?? '').slice(0, 200)),
      } satisfies Identity)
    if (!isMcp && pathname !== '/status' && pathname !== '/stop')
      return refuse(response, {
        status: 404,
        message: `There is nothing at ${pathname}. MCP clients connect to /mcp, /mcp/all or /mcp/PROFILE.`,
      })
    const unknown = refusedBy(request)
    if (unknown) return turnAway(response, unknown)
    lastUsed = now()
    if (isMcp) {
      const release = sessions.hold(header(request, 'mcp-session-id') ?? '')
      return onMcp(request as NodeIncomingMessageLike, inOneWrite(response)).finally(release)
    }
    if (pathname === '/status') return reply(response, 200, await inspect())
    if (request.method !== 'POST') return refuse(response, { status: 405, message: 'Ask /stop with POST.' })
    reply(response, 200, { stopping: true })
    onStop?.()
  }

  /** Connections that the server for HTTP has given away, so that they end with the gateway. */
  const sockets = new Set<Duplex>()
  const keep = (socket: Duplex): void => {
    socket.on('error', () => socket.destroy())
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  }
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    keep(socket)
    const path = readPath(urlOf(request)?.pathname ?? '')
    const refused = refusedOrigin(request) ?? refusedBy(request)
    if (refused || !path || request.headers.upgrade !== UPGRADE) {
      if (refused) tellOf(refused)
      refuseSocket(socket, refused ?? { status: 400, message: `This is not an endpoint for ${UPGRADE}.` })
      return
    }
    try {
      const endpoint = endpointOf(path, workspaceOf(header(request, WORKSPACE_HEADER)))
      socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${UPGRADE}\r\n\r\n`)
      if (head.length > 0) socket.unshift(head)
      attach(socket, endpoint, Number(header(request, PID_HEADER)) || undefined)
    } catch (error) {
      refuseSocket(socket, { status: 400, message: (error as Error).message })
    }
  }

  /** One stdio client, at the other end of a bridge. */
  const attach = (socket: Duplex, endpoint: Endpoint, pid: number | undefined): void => {
    const id = randomUUID()
    const name = writePath(endpoint.path)
    ;(socket as Socket).setNoDelay?.(true)
    const served = serveStdio(
      ({ era }) => {
        const server = endpoint.serverFor({ client: `bridge ${id}`, conversation: id, era })
        clients.join(id, { kind: 'stdio', endpoint: name, workspace: endpoint.place.workspace, pid, server })
        return server
      },
      { transport: new StdioServerTransport(socket, socket, { maxBufferSize: 64 * MIB }) },
    )
    clients.join(id, {
      kind: 'stdio',
      endpoint: name,
      workspace: endpoint.place.workspace,
      pid,
      server: undefined,
    })
    emit({ kind: 'client-joined', client: 'stdio', endpoint: name })
    socket.on('data', () => {
      lastUsed = now()
    })
    // A server for HTTP lets its side of a connection stay open.
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      clients.leave(id)
      lastUsed = now()
      void served.close().catch(() => undefined)
      emit({ kind: 'client-left', client: 'stdio', endpoint: name })
    })
  }

  const http = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    onRequest(request, response).catch(() => {
      if (response.headersSent) response.destroy()
      else reply(response, 500, rpcError('Something went wrong in the gateway.'))
    })
  })
  http.on('upgrade', onUpgrade)
  http.on('clientError', (_, socket) => {
    keep(socket)
    if (socket.writable) refuseSocket(socket, { status: 400, message: 'This is not HTTP.' })
  })

  const inspect = () =>
    reportOn({
      halls: halls.all,
      clients: clients.reports(),
      counts,
      version,
      instance,
      startedAt,
      now: now(),
    })

  let closing: Promise<void> | undefined
  return {
    instance,
    listen: (port, host = '127.0.0.1') =>
      new Promise((resolvePort, reject) => {
        http.once('error', reject)
        http.listen(port, host, () => {
          http.off('error', reject)
          resolvePort((http.address() as AddressInfo).port)
        })
      }),
    prepare() {
      halls.find(undefined)
    },
    inspect,
    get activity() {
      const busy = halls.all.reduce((sum, { hall }) => sum + hall.busy, 0)
      return { lastUsed, staying: clients.staying, busy }
    },
    close() {
      closing ??= (async () => {
        const closed = new Promise((done) => http.close(done))
        await sessions.close()
        await Promise.all([...endpoints.values()].map((endpoint) => endpoint.close()))
        for (const socket of sockets) socket.destroy()
        http.closeAllConnections()
        await halls.close()
        await closed
      })()
      return closing
    },
  }
}

class WrongWorkspace extends Error {}

/** Undefined where it is no path: `//` is none. */
function urlOf({ url = '/' }: IncomingMessage): URL | undefined {
  try {
    return new URL(url, 'http://localhost')
  } catch {
    return undefined
  }
}

/** A header holds no letters beyond ASCII, so the path comes as part of a URL does. */
function workspaceOf(given: string | undefined): string | undefined {
  if (given === undefined || given.trim() === '') return undefined
  let path: string
  try {
    path = decodeURI(given.trim())
  } catch {
    path = given.trim()
  }
  if (!isAbsolute(path) || path.length > 4096)
    throw new WrongWorkspace(`${WORKSPACE_HEADER} must be the absolute path of a folder.`)
  if (statOf(path)?.isDirectory() === false)
    throw new WrongWorkspace(`${WORKSPACE_HEADER} must be a folder, and ${path} is not one.`)
  return resolve(path)
}

function header(request: IncomingMessage, name: string): string | undefined {
  return [request.headers[name.toLowerCase()] ?? []].flat()[0]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function rpcError(message: string): object {
  return { jsonrpc: '2.0', error: { code: -32000, message }, id: null }
}

function json(status: number, value: object): Response {
  return Response.json(value, { status })
}

function reply(
  response: ServerResponse,
  status: number,
  value: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(`${JSON.stringify(value)}\n`)
}

function refuse(response: ServerResponse, { status, message, headers = {} }: Refused): void {
  reply(response, status, rpcError(message.trim()), { Connection: 'close', ...headers })
}

/** Whoever does not close their side is not waited for. */
function refuseSocket(socket: Duplex, { status, message }: Refused): void {
  const body = `${JSON.stringify(rpcError(message.trim()))}\n`
  socket.end(
    `HTTP/1.1 ${status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}
