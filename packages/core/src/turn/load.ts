/** Loads and unloads tools within the caps and the wire's limit. Returns facts and changes only the batch. */

import { dropUndefined } from '../base/data.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import { isLoaded, isOnSurface, type LedgerState } from '../ledger/fold.js'
import { toolLimit } from '../schema/dialect.js'
import type { Context } from '../surface/context.js'
import { findPlace, isInArray } from '../surface/deliveries.js'
import type { Dropped, LoadSource } from '../tool/notice.js'
import type { Pin } from '../tool/wire-tool.js'

export interface LoadRequest {
  readonly entry: Entry
  readonly source: LoadSource
  readonly asked: string
  readonly alias?: string
  /** True if this answer writes the schema into the history. */
  readonly shown: boolean
}

export interface LoadOutcome {
  readonly facts: LedgerFact[]
  readonly loaded: readonly string[]
  readonly evicted: readonly string[]
  readonly dropped: readonly Dropped[]
}

/** Lists the usable members of a tool's group, or the tool alone. */
export function listGroupMembers(context: Context, entry: Entry): Entry[] {
  const { group } = entry.tool
  if (group === undefined) return [entry]
  const members = context.catalogue
    .members(group, entry.source)
    .filter((member) => context.gate.availability(member, 'load') === 'ready')
  return members.some((member) => member.id === entry.id) ? members : [entry]
}

/** Loads one unit, which is a tool or a group. A group is loaded completely or not at all. */
export function load(
  state: LedgerState,
  context: Context,
  batch: Batch,
  unit: readonly LoadRequest[],
): LoadOutcome {
  const missing = unit.filter(({ entry }) => !isOnSurface(state, entry.id) && !batch.loaded.has(entry.id))
  // A suspended load already counts against the cap, unless it is a late eager tool or this batch unloaded it.
  const hasPlace = (id: string) =>
    !batch.unloaded.has(id) && (state.tools.suspendedLoads.get(id)?.source ?? 'arrival') !== 'arrival'
  const added = missing.map(({ entry }) => entry.id).filter((id) => !hasPlace(id))
  for (const { entry } of unit) batch.inUse.add(entry.id)
  if (missing.length === 0) return { facts: [], loaded: [], evicted: [], dropped: [] }

  if (exceedsWireLimit(state, context, batch, missing))
    return {
      facts: [],
      loaded: [],
      evicted: [],
      dropped: missing.map(({ entry }) => ({ tool: entry.id, reason: 'wire-limit' as const })),
    }

  const facts: LedgerFact[] = []
  const room = { count: added.length, tokens: sumTokens(added, context) }
  const evicted = makeRoom(state, context, batch, room)
  if (!evicted) {
    const reason = missing.length > 1 ? 'group-incomplete' : 'cap'
    return {
      facts,
      loaded: [],
      evicted: [],
      dropped: missing.map(({ entry }) => ({ tool: entry.id, reason })),
    }
  }
  // A search answer lists the tools it unloaded, so they need no announcement.
  const answered = unit.every(({ source }) => source === 'search' || source === 'select')
  facts.push(...unload(state, context, evicted, 'evicted', !answered))
  for (const id of evicted) {
    batch.unloaded.add(id)
    batch.loaded.delete(id)
  }
  for (const { entry, source, asked, alias, shown } of missing) {
    const named = dropUndefined({ alias })
    facts.push({
      kind: 'loaded',
      tool: choosePin(state, context, entry, shown && source !== 'call'),
      source,
      asked,
      ...named,
      shown,
    })
    batch.loaded.add(entry.id)
    batch.unloaded.delete(entry.id)
  }
  return { facts, loaded: missing.map(({ entry }) => entry.id), evicted, dropped: [] }
}

/**
 * Chooses the pin of a loaded tool. A definition that is still declared from an earlier load stays the same until the next
 * freeze. If the tool has changed, the pin keeps the old fingerprint, so that the next request shows the new definition,
 * unless this answer already contains it.
 */
function choosePin(state: LedgerState, context: Context, entry: Entry, isAnswer: boolean): Pin {
  const fresh = context.pin(entry, findPlace(entry.id, state))
  const { pin, live = false, kept = false } = state.tools.loaded.get(entry.id) ?? {}
  const isDeclared = pin?.definition !== undefined && (live || kept || pin.declaredHidden === true)
  if (!isDeclared) return fresh
  const carries = isAnswer && pin.declaredHidden && state.frozen?.changes && !state.frozen.removals
  return carries ? { ...pin, fingerprint: fresh.fingerprint } : pin
}

/** True if the wire does not accept that many tools in one request. Unloaded tools count until the next freeze. */
function exceedsWireLimit(
  state: LedgerState,
  context: Context,
  batch: Batch,
  missing: readonly LoadRequest[],
): boolean {
  const limit = toolLimit(context.wire)
  const { frozen } = state
  if (limit === Number.POSITIVE_INFINITY || !frozen) return false
  const inArray = new Set(
    [...state.tools.loaded.values()].filter(({ pin }) => isInArray(pin)).map(({ pin }) => pin.id),
  )
  const added = (ids: Iterable<string>) =>
    [...ids].filter(
      (id) => !inArray.has(id) && !state.tools.eager.has(id) && findPlace(id, state) === 'array',
    ).length
  const wanted = added(missing.map(({ entry }) => entry.id))
  const declared = state.tools.eager.size + frozen.metaTools.length + inArray.size + (frozen.beside ?? 0)
  return wanted > 0 && declared + added(batch.loaded) + wanted > limit
}

/** The changes of one batch so far, compared with the state at its start. */
export interface Batch {
  readonly loaded: Set<string>
  readonly unloaded: Set<string>
  /** Tools that this batch calls or loads. It never evicts them. */
  readonly inUse: Set<string>
  /** Number of wrong names that got suggestions. It is limited, because each reads the whole catalogue. */
  suggested: number
}

export function createBatch(): Batch {
  return { loaded: new Set(), unloaded: new Set(), inUse: new Set(), suggested: 0 }
}

interface Room {
  readonly count: number
  readonly tokens: number
}

/** Lists the least recently used tools to unload for the wanted room. Undefined if tools in use leave too little. */
function makeRoom(state: LedgerState, context: Context, batch: Batch, wanted: Room): string[] | undefined {
  const { maxLoaded = Number.POSITIVE_INFINITY, maxLoadedTokens = Number.POSITIVE_INFINITY } =
    context.settings
  if (maxLoaded === Number.POSITIVE_INFINITY && maxLoadedTokens === Number.POSITIVE_INFINITY) return []
  const counted = new Set(listCounted(state))
  for (const id of batch.unloaded) counted.delete(id)
  for (const id of batch.loaded) counted.add(id)
  let tokens = sumTokens(counted, context)
  let count = counted.size
  const fits = () => count + wanted.count <= maxLoaded && tokens + wanted.tokens <= maxLoadedTokens
  if (fits()) return []
  const busy = new Set(state.calls.pending.values())
  const evicted = new Set<string>()
  for (const id of state.tools.recency.keys()) {
    if (fits()) break
    // A group is unloaded completely, and not while a member is in use.
    const unit = listLoadedUnit(state, context, id)
    const free = unit.every((each) => !batch.inUse.has(each) && !batch.unloaded.has(each) && !busy.has(each))
    if (!free || unit.some((each) => evicted.has(each))) continue
    for (const each of unit) evicted.add(each)
    count -= unit.length
    tokens -= sumTokens(unit, context)
  }
  return fits() ? [...evicted] : undefined
}

/** Lists the tools that count against a cap. */
export function listCounted(state: LedgerState): string[] {
  return [...state.tools.loaded.keys(), ...state.tools.suspendedLoads.keys()].filter((id) =>
    isCounted(state, id),
  )
}

export function sumTokens(ids: Iterable<string>, context: Context): number {
  let sum = 0
  for (const id of ids) {
    const entry = context.catalogue.get(id)
    if (entry) sum += context.cost(entry)
  }
  return sum
}

/** True for loaded and suspended tools, except late eager ones. */
function isCounted(state: LedgerState, id: string): boolean {
  const each = isLoaded(state, id) ? state.tools.loaded.get(id) : state.tools.suspendedLoads.get(id)
  return (each?.source ?? 'arrival') !== 'arrival'
}

/** Lists the loaded members of a tool's group, or the tool alone. Empty if it cannot be unloaded. */
export function listLoadedUnit(state: LedgerState, context: Context, id: string): string[] {
  const entry = context.catalogue.get(id)
  const { group } = entry?.tool ?? {}
  const members =
    entry && group !== undefined
      ? context.catalogue.members(group, entry.source).map((each) => each.id)
      : [id]
  return members.filter((each) => isCounted(state, each))
}

/** Unloads tools. Their definitions stay in the tools array if removing them would cost more than it saves. */
export function unload(
  state: LedgerState,
  context: Context,
  tools: readonly string[],
  reason: 'model' | 'evicted' | 'operator',
  unannounced: boolean,
): LedgerFact[] {
  // If the array is rewritten, definitions of tools that were unloaded earlier are removed, too.
  const dead = [...state.tools.loaded.values()].filter(({ pin, kept }) => kept && isInArray(pin))
  const stale = dead.map(({ pin }) => pin.id).filter((id) => !tools.includes(id))
  const rewrites = isWorthRewriting(state, context, [...stale, ...tools])
  const gone = tools.map(
    (tool): LedgerFact => ({
      kind: 'unloaded',
      tool,
      reason,
      ...(rewrites ? {} : { kept: true }),
      ...(unannounced ? { unannounced: true } : {}),
    }),
  )
  const purged = stale.map((tool): LedgerFact => ({ kind: 'unloaded', tool, reason: 'evicted' }))
  return rewrites ? [...gone, ...purged] : gone
}

/** Expected number of further requests, each of which a removed definition makes cheaper. */
const EXPECTED_REQUESTS = 10
/** Tokens of messages if the host reported none. */
const DEFAULT_MESSAGE_TOKENS = 20_000

/**
 * True if these definitions cost more in further requests than writing everything after the first of them to the cache
 * again.
 */
function isWorthRewriting(state: LedgerState, context: Context, ids: readonly string[]): boolean {
  const { read, write } = context.prices
  const measured = [...state.requests.byId.values()].findLast((record) => record.messageTokens !== undefined)
  let behind = measured?.messageTokens ?? DEFAULT_MESSAGE_TOKENS
  let freed = 0
  for (const { pin } of state.tools.loaded.values()) {
    if (!pin.definition || !isInArray(pin)) continue
    if (ids.includes(pin.id)) freed += context.tokens(pin.definition)
    else if (freed > 0) behind += context.tokens(pin.definition)
  }
  return freed * read * EXPECTED_REQUESTS > behind * (write - read)
}
