/** One hall: the servers of one set of config files in one catalogue, and the rooms that open on it. */
import { createToolwell, defaultPrompts, type Policy, type Toolwell } from '@toolwell/core'
import {
  type CallOptions,
  type Config,
  type ConnectOptions,
  connectServers,
  type ServerEvent,
  type Servers,
} from '@toolwell/mcp'
import { isOffered } from '@toolwell/mcp/internal'
import { WORKSPACE_HEADER } from '../bridge/protocol.js'
import { prompts } from '../prompts.js'
import type { HallConfig } from './hall-config.js'
import { openRoom, type Room } from './room.js'

export type CallToolResult = Awaited<ReturnType<Servers['call']>>

export interface Hall {
  readonly config: HallConfig
  readonly catalogue: Toolwell['catalogue']
  readonly servers: Servers
  /** What a profile shows of it; everything without one. Undefined where there is no such profile. */
  room(profile: string | undefined): Room | undefined
  /**
   * Waits while servers of which nothing is cached are listed for the first time, but only so long after the hall was opened:
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
  /** Stops its servers, once no call is under way. Idempotent. */
  close(): Promise<void>
}

export interface HallOptions {
  readonly config: HallConfig
  readonly connect: ConnectOptions
  readonly onServer: (event: ServerEvent) => void
  /** What is in the catalogue may be other than before. */
  readonly onChange: () => void
}

/** Milliseconds that a first listing may hold up the first list of tools. */
const FIRST_LISTING = 5000

export function openHall(options: HallOptions): Hall {
  const { config, connect, onServer, onChange } = options
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
  const servers = connectServers(catalogue, config, { ...connect, onEvent: onServer })
  for (const name of config.homeless)
    catalogue.setSource(name, {
      tools: [],
      state: 'failed',
      advice: prompts.needsWorkspace({ header: WORKSPACE_HEADER }),
    })
  const opened = Date.now()
  const rooms = new Map<string | undefined, Room>()
  let busy = 0
  let closing: Promise<void> | undefined
  let rest = () => {}

  const hall: Hall = {
    config,
    catalogue,
    servers,
    room(profile) {
      const known = rooms.get(profile)
      if (known) return known
      const selected = profile === undefined ? undefined : config.profile(profile)
      if (profile !== undefined && !selected) return undefined
      const made = openRoom(hall, well.face(selected ? { policy: within(selected) } : {}))
      rooms.set(profile, made)
      return made
    },
    async settled() {
      const left = opened + FIRST_LISTING - Date.now()
      if (left > 0) await servers.settled(left)
    },
    async call(source, tool, input, callOptions) {
      busy++
      try {
        return await servers.call(source, tool, input, callOptions)
      } finally {
        busy--
        if (busy === 0) rest()
      }
    },
    get busy() {
      return busy
    },
    close() {
      closing ??= (
        busy === 0
          ? Promise.resolve()
          : new Promise<void>((resolve) => {
              rest = resolve
            })
      ).then(() => servers.close())
      return closing
    },
  }
  return hall
}

/** A profile is a policy: its tools are those that its servers offer in it, and the three that are always there. */
function within({ servers, homeless }: Pick<Config, 'servers'> & { homeless: readonly string[] }): Policy {
  const byName = new Map(servers.map((server) => [server.name, server]))
  return ({ source, name }) => {
    if (source === META || homeless.includes(source)) return true
    const server = byName.get(source)
    // A source of which no tool is known yet is asked about by a star.
    return server !== undefined && (name === '*' || isOffered(name, server))
  }
}

/** The source of Toolwell's own tools. */
const META = 'toolwell'

function inWords(state: string): string {
  return state === 'quarantined' ? prompts.heldBack({ state }) : state
}
