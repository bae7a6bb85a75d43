/** Report of one server for `inspect()`. */

import { showEndpoint } from '../config/redact.js'
import type { ServerConfig } from '../config/server-config.js'
import { isOffered } from '../config/server-config.js'
import type { ServerDefinition, UnusableEntry } from '../definition/server-definition.js'
import type { ServerWarning } from '../definition/warning.js'
import type { Guard } from '../trust/guard.js'
import type { ReviewFinding } from '../trust/review.js'
import type { ServerState } from '../upstream/server-state.js'
import type { Upstream } from '../upstream/upstream.js'
import { chooseAlwaysLoaded, describeServer } from './source-tools.js'

export interface ServerReport {
  readonly name: string
  readonly state: ServerState
  /** For people: it may contain a command that approves, which a model must not read. */
  readonly reason: string
  /** Address to which the server redirects, if that is why it failed. Not for models: the server chose it. */
  readonly movedTo?: string | undefined
  /** Its entry runs commands that the user has not approved. */
  readonly isWaiting: boolean
  /** Command or address, without secrets. */
  readonly endpoint: string
  readonly description: string
  readonly era: 'modern' | 'legacy' | undefined
  readonly info: { readonly name: string; readonly version: string } | undefined
  readonly tools: readonly string[]
  /** Names of tools that the config excludes. */
  readonly denied: readonly string[]
  /** Entries that cannot be used as tools, with the reason. */
  readonly unusable: readonly UnusableEntry[]
  /** Always-loaded tools that are deferred, because they exceed the token limit of the server. */
  readonly beyondSurface: readonly string[]
  readonly quarantined: ReadonlyMap<string, string>
  readonly findings: readonly ReviewFinding[]
  /** Warnings about its definition, such as changes. */
  readonly warnings: readonly ServerWarning[]
  /** Why its tools are trusted: the lock, first use, `trust: "full"` in the config, or not at all. */
  readonly trusted: 'lock' | 'first-use' | 'config' | 'nothing'
  readonly starts: number
  readonly pids: readonly number[]
  /** `each`: one server per project folder; `none`: one server for all. */
  readonly workspace: 'each' | 'none'
  /** Running servers. */
  readonly running: readonly RunningServer[]
  /** When the list was last read from the server, in milliseconds since the epoch. */
  readonly listedAt: number | undefined
}

export interface RunningServer {
  readonly pid: number | null
  readonly era: 'modern' | 'legacy'
  /** The project folder; empty if the server is the same for all. */
  readonly workspace: string
  /** The only client or conversation that uses it, by `share`. */
  readonly owner: { readonly client?: string; readonly conversation?: string }
  /** Number of current calls. */
  readonly busy: number
}

export function createReport(
  upstream: Upstream,
  { trustedBy, reasonForUser }: Pick<Guard, 'trustedBy' | 'reasonForUser'>,
): ServerReport {
  const { server, definition, review } = upstream
  const reason = reasonForUser(server, upstream.reason)
  const denied = deniedIn(server, definition)
  const tools = new Set(definition?.tools.map(({ name }) => name).filter((name) => !denied.has(name)))
  const { info } = definition ?? {}
  return {
    name: server.name,
    state: upstream.state,
    reason,
    isWaiting: reason !== upstream.reason,
    movedTo: upstream.movedTo,
    endpoint: showEndpoint(server.endpoint, server.secrets),
    description: definition ? describeServer(server, definition) : server.description,
    era: definition?.era,
    info: info && { name: info.name, version: info.version },
    tools: [...tools].sort(),
    denied: [...denied].sort(),
    unusable: listUnusable(server, definition),
    beyondSurface: definition ? chooseAlwaysLoaded(server, definition).beyond : [],
    quarantined: review.quarantined,
    findings: review.findings,
    warnings: review.warnings ?? [],
    trusted: trustedBy(server.name),
    starts: upstream.starts,
    pids: upstream.running.flatMap(({ connection }) => connection.pid ?? []),
    workspace: server.workspace.need,
    running: upstream.running.map(({ place: { folder, owner }, connection: { pid, era, busy } }) => ({
      pid,
      era,
      workspace: folder,
      owner,
      busy,
    })),
    listedAt: upstream.known.listedAt,
  }
}

/** Unusable entries, without those that the config excludes. */
export function listUnusable(
  server: ServerConfig,
  definition: ServerDefinition | undefined,
): UnusableEntry[] {
  return (definition?.unusable ?? []).filter(({ name }) => name === undefined || isOffered(name, server))
}

function deniedIn(server: ServerConfig, definition: ServerDefinition | undefined): Set<string> {
  const named = [...(definition?.tools ?? []), ...(definition?.unusable ?? [])]
  return new Set(named.flatMap(({ name }) => (name === undefined || isOffered(name, server) ? [] : [name])))
}
