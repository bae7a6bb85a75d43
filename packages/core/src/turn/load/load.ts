/** Loading tools within one batch: groups all or none, within the cap and the wire's limit. Produces facts; changes nothing. */
import { defined } from '../../base/guards.js'
import type { Entry } from '../../catalogue/catalogue.js'
import type { LedgerFact } from '../../ledger/event.js'
import { isOnSurface, type LedgerState } from '../../ledger/fold.js'
import { toolLimit } from '../../schema/dialect.js'
import type { Context } from '../../surface/context.js'
import { isInArray, placeOf } from '../../surface/placement.js'
import type { Dropped, LoadSource } from '../../tool/reasons.js'
import type { Pin } from '../../tool/wire-tool.js'
import type { Batch } from './batch.js'
import { makeRoom, tokensOf } from './room.js'
import { unload } from './unload.js'

export interface LoadRequest {
  readonly entry: Entry
  readonly source: LoadSource
  readonly asked: string
  readonly alias?: string
  /** The schema is being written into the history with this very answer. */
  readonly shown: boolean
}

export interface LoadOutcome {
  readonly facts: LedgerFact[]
  readonly loaded: readonly string[]
  readonly evicted: readonly string[]
  readonly dropped: readonly Dropped[]
}

/** The group of a tool as far as it can be used, or the tool alone. */
export function unitOf(context: Context, entry: Entry): Entry[] {
  const { group } = entry.tool
  if (group === undefined) return [entry]
  const members = context.catalogue
    .members(group, entry.source)
    .filter((member) => context.gate.availability(member, 'load') === 'ready')
  return members.some((member) => member.id === entry.id) ? members : [entry]
}

/** Loads one unit (a tool or a whole group), or none of it. */
export function load(
  state: LedgerState,
  context: Context,
  batch: Batch,
  unit: readonly LoadRequest[],
): LoadOutcome {
  const missing = unit.filter(({ entry }) => !isOnSurface(state, entry.id) && !batch.loaded.has(entry.id))
  // A suspended load has its place under the cap already, unless it came as an eager one or has just made room.
  const placed = (id: string) =>
    !batch.unloaded.has(id) && (state.tools.suspendedLoads.get(id)?.source ?? 'arrival') !== 'arrival'
  const added = missing.map(({ entry }) => entry.id).filter((id) => !placed(id))
  for (const { entry } of unit) batch.inUse.add(entry.id)
  if (missing.length === 0) return { facts: [], loaded: [], evicted: [], dropped: [] }

  if (overflows(state, context, batch, missing))
    return {
      facts: [],
      loaded: [],
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
      loaded: [],
      evicted: [],
      dropped: missing.map(({ entry }) => ({ tool: entry.id, reason })),
    }
  }
  // A search says in its own answer what it unloaded.
  const answered = unit.every(({ source }) => source === 'search' || source === 'select')
  facts.push(...unload(state, context, evicted, 'evicted', !answered))
  for (const id of evicted) {
    batch.unloaded.add(id)
    batch.loaded.delete(id)
  }
  for (const { entry, source, asked, alias, shown } of missing) {
    const named = defined({ alias })
    facts.push({
      kind: 'loaded',
      tool: declaredPin(state, context, entry, shown && source !== 'call'),
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
 * What is still declared from an earlier load stays as it is until the next latch. If it has changed since, the pin keeps the
 * old fingerprint, so that the next request shows the new definition, unless this answer itself carries it.
 */
function declaredPin(state: LedgerState, context: Context, entry: Entry, isAnswer: boolean): Pin {
  const fresh = context.pin(entry, placeOf(entry.id, state))
  const { pin, live = false, kept = false } = state.tools.loaded.get(entry.id) ?? {}
  const isDeclared = pin?.definition !== undefined && (live || kept || pin.declaredHidden === true)
  if (!isDeclared) return fresh
  const carries = isAnswer && pin.declaredHidden && state.latch?.changes && !state.latch.removals
  return carries ? { ...pin, fingerprint: fresh.fingerprint } : pin
}

/** Whether the array would hold more tools than a request on this wire takes. What was unloaded keeps its place until a latch. */
function overflows(
  state: LedgerState,
  context: Context,
  batch: Batch,
  missing: readonly LoadRequest[],
): boolean {
  const limit = toolLimit(context.wire)
  const { latch } = state
  if (limit === Number.POSITIVE_INFINITY || !latch) return false
  const inArray = new Set(
    [...state.tools.loaded.values()].filter(({ pin }) => isInArray(pin)).map(({ pin }) => pin.id),
  )
  const added = (ids: Iterable<string>) =>
    [...ids].filter((id) => !inArray.has(id) && !state.tools.eager.has(id) && placeOf(id, state) === 'array')
      .length
  const wanted = added(missing.map(({ entry }) => entry.id))
  const declared = state.tools.eager.size + latch.metaTools.length + inArray.size
  return wanted > 0 && declared + added(batch.loaded) + wanted > limit
}
