/** Connects servers as sources of a catalogue. Each joins when its tools are known, without waiting for others. */
import type { CallToolResult, Result } from '@modelcontextprotocol/client'
import type { Catalogue } from '@toolwell/core'
import { assertKnownKeys, dropUndefined, invalid, isRecord } from '@toolwell/core/internal'
import { diskLogins } from '../auth/login-store.js'
import { createStoredAuth } from '../auth/stored-auth.js'
import type { Config } from '../config/load-config.js'
import type { ServerConfig } from '../config/server-config.js'
import { isOffered } from '../config/server-config.js'
import { diskCache } from '../definition/disk-cache.js'
import type { ServerDefinition } from '../definition/server-definition.js'
import { catchCacheErrors } from '../definition/usable-tools.js'
import type { ServerWarning } from '../definition/warning.js'
import { createGuard } from '../trust/guard.js'
import { diskFirstUse } from '../trust/lock/disk-first-use.js'
import { catchFirstUseErrors } from '../trust/lock/first-use.js'
import type { ReviewedOffers } from '../trust/lock/judge-offers.js'
import { assertCaller, type Caller } from '../upstream/caller.js'
import type { CallOptions, ServerRequest } from '../upstream/connection.js'
import { McpFailure } from '../upstream/failures.js'
import { defaultLogFolder } from '../upstream/server-log.js'
import type { ServerEvent } from '../upstream/server-state.js'
import { LostState } from '../upstream/server-state.js'
import type { SharedProcesses } from '../upstream/shared-processes.js'
import { Upstream } from '../upstream/upstream.js'
import { createWatchdog } from '../upstream/watchdog.js'
import { createLane, Fleet } from './fleet.js'
import { type ConnectOptions, readOptions } from './options.js'
import { createPublisher } from './publish.js'
import { createReport, type ServerReport } from './report.js'
import type { RunTool } from './source-tools.js'
import type { UpdatedConfig, UpdateReport } from './update.js'

export interface Servers {
  inspect(): ServerReport[]
  /** Definition of a server with quarantined tools; undefined until it is known. Contains `${workspaceFolder}` instead of the folder. */
  definition(server: string): ServerDefinition | undefined
  /** Calls a tool by the server's name for it. Throws `McpFailure`. A result with `isError` is returned. */
  call(
    server: string,
    tool: string,
    input: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<CallToolResult>
  /** Prompts and resources of a server, without those that look harmful. Empty if the server is disabled or quarantined. */
  offers(server: string): ReviewedOffers
  /** Reads a resource, gets a prompt, or completes an argument. Throws `McpFailure`. */
  request(server: string, request: ServerRequest, options?: CallOptions): Promise<Result>
  /** Waits for all first listings, but no longer than this. Returns the servers that are not listed yet. */
  settled(milliseconds?: number): Promise<string[]>
  /** Waits for the review of cached definitions, which needs no server. */
  reviewed(): Promise<void>
  /** Lists a server again and starts it if needed. With `caller`, lists it for this caller. */
  refresh(server: string, caller?: Caller): Promise<void>
  /** Stops the processes of a server, after their current calls, and lists it again. Earlier failures do not delay it. */
  restart(server: string): Promise<void>
  /**
   * Applies another config at once. Unchanged servers keep their processes. Changed and removed servers finish their current calls
   * first. If a file cannot be read, nothing changes; if one entry is wrong, that server stays as it was.
   */
  update(config: UpdatedConfig): UpdateReport
  /** Notifies the running servers of this caller's changed roots. */
  rootsChanged(caller: Caller): Promise<void>
  /** Stops the processes that only this client used, by `share`. */
  leave(client: string): void
  /** Reads the locks again and reviews all definitions at once. Without this call, a changed lock is noticed within a second. */
  reviewAgain(server?: string): void
  /** Stops every server. Idempotent. */
  close(): Promise<void>
}

const NO_OFFERS: ReviewedOffers = { prompts: [], resources: [], templates: [], hidden: new Set() }

/** Maximum number of parallel background retries. */
const RETRIES = 2
const CALL_KEYS = [
  'caller',
  'signal',
  'onProgress',
  'meta',
  'relay',
  'onUpdated',
  'mayCall',
] as const satisfies readonly (keyof CallOptions)[]

/** Checks arguments that are often confused. */
function assertGiven(catalogue: unknown, config: unknown): void {
  if (!isRecord(catalogue) || typeof catalogue.setSource !== 'function')
    throw invalid('catalogue', 'connectServers takes the catalogue: connectServers(well.catalogue, config).')
  if (!Array.isArray(config) && !(isRecord(config) && Array.isArray(config.servers)))
    throw invalid(
      'config',
      "connectServers takes a config, loadConfig({ files: ['toolwell.json'] }), or a list of servers by defineServer.",
    )
}

type Connected = (Pick<Config, 'servers'> & Partial<Pick<Config, 'scan'>>) | readonly ServerConfig[]

/** Returns at once: cached tools can be searched now, the others join after listing. */
export function connectServers(
  catalogue: Catalogue,
  config: Connected,
  options: ConnectOptions = {},
): Servers {
  return connectWithSharedProcesses(undefined, catalogue, config, options)
}

/** Connects servers and shares processes: local servers that are the same in every folder run once for all users of `processes`. */
export function connectWithSharedProcesses(
  processes: SharedProcesses | undefined,
  catalogue: Catalogue,
  config: Connected,
  options: ConnectOptions,
): Servers {
  assertGiven(catalogue, config)
  const { client, concurrency, connectTimeout, handlers, lock, now, onEvent, random, scan, ...given } =
    readOptions(options)
  const emit = (event: ServerEvent) => {
    try {
      onEvent?.(event)
    } catch {
      // Errors of a listener must not affect servers.
    }
  }
  const warn = (server: string, warning: ServerWarning) => emit({ kind: 'warning', server, ...warning })
  const warnOf = (server: string) => (warning: ServerWarning) => warn(server, warning)
  // An error of the cache must not break a listing.
  const cache = catchCacheErrors(given.cache ?? diskCache({ onWarning: warnOf('') }), warnOf(''))
  const logins = given.logins ?? diskLogins({ onWarning: warnOf('') })
  const authOf =
    given.auth ??
    ((server: ServerConfig) =>
      createStoredAuth(server, { store: logins, now, onWarning: warnOf(server.name) }))
  const rules = { ...('servers' in config ? config.scan?.rules : {}), ...given.rules }
  const firstUse = catchFirstUseErrors(given.firstUse ?? diskFirstUse({ onWarning: warnOf('') }), warnOf(''))
  const guard = createGuard({ firstUse, lock, scan, rules, review: given.review, compared: cache })
  const watchdog = processes?.watchdog ?? createWatchdog()

  const callerOf = (conversation?: string, principal?: string): Caller => ({
    client: principal || client,
    ...dropUndefined({ conversation, handlers, capabilities: given.capabilities }),
  })
  const modelCaller = (server: string, conversation?: string, principal?: string): Caller => {
    const more = given.caller?.({ conversation, principal, server })
    if (more !== undefined) assertCaller(more, 'the result of connectServers.caller')
    return { ...callerOf(conversation, principal), ...more }
  }
  /** By name, because an update may replace the server before the call. */
  const call = (server: string, tool: string, input: Record<string, unknown>, callOptions: CallOptions) => {
    const upstream = fleet.find(server)
    if (!isOffered(tool, upstream.server))
      throw new McpFailure(
        'unknown-tool',
        server,
        `the config does not offer ${JSON.stringify(tool)} of ${server}`,
      )
    const params = { name: tool, arguments: input }
    return upstream.request({ method: 'tools/call', params }, callOptions) as Promise<CallToolResult>
  }
  const runOn =
    (server: string): RunTool =>
    async (tool, input, { signal, conversation, principal, onProgress, span }) => {
      span?.set({ 'mcp.method.name': 'tools/call' })
      return call(server, tool, input, {
        caller: modelCaller(server, conversation, principal),
        ...dropUndefined({ signal, onProgress, meta: span?.context && { ...span.context } }),
      })
    }
  const retries = createLane(RETRIES)
  /** By name, because an update of the config also loses state. */
  const losses = new Map<string, LostState>()
  const lostOf = (server: string): LostState => {
    const known = losses.get(server) ?? new LostState()
    losses.set(server, known)
    return known
  }

  const fleet = new Fleet({
    servers: 'servers' in config ? config.servers : config,
    concurrency,
    guard,
    publisher: createPublisher({
      catalogue,
      runOn,
      hasFolders: given.caller !== undefined,
      warn,
      wake: (server) => fleet.peek(server)?.wake(),
    }),
    open: (server, onChange) =>
      new Upstream({
        server,
        watchdog,
        processes,
        logs: given.logs === false ? undefined : (given.logs ?? defaultLogFolder()),
        cache,
        guard,
        auth: authOf(server),
        lister: callerOf(),
        lost: lostOf(server.name),
        inTurn: (work) => void retries(work).catch(() => undefined),
        isPatient: given.patient ?? false,
        connectTimeout,
        now,
        random,
        emit,
        onChange,
      }),
  })
  let closing: Promise<void> | undefined

  return {
    inspect() {
      fleet.lookAgain()
      return fleet.upstreams.map((upstream) => createReport(upstream, guard))
    },
    definition: (server) => fleet.find(server).definition,
    async call(server, tool, input, callOptions = {}) {
      assertKnownKeys(callOptions, CALL_KEYS, 'servers.call')
      if (callOptions.caller) assertCaller(callOptions.caller)
      return call(server, tool, input, { ...callOptions, caller: callOptions.caller ?? callerOf() })
    },
    offers(server) {
      const { definition, review, server: config } = fleet.find(server)
      return definition && config.enabled && review.server === undefined
        ? guard.reviewOffers(config, definition)
        : NO_OFFERS
    },
    async request(server, request, callOptions = {}) {
      assertKnownKeys(callOptions, CALL_KEYS, 'servers.request')
      if (callOptions.caller) assertCaller(callOptions.caller)
      if (request.method === 'tools/call') throw invalid('request.method', 'Call tools with servers.call.')
      const caller = callOptions.caller ?? callerOf()
      return fleet.find(server).request(request, { ...callOptions, caller })
    },
    settled: (milliseconds = 2000) => fleet.settled(milliseconds),
    reviewed: () => fleet.reviewed,
    async refresh(server, caller) {
      if (caller) assertCaller(caller)
      await fleet.find(server).refresh(caller)
    },
    restart: (server) => fleet.find(server).restart(),
    update(updated) {
      const report = fleet.update(updated)
      for (const change of ['added', 'changed', 'removed'] as const)
        for (const server of report[change]) emit({ kind: 'server-updated', server, change })
      return report
    },
    async rootsChanged(caller) {
      assertCaller(caller)
      await Promise.all(fleet.upstreams.map((upstream) => upstream.rootsChanged(caller)))
    },
    leave(client) {
      for (const upstream of fleet.upstreams) upstream.leave(client)
    },
    reviewAgain(server) {
      guard.reset()
      for (const upstream of server === undefined ? fleet.upstreams : [fleet.find(server)])
        upstream.known.reviewAgain()
    },
    close() {
      closing ??= fleet.close().then(() => {
        if (!processes) watchdog.close()
        for (const { server } of fleet.upstreams)
          if (catalogue.sources.has(server.name)) catalogue.setState(server.name, 'disabled')
      })
      return closing
    },
  }
}
