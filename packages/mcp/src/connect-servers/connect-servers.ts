/** Servers as sources of a catalogue: each joins when it is known, and none waits for another. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Catalogue } from '@toolwell/core'
import { defined } from '@toolwell/core/internal'
import { diskLogins } from '../auth/login-store.js'
import { storedAuth } from '../auth/stored-auth.js'
import { isOffered } from '../config/is-offered.js'
import type { Config } from '../config/load-config.js'
import type { ServerConfig } from '../config/server-config.js'
import { carefulCache } from '../definition/careful-cache.js'
import { diskCache } from '../definition/disk-cache.js'
import type { ServerDefinition } from '../definition/server-definition.js'
import type { ServerWarning } from '../definition/warning.js'
import { createGuard } from '../trust/guard.js'
import { carefulFirstUse } from '../trust/lock/careful-first-use.js'
import { diskFirstUse } from '../trust/lock/disk-first-use.js'
import type { Caller } from '../upstream/caller.js'
import type { CallOptions } from '../upstream/connection.js'
import { McpFailure } from '../upstream/mcp-failure.js'
import { defaultLogFolder } from '../upstream/server-log.js'
import type { ServerEvent } from '../upstream/server-state.js'
import { Upstream } from '../upstream/upstream.js'
import { createWatchdog } from '../upstream/watchdog.js'
import { Fleet } from './fleet.js'
import { type ConnectOptions, readOptions } from './options.js'
import { createPublisher } from './publish.js'
import { reportOf, type ServerReport } from './report.js'
import type { RunTool } from './source-tools.js'

export interface Servers {
  inspect(): ServerReport[]
  /** What a server says of itself and its tools, also what is held back; undefined until it is known. */
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
  /** Lists a server again, started for it where needed. */
  refresh(server: string): Promise<void>
  /** Reads the locks again and reviews what is in use, at once. A lock that has changed is noticed within a second without it. */
  reviewAgain(server?: string): void
  /** Stops every server. Idempotent. */
  close(): Promise<void>
}

/** Returns at once: what is cached can be searched now, the rest joins when it has been listed. */
export function connectServers(
  catalogue: Catalogue,
  config: (Pick<Config, 'servers'> & Partial<Pick<Config, 'scan'>>) | readonly ServerConfig[],
  options: ConnectOptions = {},
): Servers {
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
  const cache = carefulCache(given.cache ?? diskCache({ onWarning: warnOf('') }), warnOf(''))
  const logins = given.logins ?? diskLogins({ onWarning: warnOf('') })
  const authOf =
    given.auth ??
    ((server: ServerConfig) => storedAuth(server, { store: logins, now, onWarning: warnOf(server.name) }))
  const rules = { ...('servers' in config ? config.scan?.rules : {}), ...given.rules }
  const firstUse = carefulFirstUse(given.firstUse ?? diskFirstUse({ onWarning: warnOf('') }), warnOf(''))
  const guard = createGuard({ firstUse, lock, scan, rules, review: given.review })
  const watchdog = createWatchdog()

  const callerOf = (conversation?: string, principal?: string): Caller => ({
    client: principal || client,
    ...defined({ conversation, handlers }),
  })
  const runOn =
    (upstream: Upstream): RunTool =>
    (tool, input, { signal, conversation, principal, onProgress }) =>
      upstream.call(tool, input, {
        caller: callerOf(conversation, principal),
        ...defined({ signal, onProgress }),
      })

  const fleet = new Fleet({
    servers: 'servers' in config ? config.servers : config,
    concurrency,
    guard,
    publish: createPublisher({ catalogue, runOn, warn }),
    open: (server, onChange) =>
      new Upstream({
        server,
        watchdog,
        logs: given.logs === false ? undefined : (given.logs ?? defaultLogFolder()),
        cache,
        guard,
        auth: authOf(server),
        lister: callerOf(),
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
      return fleet.upstreams.map((upstream) => reportOf(upstream, guard.by(upstream.server.name)))
    },
    definition: (server) => fleet.find(server).definition,
    async call(server, tool, input, callOptions = {}) {
      const upstream = fleet.find(server)
      if (!isOffered(tool, upstream.server))
        throw new McpFailure(
          'unknown-tool',
          server,
          `the config does not offer ${JSON.stringify(tool)} of ${server}`,
        )
      return upstream.call(tool, input, { ...callOptions, caller: callOptions.caller ?? callerOf() })
    },
    settled: (milliseconds = 2000) => fleet.settled(milliseconds),
    refresh: (server) => fleet.find(server).refresh(),
    reviewAgain(server) {
      guard.reset()
      for (const upstream of server === undefined ? fleet.upstreams : [fleet.find(server)])
        upstream.known.reviewAgain()
    },
    close() {
      closing ??= fleet.close().then(() => {
        watchdog.close()
        for (const { server } of fleet.upstreams) catalogue.setState(server.name, 'disabled')
      })
      return closing
    },
  }
}
