/** The gateway as an HTTP server on loopback: MCP endpoints, bridges, and the requests of the command. */
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, maxHeaderSize, type ServerResponse } from 'node:http'
import { type AddressInfo, Server as NetServer, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isLegacyRequest, type Server } from '@modelcontextprotocol/server'
import { memoryResults } from '@toolwell/core/result'
import type { TrustedProjects } from '@toolwell/mcp/internal'
import { CallLimits } from '../answer/call-limits.js'
import type { Called } from '../answer/call-tool.js'
import { COMMAND } from '../bridge/commands.js'
import { createProof, newToken } from '../bridge/folder.js'
import { describeExcess } from '../bridge/messages.js'
import {
  type Identity,
  LARGEST_REQUEST,
  PROTOCOL,
  STOP_PATH,
  UPGRADE,
  WORKSPACE_HEADER,
} from '../bridge/protocol.js'
import {
  keepRemovedFiles,
  type ServerSetEvent,
  ServerSets,
  type ServerSetsOptions,
} from '../servers/server-sets.js'
import { memoryCallStats } from '../storage/call-stats.js'
import type { GatewayStorage } from '../storage/storage.js'
import { InvalidWorkspace, type McpPath, readPath, readWorkspace, writePath } from './address.js'
import { Bridges } from './bridges.js'
import { Clients, type Counted } from './clients.js'
import { createDashboard } from './dashboard/dashboard.js'
import { createEndpoint, type Endpoint, Endpoints, UnknownProfile } from './endpoint.js'
import {
  header,
  isModern,
  parseJson,
  parseUrl,
  RequestTooLarge,
  readBody,
  refuse,
  refuseSocket,
  reply,
  rpcError,
  send,
  webRequest,
} from './exchange.js'
import { checkOrigin, ignoreUpgrade, isLocal, type Refusal, upgradeOption } from './guard.js'
import { Operators } from './operators.js'
import { isUnlimited, limitPath, OWNER, type Principal, Principals, Slowdown } from './principals.js'
import { Recorder } from './recorder.js'
import { countLostResults, createReport, type GatewayReport } from './report.js'
import { nameSession, Sessions } from './sessions.js'

export type GatewayEvent =
  | ServerSetEvent
  | { readonly kind: 'client-joined' | 'client-left'; readonly client: string; readonly endpoint: string }
  /** A request without the token, with a wrong one, or with a foreign host or origin. */
  | { readonly kind: 'turned-away'; readonly status: number; readonly reason: Refusal['reason'] }
  | { readonly kind: 'listed'; readonly client: string; readonly endpoint: string }
  | ({
      readonly kind: 'call'
      readonly what: Called['kind']
      readonly client: string
      readonly endpoint: string
    } & Omit<Called, 'kind' | 'detail'>)

export interface GatewayOptions extends Omit<ServerSetsOptions, 'onEvent'> {
  readonly version: string
  /** Default: only the owner's token, no audit log, and results in memory, 64 MB, for one day. */
  readonly storage?: Partial<GatewayStorage>
  /**
   * Called for every request, because the token may have been replaced. `isFresh` skips any cached value. If undefined, only the
   * key is accepted.
   */
  readonly token: (isFresh: boolean) => string | undefined
  /** A sentence for refused clients: where the token is, or why none is accepted. */
  readonly tokenHint?: () => string
  /** Proves the identity of this gateway, and is accepted like the token. Default: random. */
  readonly key?: string
  readonly instance?: string
  /** Folder with the page of the dashboard. Default: only the API. */
  readonly dashboard?: string
  /** The command that prints a link to the dashboard. Default: `toolwell dashboard`. */
  readonly linkCommand?: string
  /** Trusted configs of projects. They stay trusted if the user changes them on the dashboard. */
  readonly projects?: TrustedProjects
  readonly onEvent?: (event: GatewayEvent) => void
  /** A client with the token asks the gateway to stop, or a newer version replaces it. */
  readonly onStop?: (why: 'asked' | 'upgrade') => void
  /** Milliseconds until an idle session of the older protocol ends, and until an unused workspace is released. */
  readonly sessionIdle?: number
  /** Limit of one request in bytes. */
  readonly maxRequestBodySize?: number
  readonly now?: () => number
}

export interface Gateway {
  /** Resolves with the port. */
  listen(port: number, host?: string): Promise<number>
  readonly instance: string
  /** Reads the config now, so that servers without a cache are listed before the first client arrives. */
  prepare(): void
  inspect(): Promise<GatewayReport>
  /** Time of the last request, connected clients and running calls. */
  readonly activity: { readonly lastUsed: number; readonly staying: number; readonly busy: number }
  /**
   * Frees the port, tells bridges to restart their clients, and still answers requests on open connections. Resolves when the running
   * calls have ended, or after this many milliseconds.
   */
  drain(milliseconds: number): Promise<void>
  /** Closes connections and servers. Idempotent. */
  close(): Promise<void>
}

const NO_TOKENS: GatewayStorage['tokens'] = {
  list: () => [],
  add: async () => false,
  remove: async () => false,
}
/** Start of the paths of the JSON API for tokens. */
const V1 = '/api/v1/'
const MOST_SESSIONS = 1000
/** Milliseconds between looks at the running calls. */
const DRAIN_INTERVAL = 50
/** Looks without a running call after which incomplete requests and answers are given up. */
const LONGEST_QUIET = 20
/** Milliseconds after which the processes of a client that left are stopped. */
const RECONNECT_GRACE = 5000
const METHODS = ['GET', 'POST', 'DELETE']

export function createGateway(options: GatewayOptions): Gateway {
  const {
    version,
    token,
    tokenHint = () => '',
    key = newToken(),
    instance = randomUUID(),
    onStop,
    storage = {},
    sessionIdle = 30 * 60_000,
    maxRequestBodySize = LARGEST_REQUEST,
    now = Date.now,
  } = options
  const { tokens = NO_TOKENS, audit, results: store = memoryResults(), stats = memoryCallStats() } = storage
  const emit = (event: GatewayEvent) => {
    try {
      options.onEvent?.(event)
    } catch {
      // An error in a listener must not affect the request.
    }
  }
  const serverSets = new ServerSets({
    ...options,
    files: keepRemovedFiles(options.files, now),
    onEvent: (event) => {
      emit(event)
      dashboard.onEvent()
    },
  })
  const clients = new Clients(now)
  /** Stops the client's processes, unless it reconnects. */
  const leave = (client: string) =>
    void setTimeout(() => {
      if (!clients.has(client)) serverSets.leave(client)
    }, RECONNECT_GRACE).unref()
  const startedAt = now()
  const counts = { calls: 0, searches: 0, refused: 0, failed: 0, answerCharacters: 0, lists: 0 }
  let lastUsed = now()
  let isDraining = false
  let isEnding = false
  /** Connections without a request so far, and answers that are not complete. */
  const pending = new Set<Socket | ServerResponse>()
  const addPending = (each: Socket | ServerResponse) => {
    pending.add(each)
    each.once('close', () => pending.delete(each))
  }
  let accepted = 0

  const operators = new Operators(
    serverSets,
    () => storage.problem && storage.problem() !== undefined,
    () => inspect(),
  )
  const recorder = new Recorder([stats, operators.stats], audit, now)
  const results = countLostResults(store)
  const countLost = () => ({ calls: audit?.lost ?? { count: 0, reason: '' }, results: results.lost })
  const dashboard = createDashboard({
    page: options.dashboard,
    projects: options.projects,
    readOnly: options.readOnly,
    connect: options.connect,
    key,
    serverSets,
    recorder,
    stats,
    clients,
    counts: () => counts,
    lost: countLost,
    version,
    instance,
    startedAt,
    command: options.command ?? COMMAND,
    linkCommand: options.linkCommand ?? `${COMMAND} dashboard`,
    now,
  })
  const limits = new CallLimits(now)
  const endpoints = new Endpoints({
    serverSets,
    idle: sessionIdle,
    now,
    make(place, path, principal, rules) {
      const name = writePath(path)
      const note = (server: Server, client: string, counted?: Counted) =>
        clients.used(server, client, name, place.workspace, principal.id, counted)
      const sender = (client: string) => ({
        principal: principal.name,
        client,
        folder: place.workspace ?? '',
      })
      return createEndpoint({
        place,
        path,
        rules,
        principal,
        version,
        limits,
        results: results.store,
        telemetry: options.telemetry,
        questions: storage.questions,
        maxRequestBodySize,
        onListed(server, client) {
          counts.lists++
          const view = place.serverSet.view(path.profile, rules, principal.rights)
          if (view) operators.tokensSaved += recorder.recordList(sender(client), view, path.mode)
          emit({ kind: 'listed', client: note(server, client), endpoint: name })
        },
        onCalled({ kind, ...recorded }, server, client) {
          const { detail: _, ...called } = recorded
          const counted = kind === 'search' ? 'searches' : kind === 'run' ? 'calls' : 'refused'
          counts[counted]++
          if (kind === 'run' && called.isError) counts.failed++
          operators.countRefusal(called.reason)
          counts.answerCharacters += called.characters
          emit({ kind: 'call', what: kind, ...called, client: note(server, client, counted), endpoint: name })
          recorder.recordCall(sender(client), { kind, ...recorded })
        },
      })
    },
  })

  const sessions = new Sessions({
    idle: sessionIdle,
    most: MOST_SESSIONS,
    maxRequestBodySize,
    now,
    onOpen(id, server, { place, path }) {
      const endpoint = writePath(path)
      clients.join(id, {
        id: nameSession(id),
        kind: 'session',
        endpoint,
        workspace: place.workspace,
        pid: undefined,
        server,
      })
      emit({ kind: 'client-joined', client: 'session', endpoint })
    },
    onClose(id) {
      clients.leave(id)
      leave(nameSession(id))
      emit({ kind: 'client-left', client: 'session', endpoint: '' })
    },
  })

  /** Answers a request that passed every check. */
  const answer = async (
    request: IncomingMessage,
    response: ServerResponse,
    path: McpPath,
    principal: Principal,
  ): Promise<Response> => {
    const { method = '' } = request
    const text = method === 'GET' ? '' : await readBody(request, maxRequestBodySize)
    const excess = describeExcess(text)
    if (excess !== undefined) return json(400, rpcError(`Invalid request: ${excess}`, -32600))
    let endpoint: Endpoint
    try {
      endpoint = endpoints.find(path, readWorkspace(header(request, WORKSPACE_HEADER)), principal)
      // Sessions continue when the profile returns, so their calls report the error instead.
      if (header(request, 'mcp-session-id') === undefined) endpoint.check()
    } catch (error) {
      if (error instanceof UnknownProfile || error instanceof InvalidWorkspace)
        return json(error instanceof UnknownProfile ? 404 : 400, rpcError(error.message))
      throw error
    }
    const parsedBody = method === 'POST' ? parseJson(text) : undefined
    // The SDK answers invalid JSON.
    if (method === 'POST' && parsedBody === undefined)
      return endpoint.modern.fetch(webRequest(request, response, text))
    const asked = webRequest(request, response)
    const options = parsedBody === undefined ? {} : { parsedBody }
    // A session is proof enough. The check of the SDK takes longer.
    const isLegacy =
      !isModern(parsedBody) &&
      (sessions.has(header(request, 'mcp-session-id')) || (await isLegacyRequest(asked, parsedBody)))
    return isLegacy ? sessions.fetch(asked, endpoint, options) : endpoint.modern.fetch(asked, options)
  }
  const onMcp = async (
    request: IncomingMessage,
    response: ServerResponse,
    path: McpPath,
    principal: Principal,
  ): Promise<void> => {
    const release = sessions.hold(header(request, 'mcp-session-id') ?? '')
    try {
      await send(await answer(request, response, path, principal), response)
    } catch (error) {
      if (!(error instanceof RequestTooLarge)) throw error
      refuse(response, { status: 413, message: error.message })
    } finally {
      release()
    }
  }

  const principals = new Principals({
    tokens,
    owner: (isFresh) => [key, token(isFresh) ?? key],
    takesTokens: () => token(false) !== undefined,
    hint: tokenHint,
    now,
  })
  const slowdown = new Slowdown(now)
  /** Emits the event of a refusal, and delays the answer to a wrong token. */
  const slowDown = async ({ socket }: IncomingMessage, refused: Refusal): Promise<Refusal> => {
    const { status, reason } = refused
    if (reason) emit({ kind: 'turned-away', status, reason })
    if (reason !== 'wrong-token' || (await slowdown.wait(socket.remoteAddress ?? ''))) return refused
    return { status: 429, message: 'There were too many wrong tokens. Try again in a minute.' }
  }

  const onRequest = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refused = checkOrigin(request)
    if (refused) return refuse(response, await slowDown(request, refused))
    const url = parseUrl(request)
    if (!url) return refuse(response, { status: 400, message: 'The path of this request cannot be read.' })
    const { pathname, searchParams } = url
    const asked = readPath(pathname)
    // Its readers are on this machine. Elsewhere, a program could pass the proof on as its own.
    if (pathname === '/identity' && isLocal(request))
      return reply(response, 200, {
        toolwell: 'gateway',
        instance,
        version,
        protocol: PROTOCOL,
        proof: createProof(key, {
          port: request.socket.localPort ?? 0,
          instance,
          challenge: (searchParams.get('challenge') ?? '').slice(0, 200),
        }),
      } satisfies Identity)
    const probed = operators.probe(pathname)
    if (probed) return reply(response, probed.isOk ? 200 : 503, probed.report)
    // Other machines do not get the page.
    if (isLocal(request) && (pathname === '/dashboard' || pathname.startsWith('/dashboard/'))) {
      lastUsed = now()
      return dashboard.handle(request, response, url)
    }
    const isV1 = pathname.startsWith(V1)
    if (!asked && !isV1 && pathname !== '/status' && pathname !== '/metrics' && pathname !== STOP_PATH)
      return refuse(response, {
        status: 404,
        message: `There is nothing at ${pathname}. MCP clients connect to /mcp, /mcp/all or /mcp/PROFILE.`,
      })
    const principal = principals.identify(request)
    if ('status' in principal) return refuse(response, await slowDown(request, principal))
    // Without the database, the gateway would not notice that the token was revoked.
    if ((asked || principal !== OWNER) && storage.problem?.() !== undefined)
      return refuse(response, {
        status: 503,
        message: 'The gateway cannot reach its database. Try again later.',
      })
    if (isV1) return dashboard.handleV1(request, response, url, principal)
    // Prometheus runs on another machine.
    const isFull = principal === OWNER || (pathname === '/metrics' && isUnlimited(principal))
    if (!asked && !isFull)
      return refuse(response, { status: 403, message: `${pathname} needs the token of the owner.` })
    const path = asked && limitPath(asked, principal)
    if (path && 'status' in path) return refuse(response, path)
    // `status` does not count as use.
    if (path) lastUsed = now()
    if (isDraining) response.shouldKeepAlive = false
    if (path && isEnding)
      return refuse(response, {
        status: 503,
        message: 'This gateway is stopping. Send the request again.',
      })
    if (path && !METHODS.includes(request.method ?? ''))
      return refuse(response, {
        status: 405,
        message: `Send requests to ${pathname} with POST. GET opens a stream, DELETE ends a session.`,
        headers: { Allow: METHODS.join(', ') },
      })
    if (path) return onMcp(request, response, path, principal)
    if (pathname === '/status') return reply(response, 200, await inspect())
    if (pathname === '/metrics') return send(await operators.metrics(), response)
    if (request.method !== 'POST')
      return refuse(response, { status: 405, message: `Ask ${STOP_PATH} with POST.` })
    reply(response, 200, { stopping: true })
    onStop?.(searchParams.get('for') === 'upgrade' ? 'upgrade' : 'asked')
  }

  const bridges = new Bridges({
    clients,
    find: (path, workspace, principal, rules) => endpoints.find(path, workspace, principal, rules),
    identify: (request) => checkOrigin(request) ?? principals.identify(request, true),
    slowDown,
    onUsed: () => {
      lastUsed = now()
    },
    onJoined: (endpoint) => emit({ kind: 'client-joined', client: 'stdio', endpoint }),
    onLeft: (endpoint, client) => {
      leave(client)
      emit({ kind: 'client-left', client: 'stdio', endpoint })
    },
  })

  const http = createServer({ keepAliveTimeout: 65_000, ...upgradeOption }, (request, response) => {
    pending.delete(request.socket)
    // GET opens streams, which have no end.
    if (request.method === 'POST') addPending(response)
    onRequest(request, response).catch(() => {
      if (response.headersSent) response.destroy()
      else reply(response, 500, rpcError('Something went wrong in the gateway.'))
    })
  })
  http.on('connection', (socket) => {
    accepted++
    addPending(socket)
  })
  http.on('upgrade', (request, socket, head) => {
    pending.delete(request.socket)
    if (request.headers.upgrade === UPGRADE) bridges.upgrade(request, socket, head)
    else ignoreUpgrade(http, request, socket, head)
  })
  http.on('clientError', ({ code }: NodeJS.ErrnoException, socket) => {
    bridges.keep(socket)
    if (!socket.writable) return
    if (code === 'HPE_HEADER_OVERFLOW') {
      const message = `The headers of a request must not be larger than ${maxHeaderSize} bytes.`
      refuseSocket(socket, { status: 431, message })
    } else refuseSocket(socket, { status: 400, message: 'This is not HTTP.' })
  })

  const inspect = () =>
    createReport({
      serverSets: serverSets.all,
      clients: clients.reports(),
      counts,
      database: storage.problem && { problem: storage.problem() },
      lost: countLost(),
      version,
      instance,
      startedAt,
      now: now(),
    })

  const isQuiet = () => countCalls() === 0 && bridges.isFlushed
  const countCalls = () => serverSets.all.reduce((sum, { serverSet }) => sum + serverSet.busy, 0)
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
      serverSets.find(undefined)
    },
    inspect,
    get activity() {
      return { lastUsed, staying: clients.staying + dashboard.pages, busy: countCalls() }
    },
    async drain(milliseconds) {
      isDraining = true
      // Takes the connections that already wait: closing the port breaks those that are not accepted.
      await nextTurn()
      for (let before = -1; before < accepted; await nextTurn()) before = accepted
      // The method of the HTTP server would also close connections whose request is on its way.
      NetServer.prototype.close.call(http)
      bridges.drain()
      const until = performance.now() + milliseconds
      for (
        let quiet = 0;
        performance.now() < until && (quiet < 2 || (quiet < LONGEST_QUIET && pending.size > 0));
        quiet = isQuiet() ? quiet + 1 : 0
      )
        await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL))
      isEnding = true
      if (countCalls() === 0) return
      // The calls that still run end with the answer that they may have taken effect.
      await serverSets.close()
      for (let quiet = 0; quiet < 2; quiet = isQuiet() ? quiet + 1 : 0)
        await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL))
    },
    close() {
      closing ??= (async () => {
        const closed = new Promise((done) => http.close(done))
        dashboard.close()
        await sessions.close()
        await endpoints.close()
        bridges.close()
        http.closeAllConnections()
        await serverSets.close()
        await closed
        await audit?.flush()
        await stats.flush()
        await storage.close?.()
      })()
      return closing
    },
  }
}

function json(status: number, value: object): Response {
  return Response.json(value, { status })
}
