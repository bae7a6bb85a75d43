/** Raising tools within one batch: groups all or none, the cap, eviction by use. Produces facts; changes nothing. */
import type { Entry } from './catalogue.js'
import type { Context } from './context.js'
import { toolLimit } from './dialect.js'
import { isActive, isLoaded, type LedgerState } from './ledger.js'
import type { ActivationSource, Dropped, LedgerFact } from './ledger-event.js'
import { isInArray, placeOf } from './placement.js'

/** What this batch has done so far, on top of the state at its start. */
export interface Batch {
  readonly raised: Set<string>
  readonly lowered: Set<string>
  /** Tools that this batch calls or raises: never evicted by it. */
  readonly inUse: Set<string>
  /** How many wrong names of this batch have been given suggestions: looking for them walks the catalogue. */
  suggested: number
}

export function createBatch(): Batch {
  return { raised: new Set(), lowered: new Set(), inUse: new Set(), suggested: 0 }
}

export interface Raise {
  readonly entry: Entry
  readonly source: ActivationSource
  readonly asked: string
  readonly alias?: string
  /** The schema is being written into the history with this very answer. */
  readonly shown: boolean
}

export interface Raised {
  readonly facts: LedgerFact[]
  readonly activated: readonly string[]
  readonly evicted: readonly string[]
  readonly dropped: readonly Dropped[]
}

/** The group of a tool as far as it can be used, or the tool alone. */
export function unitOf(context: Context, entry: Entry): Entry[] {
  const { group } = entry.tool
  if (group === undefined) return [entry]
  const members = context.catalogue
    .members(group, entry.source)
    .filter((member) => context.gate.standing(member, 'activate') === 'ready')
  return members.some((member) => member.id === entry.id) ? members : [entry]
}

/** Raises one unit (a tool or a whole group), or none of it. */
export function raise(state: LedgerState, context: Context, batch: Batch, unit: readonly Raise[]): Raised {
  const missing = unit.filter(({ entry }) => !isLoaded(state, entry.id) && !batch.raised.has(entry.id))
  // A parked tool has its place under the cap already, unless it came as an eager one.
  const placed = (id: string) => (state.parked.get(id)?.source ?? 'arrival') !== 'arrival'
  const added = missing.map(({ entry }) => entry.id).filter((id) => !placed(id))
  for (const { entry } of unit) batch.inUse.add(entry.id)
  if (missing.length === 0) return { facts: [], activated: [], evicted: [], dropped: [] }

  if (overflows(state, context, batch, missing))
    return {
      facts: [],
      activated: [],
      evicted: [],
      dropped: missing.map(({ entry }) => ({ tool: entry.id, reason: 'wire-limit' as const })),
    }

  const facts: LedgerFact[] = []
  const room = { count: added.length, tokens: tokensOf(added, context) }
  const evicted = makeRoom(state, context, batch, room)
  if (!evicted) {
    const reason = missing.length > 1 ? 'group-incomplete' : 'cap'
    return {
      facts,
      activated: [],
      evicted: [],
      dropped: missing.map(({ entry }) => ({ tool: entry.id, reason })),
    }
  }
  // A search says in its own answer what it unloaded.
  const answered = unit.every(({ source }) => source === 'search' || source === 'select')
  facts.push(...lower(state, context, evicted, 'evicted', !answered))
  for (const id of evicted) {
    batch.lowered.add(id)
    batch.raised.delete(id)
  }
  for (const { entry, source, asked, alias, shown } of missing) {
    const named = alias === undefined ? {} : { alias }
    facts.push({
      kind: 'activated',
      tool: context.pin(entry, placeOf(entry.id, state)),
      source,
      asked,
      ...named,
      shown,
    })
    batch.raised.add(entry.id)
    batch.lowered.delete(entry.id)
  }
  return { facts, activated: missing.map(({ entry }) => entry.id), evicted, dropped: [] }
}

/** Whether the array would hold more tools than a request on this wire takes. What was unloaded keeps its place until a latch. */
function overflows(state: LedgerState, context: Context, batch: Batch, missing: readonly Raise[]): boolean {
  const limit = toolLimit(context.wire)
  const { latch } = state
  if (limit === Number.POSITIVE_INFINITY || !latch) return false
  const held = new Set([...state.tail.values()].filter(({ pin }) => isInArray(pin)).map(({ pin }) => pin.id))
  const added = (ids: Iterable<string>) =>
    [...ids].filter((id) => !held.has(id) && !state.eager.has(id) && placeOf(id, state) === 'array').length
  const wanted = added(missing.map(({ entry }) => entry.id))
  const declared = state.eager.size + latch.metaTools.length + (latch.stubs?.length ?? 0) + held.size
  return wanted > 0 && declared + added(batch.raised) + wanted > limit
}

/** Unloads tools. Their bytes stay in the array where taking them out would cost more than it saves. */
export function lower(
  state: LedgerState,
  context: Context,
  tools: readonly string[],
  reason: 'unloaded' | 'evicted' | 'operator',
  untold: boolean,
): LedgerFact[] {
  // What was left in the array before goes with it when the array is written anew.
  const dead = [...state.tail.values()].filter(({ pin, kept }) => kept && isInArray(pin))
  const stale = dead.map(({ pin }) => pin.id).filter((id) => !tools.includes(id))
  const rewrites = isWorthRewriting(state, context, [...stale, ...tools])
  const gone = tools.map(
    (tool): LedgerFact => ({
      kind: 'deactivated',
      tool,
      reason,
      ...(rewrites ? {} : { kept: true }),
      ...(untold ? { untold: true } : {}),
    }),
  )
  const purged = stale.map((tool): LedgerFact => ({ kind: 'deactivated', tool, reason: 'evicted' }))
  return rewrites ? [...gone, ...purged] : gone
}

/** Requests that a freed place in the array is expected to be saved on. */
const EXPECTED_REQUESTS = 10
/** Tokens of messages where the host has not told. */
const USUAL_MESSAGES = 20_000

/** Whether these definitions cost more, on the requests to come, than reading everything behind the first of them again. */
function isWorthRewriting(state: LedgerState, context: Context, ids: readonly string[]): boolean {
  const { read, write } = context.prices
  const measured = [...state.requests.values()].findLast((record) => record.messageTokens !== undefined)
  let behind = measured?.messageTokens ?? USUAL_MESSAGES
  let freed = 0
  for (const { pin } of state.tail.values()) {
    if (!pin.definition || !isInArray(pin)) continue
    if (ids.includes(pin.id)) freed += context.tokens(pin.definition)
    else if (freed > 0) behind += context.tokens(pin.definition)
  }
  return freed * read * EXPECTED_REQUESTS > behind * (write - read)
}

interface Room {
  readonly count: number
  readonly tokens: number
}

/** The least recently used tools to unload so that this much fits; undefined where tools in use leave no room. */
function makeRoom(state: LedgerState, context: Context, batch: Batch, wanted: Room): string[] | undefined {
  const { maxActive = Number.POSITIVE_INFINITY, maxActiveTokens = Number.POSITIVE_INFINITY } =
    context.settings
  if (maxActive === Number.POSITIVE_INFINITY && maxActiveTokens === Number.POSITIVE_INFINITY) return []
  const active = new Set(countedIds(state))
  for (const id of batch.lowered) active.delete(id)
  for (const id of batch.raised) active.add(id)
  let tokens = tokensOf(active, context)
  let count = active.size
  const fits = () => count + wanted.count <= maxActive && tokens + wanted.tokens <= maxActiveTokens
  if (fits()) return []
  const busy = new Set(state.pending.values())
  const evicted = new Set<string>()
  for (const id of state.recency.keys()) {
    if (fits()) break
    // A group goes as it came: as a whole, and not while one of it is in use.
    const unit = raisedUnit(state, context, id)
    const free = unit.every((each) => !batch.inUse.has(each) && !batch.lowered.has(each) && !busy.has(each))
    if (!free || unit.some((each) => evicted.has(each))) continue
    for (const each of unit) evicted.add(each)
    count -= unit.length
    tokens -= tokensOf(unit, context)
  }
  return fits() ? [...evicted] : undefined
}

/** Raised tools that count against a cap. */
export function countedIds(state: LedgerState): string[] {
  return [...state.tail.keys(), ...state.parked.keys()].filter((id) => counts(state, id))
}

export function tokensOf(ids: Iterable<string>, context: Context): number {
  let sum = 0
  for (const id of ids) {
    const entry = context.catalogue.get(id)
    if (entry) sum += context.cost(entry)
  }
  return sum
}

/** Has a place under the cap: raised or parked, and not as a late eager tool. */
function counts(state: LedgerState, id: string): boolean {
  const held = isActive(state, id) ? state.tail.get(id) : state.parked.get(id)
  return (held?.source ?? 'arrival') !== 'arrival'
}

/** The raised members of a tool's group, or the tool alone; nothing where it cannot be put back. */
export function raisedUnit(state: LedgerState, context: Context, id: string): string[] {
  const entry = context.catalogue.get(id)
  const { group } = entry?.tool ?? {}
  const members =
    entry && group !== undefined
      ? context.catalogue.members(group, entry.source).map((each) => each.id)
      : [id]
  return members.filter((each) => counts(state, each))
}
