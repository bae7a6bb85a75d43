/** Servers as sources of a catalogue: each joins when it is known, and none waits for another. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Catalogue } from '@toolwell/core'
import { assertKnownKeys, defined, invalid, isRecord } from '@toolwell/core/internal'
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
import { assertCaller, type Caller } from '../upstream/caller.js'
import type { CallOptions } from '../upstream/connection.js'
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
  /**
   * What a server says of itself and its tools, also what is held back; undefined until it is known. The folder that it runs in
   * is written `${workspaceFolder}`.
   */
  definition(server: string): ServerDefinition | undefined
  /** Runs a tool by the server's own name for it. Throws `McpFailure`; a result that says it is an error is a result. */
  call(
    server: string,
    tool: string,
    input: Record<string, unknown>,
    options?: CallOptions,
  ): Promise<CallToolResult>
  /** Waits until no server is being listed for the first time, but no longer than this; gives those that still are. */
  settled(milliseconds?: number): Promise<string[]>
  /** Lists a server again, started for it where needed; as a caller sees it, where one is given and nothing is known of it yet. */
  refresh(server: string, caller?: Caller): Promise<void>
  /**
   * Takes another config into use, at once. Servers that are the same in it keep their processes. On those that changed or
   * are gone, calls that are under way are answered first. Where a file cannot be read, nothing changes; where one entry
   * is wrong, that server goes on as it was.
   */
  update(config: UpdatedConfig): UpdateReport
  /** Tells the running servers of this caller that its roots are others now. */
  rootsChanged(caller: Caller): Promise<void>
  /** Reads the locks again and reviews what is in use, at once. A lock that has changed is noticed within a second without it. */
  reviewAgain(server?: string): void
  /** Stops every server. Idempotent. */
  close(): Promise<void>
}

/** Servers that could not be listed are listed again so many at a time. */
const RETRIES = 2
const CALL_KEYS = [
  'caller',
  'signal',
  'onProgress',
  'meta',
  'mayCall',
] as const satisfies readonly (keyof CallOptions)[]

/** What is often given in place of the catalogue or of a config. */
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

/** Returns at once: what is cached can be searched now, the rest joins when it has been listed. */
export function connectServers(
  catalogue: Catalogue,
  config: Connected,
  options: ConnectOptions = {},
): Servers {
  return connectWithSharedProcesses(undefined, catalogue, config, options)
}

/** The same beside others: local servers that are the same in every folder run once for all who have the same `processes`. */
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
      // A listener that throws has no say in what happens to servers.
    }
  }
  const warn = (server: string, warning: ServerWarning) => emit({ kind: 'warning', server, ...warning })
  const warnOf = (server: string) => (warning: ServerWarning) => warn(server, warning)
  // A cache that fails must not cost a listing.
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
    ...defined({ conversation, handlers, capabilities: given.capabilities }),
  })
  const modelCaller = (server: string, conversation?: string, principal?: string): Caller => {
    const more = given.caller?.({ conversation, principal, server })
    if (more !== undefined) assertCaller(more, 'what connectServers.caller gives')
    return { ...callerOf(conversation, principal), ...more }
  }
  /** By name: the server of a tool may be another one by the time it runs. */
  const call = (server: string, tool: string, input: Record<string, unknown>, callOptions: CallOptions) => {
    const upstream = fleet.find(server)
    if (!isOffered(tool, upstream.server))
      throw new McpFailure(
        'unknown-tool',
        server,
        `the config does not offer ${JSON.stringify(tool)} of ${server}`,
      )
    return upstream.call(tool, input, callOptions)
  }
  const runOn =
    (server: string): RunTool =>
    async (tool, input, { signal, conversation, principal, onProgress }) =>
      call(server, tool, input, {
        caller: modelCaller(server, conversation, principal),
        ...defined({ signal, onProgress }),
      })
  const retries = createLane(RETRIES)
  /** By name: what a server kept is lost with its config too. */
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
      return fleet.upstreams.map((upstream) => createReport(upstream, guard.trustedBy(upstream.server.name)))
    },
    definition: (server) => fleet.find(server).definition,
    async call(server, tool, input, callOptions = {}) {
      assertKnownKeys(callOptions, CALL_KEYS, 'servers.call')
      if (callOptions.caller) assertCaller(callOptions.caller)
      return call(server, tool, input, { ...callOptions, caller: callOptions.caller ?? callerOf() })
    },
    settled: (milliseconds = 2000) => fleet.settled(milliseconds),
    async refresh(server, caller) {
      if (caller) assertCaller(caller)
      await fleet.find(server).refresh(caller)
    },
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
