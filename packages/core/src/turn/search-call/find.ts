/** Answers one search. Reads the state at the start of the batch, asks the gate about every tool, and gives facts. */
import { quote } from '../../base/text.js'
import type { Entry } from '../../catalogue/catalogue.js'
import type { LedgerFact } from '../../ledger/event.js'
import { isLoaded, type LedgerState, searchKey } from '../../ledger/fold.js'
import { parseQuery } from '../../search/query.js'
import type { SearchResult } from '../../search/result.js'
import type { Context } from '../../surface/context.js'
import { BRIDGE_NAME, type SearchRequest } from '../../surface/meta-tools.js'
import type { Dropped } from '../../tool/reasons.js'
import type { Batch } from '../load/batch.js'
import { loadedNames, type Misses, selectNamed, toLeftOut, unloadNamed } from './by-name.js'
import { type Candidate, toMatch } from './candidate.js'
import { nextInstruction, overviewOf, unmetConditions } from './describe.js'
import { keywordHits } from './keyword-hits.js'
import { awaySources, waitForSources, wakeFound, wakeMissing } from './late-sources.js'
import { loadFoundTools } from './load-found-tools.js'

const LIMIT = { usual: 5, most: 20 }
/** Characters of a query that the ledger keeps; longer ones are told apart by these. */
const RECORDED = 1000

function limitOf(asked: number | undefined, { usual, most } = LIMIT): number {
  if (asked === undefined || Number.isNaN(asked)) return usual
  return Math.min(most, Math.max(1, Math.trunc(asked)))
}

export function recordedQuery(query: string): string {
  return query.slice(0, RECORDED)
}

export interface Found {
  readonly result: SearchResult
  /** Ids that this search loaded and unloaded, for the machine-readable line of the answer. */
  readonly loaded: readonly string[]
  readonly unloaded: readonly string[]
  /** Ids of loaded tools that were asked for by name. */
  readonly again: readonly string[]
  /** Ids of the tools that it shows for the words of the query. */
  readonly shown: readonly string[]
  readonly facts: readonly LedgerFact[]
  readonly missed: boolean
}

export async function find(
  request: SearchRequest,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Promise<Found> {
  await context.catalogue.prepareNames()
  const query = parseQuery(request.query)
  const limit = limitOf(request.limit, context.settings.searchTool.limit)
  const loadedBefore = loadedNames(state, context)
  const misses: Misses = { notFound: [], ambiguous: [], unavailable: [], leftOut: [] }
  const hitsNow = () => keywordHits(query, request, limit, state, context)

  wakeMissing(query, context)
  await waitForSources(query, context, async () => {
    const isPermitted = (entry: Entry) => context.gate.availability(entry, 'see') !== 'denied'
    const known = query.select.every((name) => context.catalogue.resolve(name, isPermitted).kind !== 'none')
    return known && (query.select.length > 0 || (await hitsNow()).hits.length > 0)
  })
  const { ids: unloaded, facts: unloads } = unloadNamed(query.unload, state, context, batch, misses)
  const selected = selectNamed(query.select, context, batch, misses)
  const ranked = await hitsNow()
  misses.unavailable.push(...ranked.unavailable.map(({ name, state }) => ({ name, state })))
  const hasAnswer = selected.length + unloaded.length > 0 || (ranked.hits.length > 0 && !ranked.unclear)
  misses.unavailable.push(...awaySources(query, context, hasAnswer))
  const candidates = distinct([...selected, ...ranked.hits])
  // Of two tools with one name the first is kept: where that one is found, nothing is missing.
  const isFound = ({ wireName }: Entry) => candidates.some(({ entry }) => entry.wireName === wireName)
  misses.leftOut.push(...ranked.leftOut.filter(({ entry }) => !isFound(entry)).map(toLeftOut))
  wakeFound(
    candidates.map(({ entry }) => entry),
    context,
  )
  const heldBack = countHeldBack(ranked.heldBack)
  const taken = loadFoundTools(candidates, ranked.unclear, state, context, batch)

  const { loaded, evicted } = taken
  const below = ranked.weak.map((tool): Dropped => ({ tool, reason: 'below-cut-off' }))
  const shown = new Set([...candidates.map(({ entry }) => entry.id), ...loaded])
  const matches = [...shown].flatMap((id) => {
    const entry = context.catalogue.get(id)
    const candidate = candidates.find((other) => other.entry.id === id)
    return entry ? [toMatch(entry, candidate, loaded.includes(id), state, context, batch)] : []
  })
  const gone = new Set([...evicted, ...unloaded])
  const namesOf = (ids: readonly string[]) =>
    ids.filter((id) => mayBeNamed(id, context)).map((id) => loadedName(id, state, context))
  const byName = query.select.length + query.unload.length > 0
  const missed = matches.length === 0 && unloaded.length === 0
  const found: Omit<SearchResult, 'nextInstruction'> = {
    query: request.query,
    loadedBefore,
    matches,
    loadedAfter: [
      ...loadedBefore.filter((name) => !gone.has(idOf(name, context))),
      ...loaded.map((id) => nameOf(id, context)),
    ],
    problems: missed
      ? [...query.problems, ...(await unmetConditions(query, context, heldBack.length > 0))]
      : query.problems,
    more: ranked.more,
    unclear: ranked.unclear,
    dropped: [...below, ...taken.dropped].map(({ tool, reason }) => ({
      name: nameOf(tool, context),
      reason,
      tokens: costOf(tool, context),
    })),
    ...misses,
    heldBack,
    evicted: namesOf(evicted),
    unloaded: namesOf(unloaded),
    overview: missed && !byName ? overviewOf(context) : [],
    repeated: missed && (state.calls.failures.get(searchKey(recordedQuery(request.query))) ?? 0) >= 2,
  }
  const bridge = state.latch?.delivery === 'bridge' ? BRIDGE_NAME : undefined
  return {
    result: { ...found, nextInstruction: nextInstruction(found, context, bridge) },
    loaded,
    // What was denied since is named nowhere, not even in the line for machines.
    unloaded: [...gone].filter((id) => mayBeNamed(id, context)),
    again: candidates
      .filter(({ explicit, named, entry }) => (explicit || named) && isLoaded(state, entry.id))
      .map(({ entry }) => entry.id),
    shown: ranked.hits.map(({ entry }) => entry.id),
    facts: [...unloads, ...taken.facts],
    missed,
  }
}

function countHeldBack(sources: readonly string[]): { source: string; count: number }[] {
  return [...new Set(sources)].map((source) => ({
    source: quote(source, 60),
    count: sources.filter((each) => each === source).length,
  }))
}

/** Away or gone, it was in the conversation and is named; denied since, it is not. */
function mayBeNamed(id: string, { gate, catalogue }: Context): boolean {
  return gate.availability(catalogue.get(id), 'see') !== 'denied'
}

function loadedName(id: string, { tools }: LedgerState, context: Context): string {
  return tools.loaded.get(id)?.pin.wireName ?? nameOf(id, context)
}

function nameOf(id: string, { catalogue }: Context): string {
  return catalogue.get(id)?.wireName ?? id
}

function idOf(name: string, { catalogue }: Context): string {
  const resolution = catalogue.resolve(name, () => true)
  return resolution.kind === 'found' ? resolution.entry.id : name
}

function costOf(id: string, context: Context): number {
  const entry = context.catalogue.get(id)
  return entry ? context.cost(entry) : 0
}

function distinct(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return candidates.filter(({ entry }) => !seen.has(entry.id) && seen.add(entry.id))
}
