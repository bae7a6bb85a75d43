/** What `status` shows: clients, servers with their processes, memory, and what the lists cost and save. */
import { readFileSync } from 'node:fs'
import { estimate } from '@toolwell/core'
import type { ServerReport } from '@toolwell/mcp'
import { listDispatchTools } from '../answer/list-tools.js'
import type { ServerSetProblem } from '../servers/broken-servers.js'
import type { ServerSets } from '../servers/server-sets.js'
import type { ClientReport } from './clients.js'

export interface ServerStatus
  extends Pick<ServerReport, 'name' | 'state' | 'reason' | 'endpoint' | 'pids' | 'starts'> {
  readonly tools: number
  /** Held back until they are approved, with the reason. */
  readonly quarantined: Readonly<Record<string, string>>
  /** The file that a command about it has to name; undefined where the command reads it by itself. */
  readonly config: string | undefined
}

export interface ServerSetReport {
  /** The folders of its callers. */
  readonly workspaces: readonly string[]
  readonly profiles: readonly string[]
  readonly files: readonly string[]
  /** Config files that would count and are not there. */
  readonly missing: readonly string[]
  /** Folders of callers whose own config is not used, because nobody has trusted it. */
  readonly untrusted: readonly { readonly folder: string; readonly file: string }[]
  /** Why a config that was written meanwhile is not used. */
  readonly problem: string | undefined
  /** What is wrong in the config that is used: the server that it is about cannot be used, or goes on as it was before. */
  readonly problems: readonly ServerSetProblem[]
  readonly servers: readonly ServerStatus[]
  /** Tokens of every definition, of the list that clients get instead, and what that saves in each request; below 0 where it costs more. */
  readonly tokens: { readonly all: number; readonly list: number; readonly saved: number }
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
  /** Tokens of search answers and refusals, which a client with every definition would not have read. */
  readonly answerTokens: number
  /** Bytes in memory: the gateway itself, and its servers where the system says. */
  readonly memory: { readonly gateway: number; readonly servers: number | undefined }
}

export async function createReport(facts: {
  readonly serverSets: ServerSets['all']
  readonly clients: readonly ClientReport[]
  readonly counts: GatewayReport['counts'] & { readonly answerCharacters: number }
  readonly version: string
  readonly instance: string
  readonly startedAt: number
  readonly now: number
}): Promise<GatewayReport> {
  const { clients, version, instance, startedAt, now } = facts
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
    answerTokens: Math.round(answerCharacters / CHARACTERS_PER_TOKEN),
    memory: { gateway: process.memoryUsage.rss(), servers: sumMemory([...pids]) },
  }
}

/** As the estimate of the core has it for English text. */
const CHARACTERS_PER_TOKEN = 4

function reportServerSet({
  serverSet,
  workspaces,
  missing,
  untrusted,
}: ServerSets['all'][number]): ServerSetReport {
  const { config, servers, problem, problems } = serverSet
  const whole = serverSet.view(undefined)
  const all = whole?.direct.tools().reduce((sum, entry) => sum + whole.direct.cost(entry), 0) ?? 0
  const list = whole ? estimate.count(JSON.stringify(listDispatchTools(whole))) : 0
  return {
    workspaces,
    profiles: Object.keys(config.profiles),
    files: config.files,
    missing,
    untrusted,
    problem,
    problems,
    servers: servers.inspect().map(({ name, state, reason, endpoint, pids, starts, tools, quarantined }) => ({
      name,
      state,
      reason,
      endpoint,
      pids,
      starts,
      tools: tools.length,
      quarantined: Object.fromEntries(quarantined),
      config: serverSet.configFile(name),
    })),
    tokens: { all, list, saved: all - list },
  }
}

/** Undefined where the system has no such files. */
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
