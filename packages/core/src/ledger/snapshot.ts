/**
 * What the first events of a ledger add up to, as text: derived data beside the log, so that a long conversation opens without reading all
 * of it. Whatever is not as expected in one is no snapshot: then the log is read.
 */

import { isRecord } from '../base/data.js'
import { canonicalJson, shortHash } from '../base/hash.js'
import type { Pin } from '../tool/wire-tool.js'
import type { LedgerEvent, SurfaceTokens } from './event.js'
import { createStartedCalls, type StartedCalls, type WrittenCalls } from './started-calls.js'
import {
  createState,
  type FrozenPrefix,
  type Insert,
  type LedgerState,
  type LeftPrefix,
  type LoadedTool,
  type RequestRecord,
} from './state.js'

/** Increase it whenever the same events add up to another state, or the state is written in another way. */
export const FOLD_VERSION = 3

/** Everything that is known of a ledger without its events. */
export interface Sum {
  readonly state: LedgerState
  readonly started: StartedCalls
  /** Where a step of the host's own belongs. */
  readonly lastAnchor: string
  /** Whose child it is, if it is one. */
  readonly parent: string | undefined
  /** What it was forked from. Its own events follow the first so many of that one. */
  readonly origin: Origin | undefined
}

export interface Origin {
  readonly ledger: string
  readonly events: number
}

/** `last`: the last of the events, as it is stored. A ledger that has another one there is another ledger. */
export function writeSnapshot(sum: Sum, last: LedgerEvent): string {
  const { state, started, lastAnchor, parent, origin } = sum
  const lists = createLists()
  const written = {
    fold: FOLD_VERSION,
    last: nameOf(last),
    lastAnchor,
    parent,
    origin,
    started: started.written(),
    ...stateToJson(state, lists),
  }
  return JSON.stringify({ ...written, lists: lists.all })
}

/** Undefined where the text is no snapshot of this version, or not of a ledger with this event at that place. */
export function readSnapshot(text: string, last: LedgerEvent | undefined): Sum | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value) || value.fold !== FOLD_VERSION || !last || value.last !== nameOf(last))
      return undefined
    const { lastAnchor, parent, origin, started } = value as unknown as Written
    return {
      state: stateFromJson(value as unknown as Written),
      started: createStartedCalls(started),
      lastAnchor,
      parent,
      origin,
    }
  } catch {
    return undefined
  }
}

function nameOf(event: LedgerEvent): string {
  return shortHash(canonicalJson(event))
}

type Written = ReturnType<typeof stateToJson> &
  Pick<Sum, 'lastAnchor' | 'parent' | 'origin'> & {
    readonly started: WrittenCalls
    readonly lists: readonly (readonly string[])[]
  }

/** Keys and values in turn: much faster to read than pairs. */
type Flat<Value> = readonly (string | Value)[]

function flat<Value>(map: ReadonlyMap<string, Value>): Flat<Value> {
  const list: (string | Value)[] = []
  for (const [key, value] of map) list.push(key, value)
  return list
}

function toMap<Value, Key extends string = string>(list: Flat<Value>): Map<Key, Value> {
  const map = new Map<Key, Value>()
  for (let index = 0; index < list.length; index += 2) map.set(list[index] as Key, list[index + 1] as Value)
  return map
}

function stateToJson(state: LedgerState, lists: Lists) {
  const { freezing, tools, array, history, calls, native, requests } = state
  return {
    length: state.length,
    epoch: state.epoch,
    frozen: state.frozen,
    freezing: {
      ...freezing,
      left: flat(new Map([...freezing.left].map(([wire, left]) => [wire, leftToJson(left)]))),
      withheld: flat(freezing.withheld),
    },
    tools: {
      eager: flat(tools.eager),
      loaded: flat(tools.loaded),
      recency: [...tools.recency.keys()],
      suspended: flat(tools.suspended),
      suspendedLoads: flat(tools.suspendedLoads),
    },
    array: { version: array.version, rewritten: [...array.rewritten] },
    history: {
      sources: flat(history.sources),
      told: [...history.told],
      inserts: history.inserts,
      carried: [...history.carried],
      pendingReminders: [...history.pendingReminders],
      reminded: flat(history.reminded),
      pendingNotices: [...history.pendingNotices],
      stripped: [...history.thinking.stripped],
      behind: flat(history.thinking.behind),
    },
    calls: {
      pending: flat(calls.pending),
      succeeded: calls.succeeded,
      failures: flat(calls.failures),
      unavailable: [...calls.unavailable],
      aliasUses: flat(calls.aliasUses),
      resolvedCalls: flat(calls.resolvedCalls),
      searchHistory: searchesToJson(calls.searchHistory, lists),
      hiddenCalls: calls.hiddenCalls,
    },
    native: {
      revealed: [...native.revealed],
      toRemove: flat(native.toRemove),
      referredIn: flat(native.referredIn),
      reserveCalled: native.reserveCalled,
    },
    requests: {
      records: recordsToJson(requests.byId.values()),
      last: requests.last?.requestId,
      searchTokens: flat(requests.searchTokens),
      revealedTokens: flat(requests.revealedTokens),
      mediaTokens: flat(requests.mediaTokens),
    },
    results: flat(state.results),
  }
}

function stateFromJson(written: Written): LedgerState {
  const { freezing, tools, array, history, calls, native, requests, lists } = written
  const byId = recordsFromJson(requests.records)
  return {
    ...createState(),
    length: written.length,
    epoch: written.epoch,
    frozen: written.frozen,
    freezing: {
      due: freezing.due,
      count: freezing.count,
      made: freezing.made,
      left: new Map(
        [...toMap(freezing.left as Flat<WrittenLeft>)].map(([wire, left]) => [wire, leftFromJson(left)]),
      ),
      withheld: toMap(freezing.withheld),
    },
    tools: {
      eager: toMap(tools.eager),
      loaded: toMap(tools.loaded),
      recency: new Map(tools.recency.map((id) => [id, true])),
      suspended: toMap(tools.suspended),
      suspendedLoads: toMap(tools.suspendedLoads),
    },
    array: { version: array.version, rewritten: new Set(array.rewritten) },
    history: {
      sources: toMap(history.sources),
      told: new Set(history.told),
      inserts: history.inserts,
      carried: new Set(history.carried),
      pendingReminders: new Set(history.pendingReminders),
      reminded: toMap(history.reminded),
      pendingNotices: new Set(history.pendingNotices),
      thinking: { stripped: new Set(history.stripped), behind: toMap(history.behind) },
    },
    calls: {
      pending: toMap(calls.pending),
      succeeded: calls.succeeded,
      failures: toMap(calls.failures),
      unavailable: new Set(calls.unavailable),
      aliasUses: toMap(calls.aliasUses),
      resolvedCalls: toMap(calls.resolvedCalls),
      searchHistory: searchesFromJson(calls.searchHistory, lists),
      hiddenCalls: calls.hiddenCalls,
    },
    native: {
      revealed: new Set(native.revealed),
      toRemove: toMap(native.toRemove),
      referredIn: toMap(native.referredIn),
      reserveCalled: native.reserveCalled,
    },
    requests: {
      byId,
      last: requests.last === undefined ? undefined : byId.get(requests.last),
      searchTokens: toMap(requests.searchTokens),
      revealedTokens: toMap(requests.revealedTokens),
      mediaTokens: toMap(requests.mediaTokens),
    },
    results: toMap(written.results),
  }
}

function leftToJson({
  frozen,
  count,
  prefix,
  eager,
  loaded,
  revealed,
  inserts,
  carried,
  told,
  sources,
}: LeftPrefix) {
  return {
    frozen,
    count,
    prefix,
    eager: flat(eager),
    loaded: flat(loaded),
    revealed: [...revealed],
    inserts,
    carried: [...carried],
    told: [...told],
    sources: flat(sources),
  }
}

interface WrittenLeft {
  readonly frozen: FrozenPrefix
  readonly count: number
  readonly prefix: string
  readonly eager: Flat<Pin>
  readonly loaded: Flat<LoadedTool>
  readonly revealed: readonly string[]
  readonly inserts: readonly Insert[]
  readonly carried: readonly string[]
  readonly told: readonly string[]
  readonly sources: Flat<string>
}

function leftFromJson(left: WrittenLeft): LeftPrefix {
  return {
    ...left,
    eager: toMap(left.eager),
    loaded: toMap(left.loaded),
    revealed: new Set(left.revealed),
    carried: new Set(left.carried),
    told: new Set(left.told),
    sources: toMap(left.sources),
  }
}

/** Lists that come again and again, each written once. */
interface Lists {
  readonly all: readonly (readonly string[])[]
  add(list: readonly string[]): number
}

function createLists(): Lists {
  const all: (readonly string[])[] = []
  const places = new Map<string, number>()
  return {
    all,
    add(list) {
      const name = JSON.stringify(list)
      const known = places.get(name)
      if (known !== undefined) return known
      places.set(name, all.length)
      return all.push(list) - 1
    },
  }
}

type Search = LedgerState['calls']['searchHistory'][number]

function searchesToJson(searches: readonly Search[], lists: Lists): (string | number)[] {
  const written: (string | number)[] = []
  for (const { turn, query, loaded } of searches) written.push(turn, query, lists.add(loaded))
  return written
}

function searchesFromJson(
  written: readonly (string | number)[],
  lists: readonly (readonly string[])[],
): Search[] {
  const searches: Search[] = []
  for (let index = 0; index < written.length; index += 3)
    searches.push({
      turn: written[index] as number,
      query: written[index + 1] as string,
      loaded: lists[written[index + 2] as number] ?? [],
    })
  return searches
}

type Cell = string | number | null | undefined

/** There may be many thousands: each is so many values in a row, written out because that is what opening a long ledger costs. */
const WIDTH = 23

function recordsToJson(records: Iterable<RequestRecord>): Cell[] {
  const cells: Cell[] = []
  for (const each of records) {
    const { tokens } = each
    cells.push(each.requestId, each.anchor, each.wire, each.length, each.toolsVersion, each.frozen)
    cells.push(each.metaCalls, each.realCalls)
    cells.push(each.messageTokens, each.inputTokens, each.cachedTokens, each.outputTokens)
    cells.push(tokens.eager, tokens.loaded, tokens.cards, tokens.metaTools, tokens.section)
    cells.push(tokens.searchResults, tokens.inserts, tokens.rewritten, tokens.everythingEager)
    cells.push(tokens.revealed, tokens.media)
  }
  return cells
}

function recordsFromJson(cells: readonly Cell[]): Map<string, RequestRecord> {
  const records = new Map<string, RequestRecord>()
  for (let at = 0; at < cells.length; at += WIDTH) {
    const record = {
      requestId: cells[at] as string,
      anchor: cells[at + 1] as string,
      wire: (cells[at + 2] ?? undefined) as string | undefined,
      length: cells[at + 3] as number,
      toolsVersion: cells[at + 4] as number,
      frozen: cells[at + 5] as number,
      metaCalls: cells[at + 6] as number,
      realCalls: cells[at + 7] as number,
      tokens: tokensFromJson(cells, at + 12),
    } as RequestRecord
    const [message, input, cached, output] = [cells[at + 8], cells[at + 9], cells[at + 10], cells[at + 11]]
    if (typeof message === 'number') record.messageTokens = message
    if (typeof input === 'number') record.inputTokens = input
    if (typeof cached === 'number') record.cachedTokens = cached
    if (typeof output === 'number') record.outputTokens = output
    records.set(record.requestId, record)
  }
  return records
}

function tokensFromJson(cells: readonly Cell[], at: number): SurfaceTokens {
  const tokens: { -readonly [Kind in keyof SurfaceTokens]: SurfaceTokens[Kind] } = {
    eager: cells[at] as number,
    loaded: cells[at + 1] as number,
    cards: cells[at + 2] as number,
    metaTools: cells[at + 3] as number,
    section: cells[at + 4] as number,
    searchResults: cells[at + 5] as number,
    inserts: cells[at + 6] as number,
    rewritten: cells[at + 7] as number,
    everythingEager: cells[at + 8] as number,
  }
  const revealed = cells[at + 9]
  const media = cells[at + 10]
  if (typeof revealed === 'number') tokens.revealed = revealed
  if (typeof media === 'number') tokens.media = media
  return tokens
}
