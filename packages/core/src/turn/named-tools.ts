/** Tools that a query names: `select:`, `unload:`, exact names among the words, and suggestions for wrong names. */

import { type FoldedNames, findNearest, foldNames, nearest } from '../base/nearest.js'
import { quote } from '../base/text.js'
import type { Catalogue, Entry, Skipped } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import { isLoaded, type LedgerState } from '../ledger/fold.js'
import type { Context } from '../surface/context.js'
import { type Batch, listLoadedUnit, unload } from './load.js'
import type { Candidate } from './load-found-tools.js'
import { describeAwayTool } from './sources.js'

/** Names that did not lead to a tool, and why. */
export interface Misses {
  readonly notFound: { name: string; nearest: string[] }[]
  readonly ambiguous: { name: string; candidates: string[] }[]
  readonly unavailable: { name: string; state: string }[]
  readonly skipped: { name: string; problem: string }[]
}

/** Finds the tools of `select:`. Names without a usable tool are added to `misses`. */
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
      const skipped = blocked ? undefined : catalogue.skipped(name)
      if (skipped && gate.visible(skipped.entry)) misses.skipped.push(describeSkipped(skipped))
      else if (!blocked || availability === 'denied')
        misses.notFound.push({ name, nearest: suggestNames(name, context, batch) })
      else
        misses.unavailable.push({
          name: blocked.wireName,
          state: describeAwayTool(blocked, availability, context),
        })
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

/** Describes a skipped tool as a search answer names it. */
export function describeSkipped({ entry, problem }: Skipped): { name: string; problem: string } {
  return { name: entry.wireName, problem: quote(problem, 200) }
}

/** Unloads the tools of `unload:`. Names without a loaded tool are added to `misses`. */
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
    // A group is unloaded completely, and not while a member is in use.
    const unit =
      resolution.kind === 'found'
        ? [resolution.entry.id, ...listLoadedUnit(state, context, resolution.entry.id)]
        : resolution.kind === 'group'
          ? resolution.entries.map(({ id }) => id)
          : []
    const ids = unit.some((id) => batch.inUse.has(id)) ? [] : [...new Set(unit)]
    if (resolution.kind === 'ambiguous')
      misses.ambiguous.push({ name, candidates: listUsableNames(resolution.entries, context) })
    else if (ids.length === 0)
      misses.notFound.push({ name, nearest: nearest(name, listLoadedNames(state, context)) })
    facts.push(...unload(state, context, ids, 'model', false))
    for (const id of ids) batch.unloaded.add(id)
    unloaded.push(...ids)
  }
  return { ids: unloaded, facts }
}

/** Lists the wire names of loaded tools that may be named. */
export function listLoadedNames(state: LedgerState, context: Context): string[] {
  return [...state.tools.loaded]
    .filter(([id, each]) => each.live && isUsable(id, context))
    .map(([, each]) => each.pin.wireName)
}

function isUsable(id: string, { gate, catalogue }: Context): boolean {
  const entry = catalogue.get(id)
  return entry ? gate.visible(entry) : gate.isSourceAway(id)
}

function listUsableNames(entries: readonly Entry[], context: Context): string[] {
  return entries.filter(({ id }) => isUsable(id, context)).map((entry) => entry.wireName)
}

/** Finds words of the query that are exactly a tool's name, by tool id. These tools come before all ranked ones. */
export function findExactNames(
  text: string,
  context: Context,
): Map<string, { readonly alias?: string | undefined; readonly deprecated: boolean }> {
  const words = [text, ...text.split(/[\s,;"'`()]+/)].filter((word) => word !== '' && word.length <= 200)
  const named = new Map<string, { alias?: string | undefined; deprecated: boolean }>()
  for (const word of words) {
    const resolution = context.catalogue.resolve(word, (entry) => isReady(entry, context))
    if (resolution.kind !== 'found') continue
    const { entry, alias, deprecated } = resolution
    const spelled = [
      entry.id,
      entry.wireName,
      entry.tool.name,
      ...context.catalogue.listAliases(entry.id),
    ].includes(word)
    // A plain word such as "search" means a tool only if it is the whole query.
    if (!spelled || !(word === text || /[_./:-]|[a-z][A-Z]/.test(word))) continue
    if (alias !== undefined && !deprecated && isOtherToolName(word, entry.id, context)) continue
    // A tool's current name wins over its deprecated one.
    if (!deprecated || !named.has(entry.id)) named.set(entry.id, { alias, deprecated })
  }
  return named
}

/** True if the word, in any spelling, is another tool's name. A name wins over an alias. */
function isOtherToolName(word: string, id: string, context: Context): boolean {
  const respelt = word.toUpperCase().replace(/\s+/g, '_')
  const other = context.catalogue.resolve(respelt, (entry) => isReady(entry, context))
  return other.kind === 'ambiguous' || (other.kind === 'found' && !other.alias && other.entry.id !== id)
}

function isReady(entry: Entry, { gate }: Context): boolean {
  return gate.availability(entry, 'see') === 'ready'
}

/** Wrong names in one batch that get suggestions. Each reads the whole catalogue. */
const MAX_SUGGESTED = 5

/** Suggests names of visible tools for a wrong name. */
export function suggestNames(asked: string, { catalogue, gate }: Context, batch: Batch): string[] {
  if (batch.suggested++ >= MAX_SUGGESTED) return []
  const { folded, owners } = indexNames(catalogue)
  const findShown = (name: string) => owners.get(name)?.find((entry) => gate.visible(entry))
  const close = findNearest(asked, folded, 8, (name) => findShown(name) !== undefined)
  return [...new Set(close.map((name) => findShown(name)?.wireName ?? name))].slice(0, 3)
}

interface NameOwners {
  readonly revision: number
  readonly folded: FoldedNames
  /** The tools that have a name. Tools of different sources may share one. */
  readonly owners: ReadonlyMap<string, readonly Entry[]>
}

const nameOwners = new WeakMap<Catalogue, NameOwners>()

/** Indexes all names and aliases, once for each revision of the catalogue. */
function indexNames(catalogue: Catalogue): NameOwners {
  const { revision } = catalogue
  const last = nameOwners.get(catalogue)
  if (last?.revision === revision) return last
  const owners = new Map<string, Entry[]>()
  for (const entry of catalogue.entries())
    for (const name of new Set([entry.wireName, entry.tool.name, ...(entry.tool.aliases ?? [])])) {
      const own = owners.get(name)
      if (own) own.push(entry)
      else owners.set(name, [entry])
    }
  const made = { revision, folded: foldNames(owners.keys()), owners }
  nameOwners.set(catalogue, made)
  return made
}
