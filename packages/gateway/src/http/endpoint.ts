/** One endpoint: a room in one mode, for both eras. Clients that stay are known here, and told when the list has changed. */
import { createHash } from 'node:crypto'
import { homedir } from 'node:os'
import {
  createMcpHandler,
  InMemoryServerEventBus,
  type McpHttpHandler,
  type Server,
} from '@modelcontextprotocol/server'
import type { Caller } from '@toolwell/mcp'
import type { Called } from '../answer/call-tool.js'
import { headerChecked } from '../answer/header-check.js'
import { dispatchTools, everyTool } from '../answer/list-tools.js'
import { createMcpServer, type Mode, SINGLE_REQUESTS } from '../answer/mcp-server.js'
import type { Place } from '../room/halls.js'
import type { Room } from '../room/room.js'
import type { McpPath } from './path.js'

/** No config has the profile that was asked for, or none has it any more. */
export class UnknownProfile extends Error {
  constructor(profile: string, known: readonly string[]) {
    super(`There is no profile ${JSON.stringify(profile)}. Known profiles: ${known.join(', ') || 'none'}.`)
  }
}

export interface EndpointOptions {
  readonly place: Place
  readonly path: McpPath
  readonly version: string
  readonly maxRequestBodySize: number
  readonly onCalled: (called: Called, server: Server, client: string) => void
  readonly onListed: (server: Server, client: string) => void
}

export interface Endpoint {
  readonly place: Place
  readonly path: McpPath
  /** Requests of the newer protocol: each stands for itself. */
  readonly modern: McpHttpHandler
  /** A server for one client that stays. */
  serverFor(caller: Caller): Server
  /** Throws `UnknownProfile` where the config has its profile no more. */
  check(): void
  /** Somebody is there, until the function is called that it gives. */
  hold(): () => void
  /** Somebody stays, or listens. */
  readonly isInUse: boolean
  close(): Promise<void>
}

export function createEndpoint(options: EndpointOptions): Endpoint {
  const { place, path, version, onCalled, onListed } = options
  const { mode, profile } = path
  const room = (): Room => {
    const found = place.hall.room(profile)
    if (found) return found
    throw new UnknownProfile(profile ?? '', Object.keys(place.hall.config.profiles))
  }
  room()
  const staying = new Set<Server>()
  let held = 0
  const bus = new InMemoryServerEventBus()
  const made = (caller: Caller) =>
    createMcpServer({
      room,
      mode,
      workspace: place.workspace,
      // A server that works in a folder gets one that belongs to nobody, where the caller has named none.
      caller: { ...caller, workspace: place.workspace ?? homedir() },
      version,
      onCalled,
      onListed: listed,
    })
  /** What was listed last, where somebody wants to know of changes. */
  let last: string | undefined
  const listed = (server: Server, client: string) => {
    onListed(server, client)
    last ??= hashOf(room(), mode)
  }
  let isDue = false
  const unwatch = place.watch(() => {
    if (isDue) return
    isDue = true
    // A server that joins changes the catalogue several times at once.
    setImmediate(() => {
      isDue = false
      if (staying.size === 0 && bus.listenerCount === 0) {
        last = undefined
        return
      }
      const open = place.hall.room(profile)
      // Where the profile is gone, so are its tools.
      const now = open ? hashOf(open, mode) : ''
      if (now === last) return
      last = now
      modern.notify.toolsChanged()
      for (const server of staying) void server.sendToolListChanged().catch(() => undefined)
    })
  })
  const modern = createMcpHandler(
    ({ requestInfo }) =>
      headerChecked(made({ client: SINGLE_REQUESTS, era: 'modern' }), room(), mode, requestInfo?.headers),
    { legacy: 'reject', bus, maxRequestBodySize: options.maxRequestBodySize },
  )
  return {
    place,
    path,
    modern,
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
    check: () => void room(),
    hold() {
      held++
      return () => {
        held--
      }
    },
    get isInUse() {
      return held > 0 || staying.size > 0 || bus.listenerCount > 0
    },
    async close() {
      unwatch()
      await modern.close()
      await Promise.all([...staying].map((server) => server.close().catch(() => undefined)))
    },
  }
}

function hashOf(room: Room, mode: Mode): string {
  const hash = createHash('sha256')
  if (mode === 'dispatch') return hash.update(JSON.stringify(dispatchTools(room))).digest('hex')
  let cursor: string | undefined
  do {
    const page = everyTool(room, cursor)
    hash.update(JSON.stringify(page?.tools ?? []))
    cursor = page?.nextCursor
  } while (cursor !== undefined)
  return hash.digest('hex')
}
