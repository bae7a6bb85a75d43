/** Calls, clients, and what needs the user. */
import { dropUndefined, shortHash } from '@toolwell/core/internal'
import type { ServerConfig } from '@toolwell/mcp'
import { createRedactor, isSecretName } from '@toolwell/mcp/internal'
import { LONGEST_SHOWN } from '../../answer/measure-call.js'
import { shellWord } from '../../bridge/commands.js'
import { shorten } from '../../storage/call-stats.js'
import type { Clients } from '../clients.js'
import type { RecentCall, RecentSearch, Recorder } from '../recorder.js'
import type { GatewayReport } from '../report.js'
import { ApiError } from './access.js'
import type {
  Attention,
  CallDetail,
  CallRow,
  CallsAnswer,
  ClientRow,
  CutText,
  SearchRow,
} from './api-types.js'
import type { Approvals } from './approvals.js'
import { adviseServer, type NamedSet } from './sets.js'

export function toCallRow({ folder, arguments: _, ...call }: RecentCall): CallRow {
  return { ...call, project: folder }
}

type CallQuery = Readonly<Record<string, string | undefined>>

const MOST_LISTED = 500

/** Newest first. */
export function listCalls(
  calls: readonly RecentCall[],
  { before, limit, client, project, server, tool, outcome }: CallQuery,
  isSeen: (call: RecentCall) => boolean = () => true,
): CallsAnswer {
  const most = Math.min(MOST_LISTED, readCount(limit, 100))
  const until = before === undefined ? Number.POSITIVE_INFINITY : readCount(before, 0)
  const fits = (value: string, wanted: string | undefined) => wanted === undefined || wanted === value
  const found: CallRow[] = []
  for (let at = calls.length - 1; at >= 0; at--) {
    const call = calls[at]
    if (!call || call.id >= until) continue
    const isMeant =
      // The sums, and so the filters, name clients without their versions.
      (fits(call.client, client) || fits(shorten(call.client), client)) &&
      fits(call.folder, project) &&
      fits(call.server, server) &&
      fits(call.tool, tool) &&
      fits(call.outcome, outcome) &&
      isSeen(call)
    if (!isMeant) continue
    if (found.length === most) return { calls: found, before: found.at(-1)?.id ?? 0 }
    found.push(toCallRow(call))
  }
  return { calls: found }
}

function readCount(text: string | undefined, fallback: number): number {
  if (text === undefined || text === '') return fallback
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 0) return value
  throw new ApiError(400, 'not-a-number', `${JSON.stringify(text)} is not a whole number.`)
}

export function showCall(recorder: Recorder, id: number, servers: Iterable<ServerConfig>): CallDetail {
  const call = recorder.calls.find((each) => each.id === id)
  if (!call)
    throw new ApiError(404, 'unknown-call', 'This call is no longer kept. Only the latest calls are.')
  const detail = recorder.detail(id)
  if (!detail) return toCallRow(call)
  const hide = createHider(servers)
  const show = ({ text, characters }: CutText): CutText => ({
    text: hide(text).slice(0, LONGEST_SHOWN),
    characters,
  })
  return {
    ...toCallRow(call),
    content: { arguments: show(detail.arguments), result: show(detail.result) },
    ...(detail.handle === undefined ? {} : { kept: { handle: detail.handle } }),
  }
}

const HIDDEN = '[hidden]'
/** A quote behind a backslash begins no key: looking from each of them would take long. */
const FIELD = /(?<!\\)"((?:[^"\\]|\\.)*)"(\s*:\s*)"((?:[^"\\]|\\.)+)("|$)/g

/** Hides the secrets of every config, and text in JSON whose key names a secret. */
function createHider(servers: Iterable<ServerConfig>): (text: string) => string {
  const redactors = [...servers].map(redactorOf)
  return (text) =>
    redactors
      .reduce((shown, redact) => redact(shown), text)
      .replace(FIELD, (whole, key: string, colon: string) =>
        isSecretName(key) ? `"${key}"${colon}"${HIDDEN}"` : whole,
      )
}

const redactors = new WeakMap<ServerConfig, (text: string) => string>()

function redactorOf(server: ServerConfig): (text: string) => string {
  const made = redactors.get(server) ?? createRedactor(server)
  redactors.set(server, made)
  return made
}

export function toSearchRow({ folder, ...search }: RecentSearch): SearchRow {
  return { ...search, project: folder }
}

export function listClients(clients: Clients): ClientRow[] {
  return clients
    .reports()
    .map(({ name, kind, endpoint, workspace = '', calls, searches, refused, since, lastUsed }) => ({
      name,
      kind,
      endpoint,
      project: workspace,
      calls,
      searches,
      refused,
      joinedAt: since,
      lastSeen: lastUsed,
    }))
    .sort((a, b) => b.lastSeen - a.lastSeen)
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** Everything that needs the user, most urgent first. */
export function listAttention(
  sets: readonly NamedSet[],
  {
    approvals,
    lost,
    command,
  }: { readonly approvals: Approvals; readonly lost: GatewayReport['lost']; readonly command: string },
): Attention[] {
  const found: WithoutId<Attention>[] = []
  for (const named of sets) {
    const { id: set, serverSet, untrusted } = named
    if (serverSet.problem !== undefined) found.push({ kind: 'config', set, problem: serverSet.problem })
    for (const { server, problem } of serverSet.problems)
      found.push({ kind: 'config', set, problem, ...dropUndefined({ server }) })
    for (const { folder, file } of untrusted)
      found.push({
        kind: 'untrusted',
        set,
        folder,
        file,
        command: `${command} serve --trust ${shellWord(folder)}`,
      })
    for (const report of serverSet.servers.inspect()) {
      const { name: server, state, reason } = report
      if (report.isWaiting) {
        const commands = approvals.commands(named, server)
        found.push({ kind: 'commands', set, server, commands })
      } else if (state === 'needs-login') found.push({ kind: 'login', set, server, reason })
      else if (state === 'failed')
        found.push({ kind: 'failed', set, server, reason, fix: adviseServer(report) })
      if (state === 'quarantined' || report.quarantined.size > 0)
        for (const { kind: change, tool, reason: why, isPoisoned } of approvals.find(named, server))
          found.push({
            kind: 'definition',
            set,
            server,
            ...dropUndefined({ tool }),
            change,
            reason: why,
            isPoisoned,
          })
    }
  }
  for (const what of ['calls', 'results'] as const)
    if (lost[what].count > 0) found.push({ kind: 'lost', what, ...lost[what] })
  const order: readonly Attention['kind'][] = [
    'definition',
    'commands',
    'failed',
    'login',
    'config',
    'untrusted',
    'lost',
  ]
  return found
    .sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind))
    .map(
      (each): Attention =>
        ({ ...each, id: shortHash(JSON.stringify({ ...each, reason: '', count: 0 })) }) as Attention,
    )
}
