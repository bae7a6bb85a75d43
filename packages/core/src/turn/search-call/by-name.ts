/** `select:` and `unload:`: what a query asks for by exact name. */
import { nearest } from '../../base/nearest.js'
import { quote } from '../../base/text.js'
import type { Entry, LeftOut } from '../../catalogue/catalogue.js'
import type { LedgerFact } from '../../ledger/event.js'
import { isLoaded, type LedgerState } from '../../ledger/fold.js'
import type { Context } from '../../surface/context.js'
import type { Batch } from '../load/batch.js'
import { loadedUnit } from '../load/room.js'
import { unload } from '../load/unload.js'
import type { Candidate } from './candidate.js'
import { awayState } from './late-sources.js'
import { suggest } from './suggest.js'

/** Names that did not lead to a tool, and why. */
export interface Misses {
  readonly notFound: { name: string; nearest: string[] }[]
  readonly ambiguous: { name: string; candidates: string[] }[]
  readonly unavailable: { name: string; state: string }[]
  readonly leftOut: { name: string; problem: string }[]
}

export function selectNamed(
  names: readonly string[],
  context: Context,
  batch: Batch,
  misses: Misses,
): Candidate[] {
  const { catalogue, gate } = context
  return names.flatMap((name): Candidate[] => {
    const resolution = catalogue.resolve(name, (entry) => gate.availability(entry, 'see') !== 'denied')
    if (resolution.kind === 'ambiguous') {
      misses.ambiguous.push({ name, candidates: resolution.entries.map((entry) => entry.wireName) })
      return []
    }
    const entries =
      resolution.kind === 'found' ? [resolution.entry] : resolution.kind === 'group' ? resolution.entries : []
    const usable = entries.filter((entry) => gate.availability(entry, 'load') === 'ready')
    const [blocked] = entries
    if (usable.length === 0) {
      const availability = blocked ? gate.availability(blocked, 'load') : 'denied'
      const leftOut = blocked ? undefined : catalogue.leftOut(name)
      if (leftOut && gate.visible(leftOut.entry)) misses.leftOut.push(toLeftOut(leftOut))
      else if (!blocked || availability === 'denied')
        misses.notFound.push({ name, nearest: suggest(name, context, batch) })
      else
        misses.unavailable.push({ name: blocked.wireName, state: awayState(blocked, availability, context) })
      return []
    }
    const { alias, deprecated = false } = resolution.kind === 'found' ? resolution : {}
    return usable.map((entry) => ({
      entry,
      asked: name,
      alias,
      deprecated,
      explicit: true,
      clear: true,
      named: true,
      sure: true,
      score: Number.POSITIVE_INFINITY,
    }))
  })
}

/** As an answer names it. */
export function toLeftOut({ entry, problem }: LeftOut): { name: string; problem: string } {
  return { name: entry.wireName, problem: quote(problem, 200) }
}

export function unloadNamed(
  names: readonly string[],
  state: LedgerState,
  context: Context,
  batch: Batch,
  misses: Misses,
): { readonly ids: readonly string[]; readonly facts: readonly LedgerFact[] } {
  const unloaded: string[] = []
  const facts: LedgerFact[] = []
  for (const name of names) {
    const resolution = context.catalogue.resolve(
      name,
      (entry) => isLoaded(state, entry.id) && !batch.unloaded.has(entry.id),
    )
    // A group goes as it came: as a whole, and not while one of it is in use.
    const unit =
      resolution.kind === 'found'
        ? [resolution.entry.id, ...loadedUnit(state, context, resolution.entry.id)]
        : resolution.kind === 'group'
          ? resolution.entries.map(({ id }) => id)
          : []
    const ids = unit.some((id) => batch.inUse.has(id)) ? [] : [...new Set(unit)]
    if (resolution.kind === 'ambiguous')
      misses.ambiguous.push({ name, candidates: usableNames(resolution.entries, context) })
    else if (ids.length === 0)
      misses.notFound.push({ name, nearest: nearest(name, loadedNames(state, context)) })
    facts.push(...unload(state, context, ids, 'model', false))
    for (const id of ids) batch.unloaded.add(id)
    unloaded.push(...ids)
  }
  return { ids: unloaded, facts }
}

/** The loaded tools that may be named, as they are called. */
export function loadedNames(state: LedgerState, context: Context): string[] {
  return [...state.tools.loaded]
    .filter(([id, each]) => each.live && isUsable(id, context))
    .map(([, each]) => each.pin.wireName)
}

function isUsable(id: string, { gate, catalogue }: Context): boolean {
  const entry = catalogue.get(id)
  return entry ? gate.visible(entry) : gate.away(id)
}

function usableNames(entries: readonly Entry[], context: Context): string[] {
  return entries.filter(({ id }) => isUsable(id, context)).map((entry) => entry.wireName)
}
