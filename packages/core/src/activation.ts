/** Raising tools within one batch: groups all or none, the cap, eviction by use. Produces facts; changes nothing. */
import type { Entry } from './catalogue.js'
import type { Context } from './context.js'
import { deliveries } from './delivery/index.js'
import { isActive, isLoaded, type LedgerState } from './ledger.js'
import type { ActivationSource, Dropped, LedgerFact } from './ledger-event.js'

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
  const added = missing.filter(({ entry }) => !placed(entry.id)).length
  for (const { entry } of unit) batch.inUse.add(entry.id)
  if (missing.length === 0) return { facts: [], activated: [], evicted: [], dropped: [] }

  const facts: LedgerFact[] = []
  const evicted = makeRoom(state, context, batch, added)
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
  for (const id of evicted) {
    facts.push({ kind: 'deactivated', tool: id, reason: 'evicted', ...(answered ? {} : { untold: true }) })
    batch.lowered.add(id)
    batch.raised.delete(id)
  }
  const declared = deliveries[state.latch?.delivery ?? 'append'].declares
  for (const { entry, source, asked, alias, shown } of missing) {
    const named = alias === undefined ? {} : { alias }
    facts.push({ kind: 'activated', tool: context.pin(entry, declared), source, asked, ...named, shown })
    batch.raised.add(entry.id)
    batch.lowered.delete(entry.id)
  }
  return { facts, activated: missing.map(({ entry }) => entry.id), evicted, dropped: [] }
}

/** The least recently used tools to unload so that `wanted` more fit; undefined where tools in use leave no room. */
function makeRoom(state: LedgerState, context: Context, batch: Batch, wanted: number): string[] | undefined {
  const cap = context.settings.maxActive
  if (cap === undefined) return []
  let active = state.activeCount
  for (const id of batch.raised) if (!counts(state, id)) active++
  for (const id of batch.lowered) if (counts(state, id)) active--
  const surplus = active + wanted - cap
  if (surplus <= 0) return []
  const busy = new Set(state.pending.values())
  const evicted = new Set<string>()
  for (const id of state.recency.keys()) {
    if (evicted.size >= surplus) break
    // A group goes as it came: as a whole, and not while one of it is in use.
    const unit = raisedUnit(state, context, id)
    const free = unit.every((each) => !batch.inUse.has(each) && !batch.lowered.has(each) && !busy.has(each))
    if (free) for (const each of unit) evicted.add(each)
  }
  return evicted.size >= surplus ? [...evicted] : undefined
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
