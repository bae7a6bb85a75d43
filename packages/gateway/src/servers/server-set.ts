/** A server set: the servers of one set of config files in one catalogue, with a view for each profile. */
import { homedir } from 'node:os'
import { createToolwell, defaultPrompts, type Policy, type Toolwell } from '@toolwell/core'
import { dropUndefined, matchesGlob } from '@toolwell/core/internal'
import type { Telemetry } from '@toolwell/core/telemetry'
import {
  type CallOptions,
  type Config,
  type ConfigFile,
  type ConnectOptions,
  defaultConfigFiles,
  describeProblem,
  loadConfig,
  type ServerConfig,
  type ServerEvent,
  type ServerReport,
  type ServerRequest,
  type Servers,
} from '@toolwell/mcp'
import {
  connectWithSharedProcesses,
  diskReadOnly,
  findUnmatchedPatterns,
  isOffered,
  type ReadOnlyStore,
  type SharedProcesses,
  selectByProfile,
} from '@toolwell/mcp/internal'
import type { ClientRules } from '../bridge/client-rules.js'
import { COMMAND } from '../bridge/commands.js'
import { prompts } from '../prompts.js'
import type { Rights } from '../storage/storage.js'
import {
  createBrokenServers,
  explainUnavailable,
  OWN_SOURCE,
  type ServerSetProblem,
} from './broken-servers.js'
import { traceServer } from './trace.js'
import { createReadOnlyCheck, openView, type View } from './view.js'

export type CallToolResult = Awaited<ReturnType<Servers['call']>>

export interface ServerSet {
  readonly config: Config
  readonly catalogue: Toolwell['catalogue']
  readonly servers: Servers
  /** Servers in use, by name. */
  readonly known: ReadonlyMap<string, ServerConfig>
  /** Why the latest config was refused. The previous one stays in use. */
  readonly problem: string | undefined
  /** Problems in the config in use. */
  readonly problems: readonly ServerSetProblem[]
  /** The file that a command about a server needs as `--config`. Undefined if the command reads it by default. */
  configFile(server: string): string | undefined
  /**
   * View of a profile, or of everything without one, without the tools that `rules` deny or that are outside the `rights` of a
   * token. Undefined if there is no such profile.
   */
  view(profile: string | undefined, rules?: ClientRules, rights?: Rights): View | undefined
  /** Waits for first-time listings, at most FIRST_LISTING ms after a server was added. */
  settled(): Promise<void>
  /** Waits for the review of cached definitions, which needs no server. */
  reviewed(): Promise<void>
  /** First-time listings are under way, so the list may grow at any moment. */
  readonly isSettling: boolean
  /** Like `settled`, but only if the list would be empty, nothing was cached at the start, or a cached definition is not reviewed yet. */
  waitBeforeListing(isEmpty: boolean): Promise<void>
  /** Runs a call that passed every check. */
  call(
    source: string,
    tool: string,
    input: Record<string, unknown>,
    options: CallOptions,
  ): Promise<CallToolResult>
  /** Sends another request to a server. */
  readonly request: Servers['request']
  /** Number of running calls. */
  readonly busy: number
  /** Reads the config files again. Returns whether anything changed. */
  reload(files: readonly ConfigFile[]): boolean
  /** Stops its servers. Idempotent. */
  close(): Promise<void>
}

export interface ServerSetOptions {
  readonly files: readonly ConfigFile[]
  /** The folder in which servers are listed. */
  readonly folder: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly connect: ConnectOptions
  /** Shared by all server sets: a server of the user's config that does not depend on a folder runs once. */
  readonly processes: SharedProcesses
  /** Tools that the user approved as read-only. Default: the store in the user's data folder. */
  readonly readOnly?: ReadOnlyStore
  /** Records a span for each request to a server. */
  readonly telemetry?: Telemetry
  /** The command in lines for the user to paste. Default: `toolwell`. */
  readonly command?: string
  /** `config` is the file that a command about the server needs as `--config`. */
  readonly onServer: (event: ServerEvent, config: string | undefined) => void
  /** The catalogue may have changed. */
  readonly onChange: () => void
}

/** Edited rules of a client make another view. Views are cheap to open again. */
const MOST_VIEWS = 100

/** Most milliseconds that the first list of tools waits for listings. */
const FIRST_LISTING = 5000

export function openServerSet(options: ServerSetOptions): ServerSet {
  const { folder = homedir(), env, connect, processes, onServer, onChange } = options
  const { readOnly = diskReadOnly(), command = COMMAND, telemetry } = options
  const isReadOnly = createReadOnlyCheck(readOnly)
  let unmatched: readonly ServerSetProblem[] | undefined
  let { files } = options
  const load = (): Config => loadConfig({ files, env, workspaceFolder: folder })
  const well = createToolwell({
    mode: 'on',
    delivery: 'bridge',
    // Many callers share one catalogue, so usage is not learned.
    search: { usage: false },
    onEvent: (event) => {
      if (event.kind !== 'source-changed') return
      unmatched = undefined
      onChange()
    },
    surface: {
      prompts: {
        unavailable: ({ name, state }) => defaultPrompts.unavailable({ name, state: explain(name, state) }),
        searchUnavailable: ({ asked, state }) =>
          defaultPrompts.searchUnavailable({ asked, state: explain(asked, state) }),
        searchQuarantined: prompts.toolsQuarantined,
      },
    },
  })
  const explain = (name: string, state: string) => explainUnavailable(name, state, { catalogue, report })
  const { catalogue } = well
  let config = load()
  let known = byName(config.servers)
  // Commands read this file by default.
  const own = defaultConfigFiles(folder, env)[0]?.path
  const configFile = (server: string): string | undefined => {
    const file = known.get(server)?.file
    return file === own ? undefined : file
  }
  const servers = connectWithSharedProcesses(processes, catalogue, config, {
    ...connect,
    // Many folders share one catalogue, so no folder is set.
    caller: () => ({}),
    onEvent: (event) => {
      onServer(event, configFile(event.server))
      // Prompts and resources are not in the catalogue.
      if (event.kind === 'server-listed') onChange()
    },
  })
  const report = (server: string) => servers.inspect().find(({ name }) => name === server)
  let problem: string | undefined
  const showBroken = createBrokenServers(catalogue, own, command)
  let problems = showBroken(config, known)
  const findUnmatched = (): ServerSetProblem[] =>
    findUnmatchedPatterns([...known.values()], config.profiles, servers.inspect()).map(
      ({ message, fix }) => ({ problem: `${message}. ${fix}.`, stillUsed: false }),
    )
  const isUnlisted = (server: string) => servers.definition(server) === undefined
  const isUnreviewed = ({ name, listedAt }: ServerReport) => listedAt !== undefined && isUnlisted(name)
  const isNothingListed = () => [...known.keys()].every(isUnlisted)
  let since = Date.now()
  const timeLeft = () => since + FIRST_LISTING - Date.now()
  let isFirst = isNothingListed()
  const views = new Map<string, View>()
  let busy = 0
  const whileBusy = async <T>(work: () => Promise<T>): Promise<T> => {
    busy++
    try {
      return await work()
    } finally {
      busy--
    }
  }

  const trace = <T>(
    source: string,
    asked: ServerRequest,
    callOptions: CallOptions,
    work: (options: CallOptions) => Promise<T>,
  ) => {
    const isLocal = known.get(source)?.endpoint.type === 'stdio'
    return traceServer(telemetry, source, isLocal, asked, callOptions, work)
  }

  const set: ServerSet = {
    get config() {
      return config
    },
    catalogue,
    servers,
    get known() {
      return known
    },
    get problem() {
      return problem
    },
    get problems() {
      unmatched ??= findUnmatched()
      return [...problems, ...unmatched]
    },
    configFile,
    view(profile, rules, rights) {
      // Lists are cached in a view, and these depend on approvals.
      const stamps = rights?.readOnly ? [...known.values()].map((server) => readOnly.stamp(server)) : []
      const key = JSON.stringify([profile, rules, rights, stamps])
      const made = views.get(key)
      if (made) return made
      if (profile !== undefined && !Object.hasOwn(config.profiles, profile)) return undefined
      const wanted = profile === undefined ? undefined : config.profiles[profile]
      // Uses the servers in use: a broken entry keeps its previous server.
      const policy =
        wanted && createProfilePolicy(byName(selectByProfile([...known.values()], wanted)), wanted.servers)
      const view = openView(set, (own) => well.direct(dropUndefined({ policy: own })), {
        policy,
        rules,
        rights,
        isReadOnly,
      })
      if (views.size >= MOST_VIEWS) views.clear()
      views.set(key, view)
      return view
    },
    async settled() {
      if (timeLeft() > 0) await servers.settled(timeLeft())
    },
    reviewed: () => servers.reviewed(),
    get isSettling() {
      return timeLeft() > 0 && [...known.values()].some(({ enabled, name }) => enabled && isUnlisted(name))
    },
    async waitBeforeListing(isEmpty) {
      if (!set.isSettling) return
      if (isEmpty || isFirst || servers.inspect().some(isUnreviewed)) await set.settled()
    },
    call: (source, tool, input, callOptions) =>
      whileBusy(() =>
        trace(source, { method: 'tools/call', params: { name: tool } }, callOptions, (traced) =>
          servers.call(source, tool, input, traced),
        ),
      ),
    request: (source, asked, callOptions = {}) =>
      whileBusy(() => trace(source, asked, callOptions, (traced) => servers.request(source, asked, traced))),
    get busy() {
      return busy
    },
    reload(given) {
      files = given
      const next = load()
      const { isApplied, added, changed, removed, problems: errors } = servers.update(next)
      problem = isApplied ? undefined : errors.map(describeProblem).join('\n')
      if (!isApplied) return false
      const hasOtherServers = added.length + changed.length + removed.length > 0
      const profiles = JSON.stringify(next.profiles)
      const hasOtherProfiles = profiles !== JSON.stringify(config.profiles)
      const broken = new Set(errors.flatMap(({ server }) => server ?? []))
      const kept = [...known.values()].filter(({ name }) => broken.has(name))
      known = byName([...next.servers, ...kept])
      config = next
      problems = showBroken(config, known)
      unmatched = undefined
      if (added.length + changed.length > 0) {
        since = Date.now()
        isFirst = isNothingListed()
      }
      // Profiles filter the servers in use, so every view is built again.
      if (hasOtherServers || hasOtherProfiles) views.clear()
      return hasOtherServers || hasOtherProfiles
    },
    close: () => servers.close(),
  }
  return set
}

function byName(servers: readonly ServerConfig[]): ReadonlyMap<string, ServerConfig> {
  return new Map(servers.map((server) => [server.name, server]))
}

/** Turns a profile into a policy: the tools that its servers offer, and Toolwell's own. */
function createProfilePolicy(
  servers: ReadonlyMap<string, ServerConfig>,
  patterns: readonly string[] = ['*'],
): Policy {
  return ({ source, name }) => {
    if (source === OWN_SOURCE) return true
    const server = servers.get(source)
    // `*` asks about a source without known tools. A server with a broken entry has no config to check.
    if (name === '*' && !server) return patterns.some((pattern) => matchesGlob(pattern, source))
    return server !== undefined && (name === '*' || isOffered(name, server))
  }
}
