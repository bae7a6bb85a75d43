/** Builds the report that `status` shows: clients, servers and their processes, memory, token costs. */
import { readFileSync } from 'node:fs'
import type { ResultStore } from '@toolwell/core/result'
import type { ServerConfig, ServerReport } from '@toolwell/mcp'
import type { ServerSetProblem } from '../servers/broken-servers.js'
import type { ServerSets } from '../servers/server-sets.js'
import type { ClientReport } from './clients.js'
import { countDefinitions } from './recorder.js'

export interface ServerStatus
  extends Pick<ServerReport, 'name' | 'state' | 'reason' | 'endpoint' | 'pids' | 'starts'> {
  readonly tools: number
  /** It runs as a process on this machine. */
  readonly isLocal: boolean
  /** The callers that share one process. */
  readonly sharedBy: 'everyone' | 'folder' | 'client' | 'conversation'
  readonly processes: readonly {
    readonly pid: number
    /** The id of the only client that uses it. */
    readonly client: string | undefined
  }[]
  /** Tools that wait for approval, with the reason. */
  readonly quarantined: Readonly<Record<string, string>>
  /** The file that a command about the server needs as `--config`. Undefined if the command reads it by default. */
  readonly config: string | undefined
}

export interface ServerSetReport {
  /** Workspaces that use this server set. */
  readonly workspaces: readonly string[]
  readonly profiles: readonly string[]
  readonly files: readonly string[]
  /** Config files that do not exist. */
  readonly missing: readonly string[]
  /** Workspaces whose config is skipped because nobody has trusted it. */
  readonly untrusted: readonly { readonly folder: string; readonly file: string }[]
  /** Why the latest config was refused. */
  readonly problem: string | undefined
  /** Problems in the config in use. */
  readonly problems: readonly ServerSetProblem[]
  readonly servers: readonly ServerStatus[]
  /** Tokens of all definitions, of the list that clients get instead, and the difference. Negative if the list costs more. */
  readonly tokens: { readonly all: number; readonly list: number; readonly saved: number }
}

export interface Lost {
  readonly count: number
  readonly reason: string
}

export interface GatewayReport {
  readonly version: string
  readonly instance: string
  readonly pid: number
  readonly startedAt: number
  readonly uptime: number
  readonly clients: readonly ClientReport[]
  readonly serverSets: readonly ServerSetReport[]
  readonly counts: {
    readonly calls: number
    readonly searches: number
    readonly refused: number
    readonly failed: number
    readonly lists: number
  }
  /** Replicas share their storage, and why it cannot be used. */
  readonly database: { readonly problem: string | undefined } | undefined
  /** Audit records and long results that could not be written since the start, and the last reason. */
  readonly lost: { readonly calls: Lost; readonly results: Lost }
  /** Tokens of search answers and refusals, which a client with all definitions would not read. */
  readonly answerTokens: number
  /** Memory in bytes: the gateway, and its servers if the system reports it. */
  readonly memory: { readonly gateway: number; readonly servers: number | undefined }
}

export async function createReport(facts: {
  readonly serverSets: ServerSets['all']
  readonly clients: readonly ClientReport[]
  readonly counts: GatewayReport['counts'] & { readonly answerCharacters: number }
  readonly database: GatewayReport['database']
  readonly lost: GatewayReport['lost']
  readonly version: string
  readonly instance: string
  readonly startedAt: number
  readonly now: number
}): Promise<GatewayReport> {
  const { clients, database, lost, version, instance, startedAt, now } = facts
  const { answerCharacters, ...counts } = facts.counts
  const serverSets = facts.serverSets.map(reportServerSet)
  const pids = new Set(serverSets.flatMap(({ servers }) => servers.flatMap((server) => server.pids)))
  return {
    version,
    instance,
    pid: process.pid,
    startedAt,
    uptime: now - startedAt,
    clients,
    serverSets,
    counts,
    database,
    lost,
    answerTokens: Math.round(answerCharacters / CHARACTERS_PER_TOKEN),
    memory: { gateway: process.memoryUsage.rss(), servers: sumMemory([...pids]) },
  }
}

/** Counts the results that a store could not keep. Their callers get the head alone. */
export function countLostResults(store: ResultStore): { readonly store: ResultStore; readonly lost: Lost } {
  const lost = { count: 0, reason: '' }
  const lose = (reason: string) => {
    lost.count++
    lost.reason = reason
    return false
  }
  return {
    lost,
    store: {
      read: (principal, handle) => store.read(principal, handle),
      write: async (principal, handle, content) => {
        try {
          return (await store.write(principal, handle, content)) || lose('too large')
        } catch (error) {
          return lose((error as NodeJS.ErrnoException).code ?? String(error))
        }
      },
    },
  }
}

/** Same as core's estimate for English text. */
const CHARACTERS_PER_TOKEN = 4

function reportServerSet({
  serverSet,
  workspaces,
  missing,
  untrusted,
}: ServerSets['all'][number]): ServerSetReport {
  const { config, servers, problem, problems } = serverSet
  const whole = serverSet.view(undefined)
  const { all, list } = whole ? countDefinitions(whole) : { all: 0, list: 0 }
  return {
    workspaces,
    profiles: Object.keys(config.profiles),
    files: config.files,
    missing,
    untrusted,
    problem,
    problems,
    servers: servers
      .inspect()
      .map(({ name, state, reason, movedTo, endpoint, pids, running, starts, tools, quarantined }) => ({
        name,
        state,
        reason: movedTo === undefined ? reason : `${reason}. New address: ${movedTo}`,
        endpoint,
        pids,
        starts,
        tools: tools.length,
        isLocal: serverSet.known.get(name)?.endpoint.type === 'stdio',
        sharedBy: describeSharing(serverSet.known.get(name)),
        processes: running.flatMap(({ pid, owner }) =>
          pid === null ? [] : [{ pid, client: owner.client || undefined }],
        ),
        quarantined: Object.fromEntries(quarantined),
        config: serverSet.configFile(name),
      })),
    tokens: { all, list, saved: all - list },
  }
}

export function describeSharing(server: ServerConfig | undefined): ServerStatus['sharedBy'] {
  const { share = 'all', workspace } = server ?? {}
  if (share === 'client' || share === 'conversation') return share
  return share === 'workspace' || workspace?.need === 'each' ? 'folder' : 'everyone'
}

/** Undefined on systems without `/proc`. */
function sumMemory(pids: readonly number[]): number | undefined {
  if (process.platform !== 'linux') return undefined
  return pids.reduce((sum, pid) => {
    try {
      const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      return sum + Number(kilobytes) * 1024
    } catch {
      return sum
    }
  }, 0)
}
