/** Servers as sources of a catalogue: each joins when it is known, and none waits for another. */
import type { CallToolResult } from '@modelcontextprotocol/client'
import { type Catalogue, type SourceState, ToolwellError } from '@toolwell/core'
import { assertKnownKeys } from '@toolwell/core/shared'
import { diskLogins, type LoginStore } from './auth/login-store.js'
import { storedAuth } from './auth/stored-auth.js'
import { type DefinitionCache, diskCache } from './cache.js'
import { carefulCache } from './careful-cache.js'
import type { Config } from './config/load-config.js'
import { showEndpoint } from './config/redact.js'
import type { ServerConfig } from './config/server-config.js'
import type { LeftOut, ServerDefinition } from './definition.js'
import { McpFailure } from './failure.js'
import { createGuard } from './guard.js'
import type { Reviewer, ReviewFinding } from './review.js'
import { type RuleSettings, ruleProblem } from './scan/rules.js'
import type { ServerEvent, ServerState } from './state.js'
import { describeServer, isOffered, toTools } from './tools.js'
import type { Caller, CallerHandlers } from './upstream/caller.js'
import type { CallOptions } from './upstream/connection.js'
import { loginAdvice } from './upstream/failures.js'
import type { ServerAuth } from './upstream/open-client.js'
import { Upstream } from './upstream/upstream.js'
import { createWatchdog } from './upstream/watchdog.js'
import { describeLeftOut } from './usable-tools.js'

export interface ConnectOptions {
  /** Where definitions are kept. Default: files in the user's cache folder. */
  readonly cache?: DefinitionCache
  /** The lock that counts for all servers; `false`: none. Default: `toolwell.lock` beside the config file of each. */
  readonly lock?: string | false
  /**
   * Whether definitions are scanned for poison, and which rules are switched off besides those of the config:
   * `{ rules: { 'steer-preference': 'off' } }`. Default true; hard findings are held back.
   */
  readonly scan?: boolean | { readonly rules?: RuleSettings }
  /** Asked about every definition as well; may hold back more, and lets nothing loose. */
  readonly review?: Reviewer
  /** Where logins are kept. Default: files that only the user can read. */
  readonly logins?: LoginStore
  /** Credentials of a remote server. Default: its login, if there is one. */
  readonly auth?: (server: ServerConfig) => ServerAuth | undefined
  /** What servers may ask of the callers of this program's conversations. */
  readonly handlers?: CallerHandlers
  /** Names this program to servers with `share: client`. */
  readonly client?: string
  /** Servers listed at a time, where nothing is known of them. Default 8. */
  readonly concurrency?: number
  /** Milliseconds to start, shake hands and list. Default 30,000. */
  readonly connectTimeout?: number
  readonly onEvent?: (event: ServerEvent) => void
  readonly now?: () => number
  readonly random?: () => number
}

export interface ServerReport {
  readonly name: string
  readonly state: ServerState
  readonly reason: string
  /** Command or address, without anything secret. */
  readonly endpoint: string
  readonly description: string
  readonly era: 'modern' | 'legacy' | undefined
  readonly info: { readonly name: string; readonly version: string } | undefined
  readonly tools: readonly string[]
  /** Names that the config keeps out. Nothing else is said of them. */
  readonly denied: readonly string[]
  /** Entries of its list that are no tools, with the reason. */
  readonly leftOut: readonly LeftOut[]
  readonly quarantined: ReadonlyMap<string, string>
  readonly findings: readonly ReviewFinding[]
  /** What is worth telling about its definitions: that they are not what they were, say. */
  readonly warnings: readonly string[]
  /** By what its tools are let through: the lock, first use, `trust: "full"` in the config, or nothing. */
  readonly trusted: 'lock' | 'first-use' | 'config' | 'nothing'
  readonly starts: number
  readonly pids: readonly number[]
  /** When the list was last read from the server, in milliseconds since the epoch. */
  readonly listedAt: number | undefined
}

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

/** Milliseconds between looks at the locks: a file's date, read from a folder that is in memory. */
const LOOK_EVERY = 1000

const KEYS = [
  'cache',
  'lock',
  'scan',
  'review',
  'logins',
  'auth',
  'handlers',
  'client',
  'concurrency',
  'connectTimeout',
  'onEvent',
  'now',
  'random',
] as const satisfies readonly (keyof ConnectOptions)[]

/** Returns at once: what is cached can be searched now, the rest joins when it has been listed. */
export function connectServers(
  catalogue: Catalogue,
  config: (Pick<Config, 'servers'> & Partial<Pick<Config, 'scan'>>) | readonly ServerConfig[],
  options: ConnectOptions = {},
): Servers {
  assertKnownKeys(options, KEYS, 'connectServers')
  const {
    concurrency = 8,
    connectTimeout = 30_000,
    now = Date.now,
    random = Math.random,
    client = '',
    lock,
    scan = true,
  } = options
  if (!(concurrency >= 1))
    throw new ToolwellError('invalid-option', `concurrency must be at least 1, not ${String(concurrency)}.`, {
      path: 'concurrency',
    })
  const emit = (event: ServerEvent) => {
    try {
      options.onEvent?.(event)
    } catch {
      // A listener that throws has no say in what happens to servers.
    }
  }
  const warn = (server: string) => (detail: string) => emit({ kind: 'warning', server, detail })
  // A list is worth more than its copy.
  const cache = carefulCache(options.cache ?? diskCache({ onWarning: warn('') }), warn(''))
  const logins = options.logins ?? diskLogins({ onWarning: warn('') })
  const rules = { ...('servers' in config ? config.scan?.rules : {}), ...checkedRules(scan) }
  const guard = createGuard({ cache, lock, scan: scan !== false, rules, review: options.review })
  const watchdog = createWatchdog()
  const upstreams = new Map<string, Upstream>()
  const published = new Map<string, unknown>()
  let closing: Promise<void> | undefined

  const caller = (conversation: string | undefined, principal: string | undefined): Caller => ({
    client: principal || client,
    ...(conversation === undefined ? {} : { conversation }),
    ...(options.handlers ? { handlers: options.handlers } : {}),
  })

  /** Brings the catalogue up to what is known of a server. */
  const publish = (upstream: Upstream) => {
    if (closing) return
    const { server, definition } = upstream
    const state = sourceState(upstream)
    const advice = state === 'needs-login' ? loginAdvice(server) : ''
    const reviewed = upstream.review
    if (
      published.get(server.name) === definition &&
      definition !== undefined &&
      reviewedAs.get(server.name) === reviewed
    ) {
      catalogue.setState(server.name, state, advice)
      return
    }
    compare()
    published.set(server.name, definition)
    reviewedAs.set(server.name, reviewed)
    const tools = definition
      ? toTools(server, definition, (tool, input, { signal, conversation, principal, onProgress }) =>
          upstream.call(tool, input, {
            caller: caller(conversation, principal),
            ...(signal ? { signal } : {}),
            ...(onProgress ? { onProgress } : {}),
          }),
        )
      : []
    const leftOut = leftOutOf(server, definition)
    if (leftOut.length > 0) warn(server.name)(describeLeftOut(leftOut))
    const description = definition ? describeServer(server, definition) : server.description
    const kept =
      definition &&
      upstream.keptFor(JSON.stringify([description, server.allow, server.within, server.deny, server.trust]))
    catalogue.setSource(server.name, {
      tools,
      description,
      state,
      advice,
      ...(kept ? { kept } : {}),
      quarantined:
        reviewed.server === undefined ? [...reviewed.quarantined.keys()] : tools.map(({ name }) => name),
    })
  }
  const reviewedAs = new Map<string, unknown>()

  /** New names may show other tools in another light. */
  let comparing: Promise<void> | undefined
  const compare = () => {
    comparing ??= new Promise((resolve) => setImmediate(resolve))
      .then(() => guard.compare(() => closing !== undefined))
      .then(({ changed, noted }) => {
        for (const name of changed) if (!closing) upstreams.get(name)?.reviewAgain()
        for (const name of noted) if (!closing) upstreams.get(name)?.keepAgain()
      })
      .finally(() => {
        comparing = undefined
      })
  }

  const servers = 'servers' in config ? config.servers : config
  for (const server of servers) {
    if (upstreams.has(server.name))
      throw new ToolwellError(
        'invalid-option',
        `Two servers are named ${JSON.stringify(server.name)}. Rename one.`,
        {
          path: server.name,
        },
      )
    const upstream = new Upstream({
      server,
      watchdog,
      cache,
      guard,
      auth: options.auth
        ? options.auth(server)
        : storedAuth(server, { store: logins, now, onWarning: warn(server.name) }),
      lister: caller(undefined, undefined),
      connectTimeout,
      now,
      random,
      emit,
      onChange: (changed) => {
        if (upstreams.get(server.name) === changed) publish(changed)
      },
    })
    upstreams.set(server.name, upstream)
  }

  const first = new Map<string, Promise<void>>()
  // Every server that is cached is met before one is reviewed: what is found in one may depend on the names of another.
  const unreviewed = new Set([...upstreams.values()].filter((upstream) => !upstream.begin()))
  for (const upstream of upstreams.values()) publish(upstream)
  const queue = [...upstreams.values()].filter((upstream) => {
    const { server, definition, isExpired } = upstream
    const isUnknown = definition === undefined && !unreviewed.has(upstream)
    // An expired promise is worth a request, not a process.
    return server.enabled && (isUnknown || !server.lazy || (isExpired && server.endpoint.type !== 'stdio'))
  })
  const lane = createLane(concurrency)
  const start = (upstream: Upstream, work: () => Promise<void>) => {
    const { name } = upstream.server
    const done = lane(async () => {
      if (!closing) await work()
    })
      .catch(() => undefined)
      .finally(() => first.delete(name))
    if (upstream.definition === undefined) first.set(name, done)
  }
  for (const upstream of unreviewed) start(upstream, () => upstream.beginSlowly())
  for (const upstream of queue) start(upstream, () => upstream.refresh())

  const lookAgain = () => {
    for (const upstream of upstreams.values()) upstream.lookAgain()
  }
  // What is held back is not even called: somebody has to look.
  const looking = setInterval(lookAgain, LOOK_EVERY)
  looking.unref()

  const find = (name: string): Upstream => {
    const upstream = upstreams.get(name)
    if (upstream) return upstream
    throw new McpFailure(
      'unavailable',
      name,
      `there is no server ${JSON.stringify(name)}; known are ${[...upstreams.keys()].join(', ') || 'none'}`,
    )
  }

  return {
    inspect() {
      if (!closing) lookAgain()
      return [...upstreams.values()].map((upstream) => report(upstream, guard.by(upstream.server.name)))
    },
    definition: (server) => find(server).definition,
    async call(server, tool, input, callOptions = {}) {
      const upstream = find(server)
      if (!isOffered(tool, upstream.server))
        throw new McpFailure(
          'unknown-tool',
          server,
          `the config does not offer ${JSON.stringify(tool)} of ${server}`,
        )
      return upstream.call(tool, input, {
        ...callOptions,
        caller: callOptions.caller ?? caller(undefined, undefined),
      })
    },
    async settled(milliseconds = 2000) {
      const done = async () => {
        await Promise.all(first.values())
        await comparing
      }
      if (first.size > 0 || comparing) await bounded(done(), milliseconds)
      return [...first.keys()]
    },
    refresh: (server) => find(server).refresh(),
    reviewAgain(server) {
      guard.reset()
      for (const upstream of server === undefined ? upstreams.values() : [find(server)])
        upstream.reviewAgain()
    },
    close() {
      clearInterval(looking)
      closing ??= (async () => {
        await Promise.all([...upstreams.values()].map((upstream) => upstream.close()))
        watchdog.close()
        for (const name of upstreams.keys()) catalogue.setState(name, 'disabled')
      })()
      return closing
    },
  }
}

function checkedRules(scan: NonNullable<ConnectOptions['scan']>): RuleSettings {
  if (typeof scan === 'boolean') return {}
  assertKnownKeys(scan, ['rules'], 'connectServers: scan')
  for (const [id, value] of Object.entries(scan.rules ?? {})) {
    const problem = ruleProblem(id, value)
    if (problem)
      throw new ToolwellError('invalid-option', `${problem.message}. ${problem.fix}.`, {
        path: `scan.rules.${id}`,
      })
  }
  return scan.rules ?? {}
}

/** A server that is not running can be used all the same, as long as its tools are known. */
function sourceState({ state, definition }: Upstream): SourceState {
  if (state === 'disabled' || state === 'needs-login' || state === 'failed') return state
  return definition ? 'ready' : 'connecting'
}

function report(upstream: Upstream, trusted: ServerReport['trusted']): ServerReport {
  const { server, definition, review } = upstream
  const named = [...(definition?.tools ?? []), ...(definition?.leftOut ?? [])]
  const denied = new Set(
    named.flatMap(({ name }) => (name === undefined || isOffered(name, server) ? [] : [name])),
  )
  const tools = new Set(definition?.tools.map(({ name }) => name).filter((name) => !denied.has(name)))
  const { info } = definition ?? {}
  return {
    name: server.name,
    state: upstream.state,
    reason: upstream.reason,
    endpoint: showEndpoint(server.endpoint, server.secrets),
    description: definition ? describeServer(server, definition) : server.description,
    era: definition?.era,
    info: info && { name: info.name, version: info.version },
    tools: [...tools].sort(),
    denied: [...denied].sort(),
    leftOut: leftOutOf(server, definition),
    quarantined: review.quarantined,
    findings: review.findings,
    warnings: review.warnings ?? [],
    trusted,
    starts: upstream.starts,
    pids: upstream.pids,
    listedAt: upstream.listedAt,
  }
}

/** What the config keeps out is not said to be left out. */
function leftOutOf(server: ServerConfig, definition: ServerDefinition | undefined): LeftOut[] {
  return (definition?.leftOut ?? []).filter(({ name }) => name === undefined || isOffered(name, server))
}

/** So many at a time, in order. */
function createLane(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    running++
    try {
      return await work()
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}

async function bounded(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, milliseconds)
  })
  await Promise.race([work, late])
  clearTimeout(timer)
}
