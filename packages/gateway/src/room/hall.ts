/** One hall: the servers of one set of config files in one catalogue, and the rooms that open on it. */
import { homedir } from 'node:os'
import { createToolwell, defaultPrompts, type Policy, type Toolwell } from '@toolwell/core'
import { defined } from '@toolwell/core/internal'
import {
  type CallOptions,
  type Config,
  type ConfigFile,
  type ConnectOptions,
  connectServers,
  describeProblem,
  loadConfig,
  type ServerConfig,
  type ServerEvent,
  type Servers,
} from '@toolwell/mcp'
import { diskReadOnly, isOffered, type ReadOnlyStore } from '@toolwell/mcp/internal'
import { prompts } from '../prompts.js'
import { createReadOnly } from './read-only.js'
import { openRoom, type Room } from './room.js'

export type CallToolResult = Awaited<ReturnType<Servers['call']>>

export interface Hall {
  readonly config: Config
  readonly catalogue: Toolwell['catalogue']
  readonly servers: Servers
  /** The servers that are in use, by name. */
  readonly known: ReadonlyMap<string, ServerConfig>
  /** What is wrong with the config that was written last, where an older one is still in use. */
  readonly problem: string | undefined
  /** What a profile shows of it; everything without one. Undefined where there is no such profile. */
  room(profile: string | undefined): Room | undefined
  /**
   * Waits while servers of which nothing is cached are listed for the first time, but only so long after they came into use:
   * one that hangs delays nobody later.
   */
  settled(): Promise<void>
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
  /** What a person has approved as read-only. Default: what is in the user's folder for data. */
  readonly readOnly?: ReadOnlyStore
  readonly onServer: (event: ServerEvent) => void
  /** What is in the catalogue may be other than before. */
  readonly onChange: () => void
}

/** Milliseconds that a first listing may hold up the first list of tools. */
const FIRST_LISTING = 5000
/** The source of Toolwell's own tools. */
const META = 'toolwell'

export function openHall(options: HallOptions): Hall {
  const { folder = homedir(), env, connect, readOnly = diskReadOnly(), onServer, onChange } = options
  const isReadOnly = createReadOnly(readOnly)
  let { files } = options
  const load = (profile?: string): Config =>
    loadConfig({ files, env, workspaceFolder: folder, ...defined({ profile }) })
  const well = createToolwell({
    mode: 'on',
    delivery: 'bridge',
    // Nothing is learned: many callers are behind one face.
    usage: false,
    onEvent: (event) => {
      if (event.kind === 'source-changed') onChange()
    },
    prompts: {
      unavailable: ({ name, state }) => defaultPrompts.unavailable({ name, state: inWords(state) }),
      searchUnavailable: ({ asked, state }) =>
        defaultPrompts.searchUnavailable({ asked, state: inWords(state) }),
    },
  })
  const { catalogue } = well
  let config = load()
  const servers = connectServers(catalogue, config, {
    ...connect,
    // Many folders are behind one catalogue: it names none of them.
    caller: () => ({}),
    onEvent: onServer,
  })
  let known = byName(config.servers)
  let problem: string | undefined
  let since = Date.now()
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
    room(profile) {
      const made = rooms.get(profile)
      if (made) return made
      if (profile !== undefined && !Object.hasOwn(config.profiles, profile)) return undefined
      const policy = profile === undefined ? undefined : within(byName(load(profile).servers))
      const room = openRoom(hall, well.face(defined({ policy })), isReadOnly)
      rooms.set(profile, room)
      return room
    },
    async settled() {
      const left = since + FIRST_LISTING - Date.now()
      if (left > 0) await servers.settled(left)
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
      const { isApplied, added, changed, removed, problems } = servers.update(next)
      problem = isApplied ? undefined : problems.map(describeProblem).join('\n')
      if (!isApplied) return false
      const isOther = added.length + changed.length + removed.length > 0
      const profiles = JSON.stringify(next.profiles)
      const isOtherwiseSeen = profiles !== JSON.stringify(config.profiles)
      const broken = new Set(problems.flatMap(({ server }) => server ?? []))
      const kept = [...known.values()].filter(({ name }) => broken.has(name))
      known = byName([...next.servers, ...kept])
      config = next
      if (added.length + changed.length > 0) since = Date.now()
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
function within(servers: ReadonlyMap<string, ServerConfig>): Policy {
  return ({ source, name }) => {
    if (source === META) return true
    const server = servers.get(source)
    // A source of which no tool is known yet is asked about by a star.
    return server !== undefined && (name === '*' || isOffered(name, server))
  }
}

function inWords(state: string): string {
  return state === 'quarantined' ? prompts.heldBack({ state }) : state
}
