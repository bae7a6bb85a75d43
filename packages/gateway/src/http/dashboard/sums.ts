/** Work and savings from the sums that are kept on every write. */
import type { CallStats, SlotStats } from '../../storage/call-stats.js'
import { countDefinitions } from '../recorder.js'
import { ApiError } from './access.js'
import type { SavingsAnswer, SavingsRow, WorkAnswer, WorkSlot } from './api-types.js'
import { type NamedSet, wholeView } from './sets.js'

const DAY = 24 * 3_600_000
const MOST_LISTED = 50

type Query = Readonly<Record<string, string | undefined>>

/** Hours are known for two days, days for ninety. */
export function showWork(
  stats: CallStats,
  servers: readonly string[],
  { unit = 'hour', from = '0', client, project }: Query,
): WorkAnswer {
  if (unit !== 'hour' && unit !== 'day') throw new ApiError(400, 'unknown-unit', 'unit must be hour or day.')
  const slots = stats.slots()
  const found = new Map<string, WorkSlot>()
  for (const slot of slots) {
    if (unit === 'hour' && slot.unit === 'day') continue
    const start = unit === 'day' ? slot.start - (slot.start % DAY) : slot.start
    const isMeant =
      start >= readTime(from) &&
      (client === undefined || client === slot.client) &&
      (project === undefined || project === slot.project)
    // Sessions without calls are noise.
    if (!isMeant || slot.calls + slot.refused + slot.searches === 0) continue
    const key = JSON.stringify([start, slot.client, slot.project])
    const { calls, errors, refused, searches, tokensOut } = slot
    const known = found.get(key)
    found.set(key, {
      start,
      client: slot.client,
      project: slot.project,
      calls: calls + (known?.calls ?? 0),
      errors: errors + (known?.errors ?? 0),
      refused: refused + (known?.refused ?? 0),
      searches: searches + (known?.searches ?? 0),
      tokensOut: tokensOut + (known?.tokensOut ?? 0),
    })
  }
  const distinct = (read: (slot: SlotStats) => string) => [...new Set(slots.map(read))].sort()
  return {
    unit,
    slots: [...found.values()].sort((a, b) => a.start - b.start),
    clients: distinct((slot) => slot.client),
    projects: distinct((slot) => slot.project),
    servers,
  }
}

function readTime(text: string): number {
  const time = Number(text)
  if (Number.isFinite(time)) return time
  throw new ApiError(400, 'not-a-time', 'from must be milliseconds since the epoch.')
}

/** Tokens saved since midnight UTC 29 days ago, which the page of savings shows as 30 days. Undefined if no client listed tools. */
export function sumSaved(stats: CallStats, set: NamedSet, now: number): number | undefined {
  const { list } = countDefinitions(wholeView(set.serverSet))
  const days = listSavings(stats, list, now - (now % DAY) - 29 * DAY)
  return days.some(({ lists }) => lists > 0) ? days.reduce((sum, { saved }) => sum + saved, 0) : undefined
}

/** By day and client. `list`: tokens of the list that a client gets now. */
function listSavings(stats: CallStats, list: number, from: number): SavingsRow[] {
  const rows = new Map<string, SlotStats[]>()
  for (const slot of stats.slots()) {
    const start = slot.start - (slot.start % DAY)
    if (start < from || slot.lists + slot.searches + slot.calls + slot.refused === 0) continue
    const key = JSON.stringify([start, slot.client])
    rows.set(key, [...(rows.get(key) ?? []), slot])
  }
  return [...rows.entries()].map(([key, slots]): SavingsRow => {
    const [start, client] = JSON.parse(key) as [number, string]
    const sum = (read: (slot: SlotStats) => number) => slots.reduce((total, slot) => total + read(slot), 0)
    const lists = sum((slot) => slot.lists)
    const listTokens = sum((slot) => slot.listTokens)
    const everything = sum((slot) => slot.allTokens)
    const answerTokens = sum((slot) => slot.answerTokens)
    const searches = sum((slot) => slot.searches)
    // A client that listed its tools on an earlier day still sends them.
    const roundTokens = Math.round(searches * (lists > 0 ? listTokens / lists : list))
    const saved = everything - listTokens - answerTokens - roundTokens
    return { start, client, lists, everything, listTokens, searches, answerTokens, roundTokens, saved }
  })
}

export function showSavings(stats: CallStats, set: NamedSet, { from = '0' }: Query): SavingsAnswer {
  const view = wholeView(set.serverSet)
  const { all, list } = countDefinitions(view)
  const days = listSavings(stats, list, readTime(from))
  const total = (read: (row: SavingsRow) => number) => days.reduce((sum, row) => sum + read(row), 0)
  const costs = view.direct.tools().map((entry) => ({
    server: entry.source,
    tool: entry.tool.name,
    tokens: view.direct.cost(entry),
  }))
  return {
    now: { all, list },
    days: days.sort((a, b) => a.start - b.start || (a.client < b.client ? -1 : 1)),
    total: {
      lists: total((row) => row.lists),
      everything: total((row) => row.everything),
      listTokens: total((row) => row.listTokens),
      searches: total((row) => row.searches),
      answerTokens: total((row) => row.answerTokens),
      roundTokens: total((row) => row.roundTokens),
      saved: total((row) => row.saved),
    },
    definitions: costs.sort((a, b) => b.tokens - a.tokens).slice(0, MOST_LISTED),
    responses: stats
      .tools()
      .filter(({ tokensOut }) => tokensOut > 0)
      .sort((a, b) => b.tokensOut - a.tokensOut)
      .slice(0, MOST_LISTED)
      .map(({ server, tool, calls, tokensOut, largest }) => ({
        server,
        tool,
        calls,
        tokens: tokensOut,
        largest,
      })),
  }
}
