/** One hall: the servers of one set of config files in one catalogue, and the rooms that open on it. */
import { homedir } from 'node:os'
import { createToolwell, defaultPrompts, type Policy, type Toolwell } from '@toolwell/core'
import { dropUndefined, matchesGlob } from '@toolwell/core/internal'
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
  type Servers,
} from '@toolwell/mcp'
import {
  connectSharing,
  diskReadOnly,
  inProfile,
  isOffered,
  type ReadOnlyStore,
  type SharedProcesses,
} from '@toolwell/mcp/internal'
import { COMMAND } from '../bridge/commands.js'
import { createBroken, type HallProblem, META } from './broken-entries.js'
import { createReadOnly } from './read-only.js'
import { openRoom, type Room } from './room.js'
import { toolsHeldBack, whyAway } from './why-away.js'

export type CallToolResult = Awaited<ReturnType<Servers['call']>>

export interface Hall {
  readonly config: Config
  readonly catalogue: Toolwell['catalogue']
  readonly servers: Servers
  /** The servers that are in use, by name. */
  readonly known: ReadonlyMap<string, ServerConfig>
  /** What is wrong with the config that was written last, where an older one is still in use. */
  readonly problem: string | undefined
  /** What is wrong in the config that is in use. */
  readonly problems: readonly HallProblem[]
  /** The file that a command about a server has to name; undefined where the command reads it by itself. */
  configOf(server: string): string | undefined
  /** What a profile shows of it; everything without one. Undefined where there is no such profile. */
  room(profile: string | undefined): Room | undefined
  /**
   * Waits while servers of which nothing is cached are listed for the first time, but only so long after they came into use:
   * one that hangs delays nobody later.
   */
  settled(): Promise<void>
  /**
   * Before tools are listed: waits in the same way after a start at which nothing was known of any server, where there would be
   * nothing to list, or where something is cached and not reviewed yet. Otherwise what is known is listed at once, whatever the
   * servers do.
   */
  begun(isEmpty: boolean): Promise<void>
  /** Runs a tool that was judged. */
  call(
    source: string,
    tool: string,
    input: Record<string, unknown>,
    options: CallOptions,
  ): Promise<CallToolResult>
  /** Calls under way. */
  readonly busy: number
  /** Reads the config files again, as they are now. True where anything is other than before. */
  readAgain(files: readonly ConfigFile[]): boolean
  /** Stops its servers. Idempotent. */
  close(): Promise<void>
}

export interface HallOptions {
  readonly files: readonly ConfigFile[]
  /** The folder that servers are listed in. */
  readonly folder: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly connect: ConnectOptions
  /** Those of all halls: a server of the user's own config that depends on no folder runs once for all. */
  readonly processes: SharedProcesses
  /** What a person has approved as read-only. Default: what is in the user's folder for data. */
  readonly readOnly?: ReadOnlyStore
  /** How a person calls the command here. Default: by its name. */
  readonly command?: string
  /** `config`: the file that a command about the server has to name. */
  readonly onServer: (event: ServerEvent, config: string | undefined) => void
  /** What is in the catalogue may be other than before. */
  readonly onChange: () => void
}

/** Milliseconds that a first listing may hold up the first list of tools. */
const FIRST_LISTING = 5000

export function openHall(options: HallOptions): Hall {
  const { folder = homedir(), env, connect, processes, onServer, onChange } = options
  const { readOnly = diskReadOnly(), command = COMMAND } = options
  const isReadOnly = createReadOnly(readOnly)
  let { files } = options
  const load = (): Config => loadConfig({ files, env, workspaceFolder: folder })
  const well = createToolwell({
    mode: 'on',
    delivery: 'bridge',
    search: {
      // Nothing is learned: many callers are behind one face.
      usage: false,
    },
    onEvent: (event) => {
      if (event.kind === 'source-changed') onChange()
    },
    surface: {
      prompts: {
        unavailable: ({ name, state }) => defaultPrompts.unavailable({ name, state: why(name, state) }),
        searchUnavailable: ({ asked, state }) =>
          defaultPrompts.searchUnavailable({ asked, state: why(asked, state) }),
        searchQuarantined: ({ source, count }) =>
          toolsHeldBack(source, count, { catalogue, configOf, command }),
      },
    },
  })
  const why = (name: string, state: string) => whyAway(name, state, { catalogue, report, configOf, command })
  const { catalogue } = well
  let config = load()
  let known = byName(config.servers)
  // Commands read it by themselves.
  const own = defaultConfigFiles(folder, env)[0]?.path
  const configOf = (server: string): string | undefined => {
    const file = known.get(server)?.file
    return file === own ? undefined : file
  }
  const servers = connectSharing(processes, catalogue, config, {
    ...connect,
    // Many folders are behind one catalogue: it names none of them.
    caller: () => ({}),
    onEvent: (event) => onServer(event, configOf(event.server)),
  })
  const report = (server: string) => servers.inspect().find(({ name }) => name === server)
  let problem: string | undefined
  const showBroken = createBroken(catalogue, own, command)
  let problems = showBroken(config, known)
  const isUnknown = (server: string) => servers.definition(server) === undefined
  const isUnreviewed = ({ name, listedAt }: ServerReport) => listedAt !== undefined && isUnknown(name)
  const nothingIsKnown = () => [...known.keys()].every(isUnknown)
  let since = Date.now()
  const timeLeft = () => since + FIRST_LISTING - Date.now()
  let isFirst = nothingIsKnown()
  const rooms = new Map<string | undefined, Room>()
  let busy = 0

  const hall: Hall = {
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
      return problems
    },
    configOf,
    room(profile) {
      const made = rooms.get(profile)
      if (made) return made
      if (profile !== undefined && !Object.hasOwn(config.profiles, profile)) return undefined
      const wanted = profile === undefined ? undefined : config.profiles[profile]
      // Of the servers that are in use, whatever the files say by now.
      const policy = wanted && within(byName(inProfile([...known.values()], wanted)), wanted.servers)
      const room = openRoom(hall, well.direct(dropUndefined({ policy })), isReadOnly)
      rooms.set(profile, room)
      return room
    },
    async settled() {
      if (timeLeft() > 0) await servers.settled(timeLeft())
    },
    async begun(isEmpty) {
      if (timeLeft() <= 0 || ![...known.keys()].some(isUnknown)) return
      if (isEmpty || isFirst || servers.inspect().some(isUnreviewed)) await hall.settled()
    },
    async call(source, tool, input, callOptions) {
      busy++
      try {
        return await servers.call(source, tool, input, callOptions)
      } finally {
        busy--
      }
    },
    get busy() {
      return busy
    },
    readAgain(given) {
      files = given
      const next = load()
      const { isApplied, added, changed, removed, problems: errors } = servers.update(next)
      problem = isApplied ? undefined : errors.map(describeProblem).join('\n')
      if (!isApplied) return false
      const isOther = added.length + changed.length + removed.length > 0
      const profiles = JSON.stringify(next.profiles)
      const isOtherwiseSeen = profiles !== JSON.stringify(config.profiles)
      const broken = new Set(errors.flatMap(({ server }) => server ?? []))
      const kept = [...known.values()].filter(({ name }) => broken.has(name))
      known = byName([...next.servers, ...kept])
      config = next
      problems = showBroken(config, known)
      if (added.length + changed.length > 0) {
        since = Date.now()
        isFirst = nothingIsKnown()
      }
      // What a profile leaves of a server is asked of each as it is now.
      if (isOther || isOtherwiseSeen) rooms.clear()
      return isOther || isOtherwiseSeen
    },
    close: () => servers.close(),
  }
  return hall
}

function byName(servers: readonly ServerConfig[]): ReadonlyMap<string, ServerConfig> {
  return new Map(servers.map((server) => [server.name, server]))
}

/** A profile is a policy: its tools are those that its servers offer in it, and the three that are always there. */
function within(servers: ReadonlyMap<string, ServerConfig>, patterns: readonly string[] = ['*']): Policy {
  return ({ source, name }) => {
    if (source === META) return true
    const server = servers.get(source)
    // A source of which no tool is known yet is asked about by a star; one whose entry cannot be used has no config.
    if (name === '*' && !server) return patterns.some((pattern) => matchesGlob(pattern, source))
    return server !== undefined && (name === '*' || isOffered(name, server))
  }
}
