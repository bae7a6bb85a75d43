/** Endpoints: a view in one mode, for both protocol generations. Connected clients are notified when their list changes. */
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import {
  createMcpHandler,
  InMemoryServerEventBus,
  type McpHttpHandler,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server'
import type { ResultStore } from '@toolwell/core/result'
import type { Telemetry } from '@toolwell/core/telemetry'
import type { Caller } from '@toolwell/mcp'
import { findResource } from '../answer/answer-offers.js'
import type { CallLimits } from '../answer/call-limits.js'
import type { Called } from '../answer/call-tool.js'
import { checkHeaders } from '../answer/checked-server.js'
import { listDispatchTools, listEveryTool } from '../answer/list-tools.js'
import { createListener, createMcpServer, type Mode, SINGLE_REQUESTS } from '../answer/mcp-server.js'
import { isListening, type Listening, watchListened } from '../answer/subscriptions.js'
import { SuspendedCalls } from '../answer/suspended-calls.js'
import type { ClientRules } from '../bridge/client-rules.js'
import type { Place, ServerSets } from '../servers/server-sets.js'
import type { View } from '../servers/view.js'
import type { QuestionStore } from '../storage/storage.js'
import { type McpPath, writePath } from './address.js'
import type { Principal } from './principals.js'

/** The config has no such profile, or not any more. */
export class UnknownProfile extends Error {
  constructor(profile: string, known: readonly string[] | undefined) {
    const others = known ? ` Known profiles: ${known.join(', ') || 'none'}.` : ''
    super(`Unknown profile ${JSON.stringify(profile)}.${others}`)
  }
}

export interface EndpointOptions {
  readonly place: Place
  readonly path: McpPath
  /** Permission rules of the client. Only bridges send them. */
  readonly rules?: ClientRules | undefined
  readonly principal: Principal
  readonly version: string
  readonly limits: CallLimits
  readonly results: ResultStore
  readonly telemetry: Telemetry | undefined
  readonly questions: QuestionStore | undefined
  readonly maxRequestBodySize: number
  readonly onCalled: (called: Called, server: Server, client: string) => void
  readonly onListed: (server: Server, client: string) => void
}

export interface Endpoint {
  readonly place: Place
  readonly path: McpPath
  readonly principal: Principal
  /** Handles requests of the newer protocol, which need no session. */
  readonly modern: McpHttpHandler
  /** Subscribes the resources of a `subscriptions/listen` request. Resolves with the request to answer. */
  listen(listening: Listening, caller: Caller): Promise<unknown>
  /** Creates a server for one connected client. */
  serverFor(caller: Caller): Server
  /** Throws `UnknownProfile` if the config no longer has the profile. */
  check(): void
  /** Keeps the endpoint open until the returned function is called. `onClose`: the endpoint closes nevertheless. */
  hold(onClose: () => void): () => void
  /** True while a client is connected or subscribed. */
  readonly isInUse: boolean
  close(): Promise<void>
}

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { place, path, rules, principal, version, limits, results, questions } = options
  const { telemetry, onCalled, onListed } = options
  const { mode, profile } = path
  const view = (): View => {
    if (!principal.isValid())
      throw new ProtocolError(
        ProtocolErrorCode.InvalidRequest,
        'The token of this client was revoked or has expired. Ask the owner of the gateway for a new one.',
      )
    const found = place.serverSet.view(profile, rules, principal.rights)
    if (found) return found
    // A token must not learn the names of other profiles.
    const known = principal.rights ? undefined : Object.keys(place.serverSet.config.profiles)
    throw new UnknownProfile(profile ?? '', known)
  }
  view()
  const staying = new Set<Server>()
  const holders = new Set<() => void>()
  const bus = new InMemoryServerEventBus()
  const suspended = new SuspendedCalls(questions)
  const made = (caller: Caller) =>
    createMcpServer({
      view,
      mode,
      principal: principal.id,
      workspace: place.workspace,
      // Without a workspace, servers that work in a folder run in the home folder.
      caller: { ...caller, workspace: place.workspace ?? homedir() },
      version,
      limits,
      suspended,
      results,
      telemetry,
      onCalled,
      onListed: listed,
    })
  /** Hashes of the last lists, while anyone may be notified of changes. */
  let last: Hashes | undefined
  const listed = (server: Server, client: string) => {
    onListed(server, client)
    last ??= hashLists(view(), mode)
  }
  let isDue = false
  const unwatch = place.watch(() => {
    if (isDue) return
    isDue = true
    // A server that joins changes the catalogue several times in a row.
    setImmediate(() => {
      isDue = false
      if (staying.size === 0 && bus.listenerCount === 0) {
        last = undefined
        return
      }
      const open = place.serverSet.view(profile, rules, principal.rights)
      // A removed profile has no tools.
      const now = open ? hashLists(open, mode) : { tools: '', prompts: '', resources: '' }
      const before = last
      last = now
      const notify = (kind: keyof Hashes, modernly: () => void, send: (server: Server) => Promise<void>) => {
        if (now[kind] === before?.[kind]) return
        modernly()
        for (const server of staying)
          if (server.getCapabilities()[kind]) void send(server).catch(() => undefined)
      }
      notify('tools', modern.notify.toolsChanged, (server) => server.sendToolListChanged())
      notify('prompts', modern.notify.promptsChanged, (server) => server.sendPromptListChanged())
      notify('resources', modern.notify.resourcesChanged, (server) => server.sendResourceListChanged())
    })
  })
  const handler = createMcpHandler(
    ({ requestInfo }) =>
      checkHeaders(made({ client: SINGLE_REQUESTS, era: 'modern' }), view(), mode, requestInfo?.headers),
    { legacy: 'reject', bus, maxRequestBodySize: options.maxRequestBodySize },
  )
  const listen: Endpoint['listen'] = (listening, caller) =>
    watchListened(
      listening,
      { view, find: (uri) => findResource(view, place.workspace ?? homedir(), uri) },
      (envelope, source) => createListener(caller, principal.id, envelope, view(), source),
    )
  const updated = new Set<string>()
  /** Each listener hears of a change, and the bus notifies all of them. */
  const publish = (uri: string) => {
    if (updated.size === 0) setImmediate(() => updated.clear())
    if (updated.has(uri)) return
    updated.add(uri)
    bus.publish({ kind: 'resource_updated', uri })
  }
  const modern: McpHttpHandler = {
    ...handler,
    async fetch(request, asked) {
      const caller = {
        client: SINGLE_REQUESTS,
        era: 'modern',
        workspace: place.workspace ?? homedir(),
      } as const
      const body = asked?.parsedBody
      if (!isListening(body)) return handler.fetch(request, asked)
      const ending = new AbortController()
      const signal = AbortSignal.any([request.signal, ending.signal])
      const parsedBody = await listen({ body, signal, onUpdated: publish }, caller)
      const response = await handler.fetch(request, { ...asked, parsedBody })
      // The request was refused.
      if (!response.headers.get('content-type')?.includes('event-stream')) ending.abort()
      return response
    },
  }
  return {
    place,
    path,
    principal,
    modern,
    listen,
    serverFor(caller) {
      const server = made(caller)
      staying.add(server)
      const { onclose } = server
      server.onclose = () => {
        staying.delete(server)
        onclose?.()
      }
      return server
    },
    check: () => void view(),
    hold(onClose) {
      holders.add(onClose)
      return () => void holders.delete(onClose)
    },
    get isInUse() {
      return holders.size > 0 || staying.size > 0 || bus.listenerCount > 0
    },
    async close() {
      unwatch()
      suspended.close()
      await modern.close()
      await Promise.all([...staying].map((server) => server.close().catch(() => undefined)))
      for (const onClose of holders) onClose()
    },
  }
}

type Hashes = Readonly<Record<'tools' | 'prompts' | 'resources', string>>

function hashLists(view: View, mode: Mode): Hashes {
  const { prompts, resources, templates } = view.offers
  const hash = (value: object) => createHash('sha256').update(JSON.stringify(value)).digest('hex')
  return { tools: hashList(view, mode), prompts: hash(prompts), resources: hash([resources, templates]) }
}

function hashList(view: View, mode: Mode): string {
  const hash = createHash('sha256')
  if (mode === 'dispatch') return hash.update(JSON.stringify(listDispatchTools(view))).digest('hex')
  let cursor: string | undefined
  do {
    const page = listEveryTool(view, cursor)
    hash.update(JSON.stringify(page.tools))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return hash.digest('hex')
}

export interface EndpointsOptions {
  readonly serverSets: ServerSets
  readonly make: (place: Place, path: McpPath, principal: Principal, rules?: ClientRules) => Endpoint
  /** Milliseconds without a caller after which an endpoint closes. */
  readonly idle: number
  readonly now: () => number
}

interface Known {
  readonly endpoint: Endpoint
  lastUsed: number
}

export class Endpoints {
  readonly #options: EndpointsOptions
  readonly #known = new Map<string, Known>()
  readonly #sweeping: NodeJS.Timeout

  constructor(options: EndpointsOptions) {
    this.#options = options
    this.#sweeping = setInterval(() => this.sweep(), Math.min(options.idle, 60_000))
    this.#sweeping.unref()
  }

  find(path: McpPath, workspace: string | undefined, principal: Principal, rules?: ClientRules): Endpoint {
    const { serverSets, make, now } = this.#options
    const key = JSON.stringify([writePath(path), workspace, principal.id, rules])
    const known = this.#known.get(key)
    if (known) {
      known.lastUsed = now()
      return known.endpoint
    }
    const endpoint = make(serverSets.find(workspace), path, principal, rules)
    this.#known.set(key, { endpoint, lastUsed: now() })
    return endpoint
  }

  /** Closes idle endpoints and releases their workspaces. */
  sweep(): void {
    const { serverSets, idle, now } = this.#options
    for (const [key, { endpoint, lastUsed }] of this.#known) {
      const { place, isInUse, principal } = endpoint
      // Streams of a revoked token end when its calls have.
      const isOver = !principal.isValid() || (!isInUse && now() - lastUsed >= idle)
      if (!isOver || place.serverSet.busy > 0) continue
      this.#known.delete(key)
      void endpoint.close().catch(() => undefined)
    }
    serverSets.release(new Set([...this.#known.values()].map(({ endpoint }) => endpoint.place)))
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeping)
    await Promise.all([...this.#known.values()].map(({ endpoint }) => endpoint.close()))
  }
}
