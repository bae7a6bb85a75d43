/** Server sets as the dashboard names them, and rows of their servers and tools. */
import { readFileSync } from 'node:fs'
import { dropUndefined, firstLine, isRecord, shortHash } from '@toolwell/core/internal'
import type { McpTool, ServerConfig, ServerReport } from '@toolwell/mcp'
import type { ReadOnlyStore } from '@toolwell/mcp/internal'
import { readStartTime } from '../../bridge/processes.js'
import type { ServerSet } from '../../servers/server-set.js'
import type { ServerSets } from '../../servers/server-sets.js'
import { createReadOnlyCheck, type View } from '../../servers/view.js'
import { type CallStats, estimateQuantile } from '../../storage/call-stats.js'
import type { Recorder } from '../recorder.js'
import { countDefinitions } from '../recorder.js'
import { describeSharing } from '../report.js'
import { ApiError } from './access.js'
import type { Risk, ServerRow, SetSummary, ToolRow, ToolState } from './api-types.js'

type OpenSet = ServerSets['all'][number]

export interface NamedSet extends OpenSet {
  readonly id: string
}

/** Names sets by their files. The set without a project is the first. */
export class Sets {
  readonly #serverSets: ServerSets
  readonly #ids = new WeakMap<ServerSet, string>()

  constructor(serverSets: ServerSets) {
    this.#serverSets = serverSets
  }

  get all(): NamedSet[] {
    const own = this.#serverSets.find(undefined).serverSet
    const sets = this.#serverSets.all.map((set) => ({ ...set, id: this.idOf(set.serverSet) }))
    return sets.sort((a, b) => Number(b.serverSet === own) - Number(a.serverSet === own))
  }

  idOf(serverSet: ServerSet): string {
    const id = this.#ids.get(serverSet) ?? shortHash(JSON.stringify(serverSet.config.files))
    this.#ids.set(serverSet, id)
    return id
  }

  /** Undefined: the first set. */
  find(id: string | undefined): NamedSet {
    const found = id === undefined || id === '' ? this.all[0] : this.all.find((set) => set.id === id)
    if (found) return found
    throw new ApiError(404, 'unknown-set', 'This set of servers is no longer open. Load the page again.')
  }

  /** `*`: every set. */
  select(id: string | undefined): NamedSet[] {
    return id === '*' ? this.all : [this.find(id)]
  }

  findServer(
    id: string | undefined,
    name: string,
  ): { readonly set: NamedSet; readonly server: ServerConfig } {
    const set = this.find(id)
    const server = set.serverSet.known.get(name)
    if (server) return { set, server }
    throw new ApiError(404, 'unknown-server', `The config has no server ${JSON.stringify(name)}.`)
  }
}

export function summarise({ id, serverSet, workspaces, missing }: NamedSet): SetSummary {
  const view = wholeView(serverSet)
  const { all, list } = countDefinitions(view)
  const { config, known } = serverSet
  const tools = view.direct.tools().length
  return { id, files: config.files, missing, workspaces, servers: known.size, tools, tokens: { all, list } }
}

/** The view without a profile always exists. */
export function wholeView(serverSet: ServerSet): View {
  const view = serverSet.view(undefined)
  if (!view) throw new Error('the view of everything is missing')
  return view
}

/** What to do about a server, for people. */
export function adviseServer({ name, state, reason, isWaiting, quarantined }: ServerReport): string {
  if (isWaiting) return `Review the commands of ${name} and approve them.`
  if (state === 'needs-login') return `Sign in to ${name}.`
  if (state === 'quarantined' || quarantined.size > 0)
    return 'Review the changed definitions and approve or reject them.'
  if (state !== 'failed') return ''
  if (/ENOENT|not found|does not exist/.test(reason))
    return 'Check "command" and "args" of its entry: the program or a file that it needs is missing.'
  return 'Fix its entry in the config, then restart it.'
}

export function serverRow(set: NamedSet, report: ServerReport): ServerRow {
  const { name, state, reason, movedTo, endpoint, description, info, tools, quarantined, starts, running } =
    report
  const server = set.serverSet.known.get(name)
  return {
    set: set.id,
    name,
    state,
    reason: movedTo === undefined ? reason : `${reason}. New address: ${movedTo}`,
    fix: adviseServer(report),
    description,
    endpoint,
    ...dropUndefined({ info, config: server?.file, listedAt: report.listedAt }),
    tools: tools.length,
    quarantined: quarantined.size,
    starts,
    sharedBy: describeSharing(server),
    processes: running.map(({ pid, owner, workspace, busy }) => ({
      ...(pid === null ? {} : dropUndefined({ pid, ...readProcess(pid) })),
      ...dropUndefined({ client: owner.client || undefined }),
      project: workspace,
      busy,
    })),
    trusted: report.trusted,
    canLogIn: server !== undefined && server.endpoint.type !== 'stdio',
  }
}

let bootedAt: number | undefined

/** Nothing on systems without `/proc`. */
function readProcess(pid: number): { readonly startedAt?: number; readonly memory?: number } {
  if (process.platform !== 'linux') return {}
  try {
    const [, kilobytes = '0'] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    bootedAt ??= Number(/^btime (\d+)/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]) * 1000
    // In hundredths of a second since the system was started.
    const startedAt = bootedAt + Number(readStartTime(pid).split('-').at(-1)) * 10
    return { memory: Number(kilobytes) * 1024, ...(Number.isFinite(startedAt) ? { startedAt } : {}) }
  } catch {
    return {}
  }
}

export function readRisk(isApproved: boolean, annotations: unknown): Risk {
  if (isApproved) return 'read-only'
  const { readOnlyHint, destructiveHint } = isRecord(annotations) ? annotations : {}
  if (destructiveHint === true) return 'destructive'
  if (readOnlyHint === true) return 'claims-read-only'
  return readOnlyHint === false ? 'changes' : 'unknown'
}

export interface RowFacts {
  readonly stats: CallStats
  readonly recorder: Recorder
  /** Tools that the user approved as read-only. */
  readonly readOnly: ReadOnlyStore
}

/** Every tool of a set or of one server, including those that are denied or quarantined. */
export function listToolRows(
  set: NamedSet,
  { stats, recorder, readOnly }: RowFacts,
  only?: string,
): ToolRow[] {
  const { serverSet } = set
  const view = wholeView(serverSet)
  const eager = new Set(view.direct.digest().eager.map(({ id }) => id))
  const known = new Map(stats.tools().map((each) => [`${each.server}/${each.tool}`, each]))
  const entries = new Map(view.direct.tools().map((entry) => [`${entry.source}/${entry.tool.name}`, entry]))
  const isReadOnly = createReadOnlyCheck(checkOnce(readOnly))
  return serverSet.servers.inspect().flatMap((report): ToolRow[] => {
    if (only !== undefined && only !== report.name) return []
    const server = serverSet.known.get(report.name)
    const definition = serverSet.servers.definition(report.name)
    if (!server || !definition) return []
    const denied = new Set(report.denied)
    const beyond = new Set(report.beyondSurface)
    return definition.tools.map((tool): ToolRow => {
      const key = `${report.name}/${tool.name}`
      const entry = entries.get(key)
      const own = known.get(key)
      const { state, why } = describeState(tool, {
        server,
        denial: denied.has(tool.name),
        quarantine: report.state === 'quarantined' ? report.reason : report.quarantined.get(tool.name),
        isEager: entry !== undefined && eager.has(entry.id),
        isBeyond: beyond.has(tool.name),
      })
      return {
        set: set.id,
        server: report.name,
        tool: tool.name,
        risk: readRisk(isReadOnly(server, tool.name, tool), tool.annotations),
        state,
        why,
        description: firstLine(String(tool.description ?? ''), 200),
        calls: own?.calls ?? 0,
        errors: own?.errors ?? 0,
        refused: own?.refused ?? 0,
        searched: recorder.searched.get(key) ?? 0,
        ...dropUndefined({ lastUsed: own?.lastUsed }),
        definitionTokens: entry ? view.direct.cost(entry) : 0,
        responseTokens: own?.tokensOut ?? 0,
        largestResponse: own?.largest ?? 0,
        ...dropUndefined({ p50: own && estimateQuantile(own, 0.5), p95: own && estimateQuantile(own, 0.95) }),
      }
    })
  })
}

/** Looks at the file of each server once, not for every tool. */
function checkOnce(store: ReadOnlyStore): ReadOnlyStore {
  const stamps = new Map<ServerConfig, string>()
  return {
    read: (server) => store.read(server),
    write: (server, tools) => store.write(server, tools),
    stamp(server) {
      const stamp = stamps.get(server) ?? store.stamp(server)
      stamps.set(server, stamp)
      return stamp
    },
  }
}

function describeState(
  { name, _meta: meta }: McpTool,
  facts: {
    readonly server: ServerConfig
    readonly denial: boolean
    readonly quarantine: string | undefined
    readonly isEager: boolean
    readonly isBeyond: boolean
  },
): { readonly state: ToolState; readonly why: string } {
  const { server, denial, quarantine, isEager, isBeyond } = facts
  if (denial)
    return server.deny.length > 0
      ? { state: 'denied', why: 'The config denies it.' }
      : { state: 'denied', why: 'The config allows only other tools.' }
  if (quarantine !== undefined) return { state: 'quarantined', why: quarantine }
  if (isEager && server.alwaysLoad.length > 0) return { state: 'pinned', why: 'alwaysLoad names it.' }
  if (isEager)
    return {
      state: 'eager',
      why: server.lazy ? 'Its server marks it as always loaded.' : 'Its server has "lazy": false.',
    }
  if (isBeyond)
    return {
      state: 'deferred',
      why: `It is pinned, but the pinned tools of ${server.name} exceed ${server.surfaceTokens} tokens (surfaceTokens).`,
    }
  const isMarked = meta?.['anthropic/alwaysLoad'] === true && !server.marks
  return {
    state: 'deferred',
    why: isMarked
      ? `A search finds ${name}. Its server marks it as always loaded, and the config does not use marks.`
      : 'A search finds it.',
  }
}
