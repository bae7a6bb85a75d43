/** The cap: which loaded tools count against it, and which are unloaded to make room. */
import { isLoaded, type LedgerState } from '../../ledger/fold.js'
import type { Context } from '../../surface/context.js'
import type { Batch } from './batch.js'

interface Room {
  readonly count: number
  readonly tokens: number
}

/** The least recently used tools to unload so that this much fits; undefined where tools in use leave no room. */
export function makeRoom(
  state: LedgerState,
  context: Context,
  batch: Batch,
  wanted: Room,
): string[] | undefined {
  const { maxLoaded = Number.POSITIVE_INFINITY, maxLoadedTokens = Number.POSITIVE_INFINITY } =
    context.settings
  if (maxLoaded === Number.POSITIVE_INFINITY && maxLoadedTokens === Number.POSITIVE_INFINITY) return []
  const counted = new Set(countedIds(state))
  for (const id of batch.unloaded) counted.delete(id)
  for (const id of batch.loaded) counted.add(id)
  let tokens = tokensOf(counted, context)
  let count = counted.size
  const fits = () => count + wanted.count <= maxLoaded && tokens + wanted.tokens <= maxLoadedTokens
  if (fits()) return []
  const busy = new Set(state.calls.pending.values())
  const evicted = new Set<string>()
  for (const id of state.tools.recency.keys()) {
    if (fits()) break
    // A group goes as it came: as a whole, and not while one of it is in use.
    const unit = loadedUnit(state, context, id)
    const free = unit.every((each) => !batch.inUse.has(each) && !batch.unloaded.has(each) && !busy.has(each))
    if (!free || unit.some((each) => evicted.has(each))) continue
    for (const each of unit) evicted.add(each)
    count -= unit.length
    tokens -= tokensOf(unit, context)
  }
  return fits() ? [...evicted] : undefined
}

/** Loaded tools that count against a cap. */
export function countedIds(state: LedgerState): string[] {
  return [...state.tools.loaded.keys(), ...state.tools.suspendedLoads.keys()].filter((id) =>
    counts(state, id),
  )
}

export function tokensOf(ids: Iterable<string>, context: Context): number {
  let sum = 0
  for (const id of ids) {
    const entry = context.catalogue.get(id)
    if (entry) sum += context.cost(entry)
  }
  return sum
}

/** Has a place under the cap: loaded or suspended, and not as a late eager tool. */
function counts(state: LedgerState, id: string): boolean {
  const each = isLoaded(state, id) ? state.tools.loaded.get(id) : state.tools.suspendedLoads.get(id)
  return (each?.source ?? 'arrival') !== 'arrival'
}

/** The loaded members of a tool's group, or the tool alone; nothing where it cannot be unloaded. */
export function loadedUnit(state: LedgerState, context: Context, id: string): string[] {
  const entry = context.catalogue.get(id)
  const { group } = entry?.tool ?? {}
  const members =
    entry && group !== undefined
      ? context.catalogue.members(group, entry.source).map((each) => each.id)
      : [id]
  return members.filter((each) => counts(state, each))
}
