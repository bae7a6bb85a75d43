/** Answers one search. Reads the state at the start of the batch, asks the gate about every tool, and gives facts. */

import { foldName } from '../../base/names.js'
import { quote } from '../../base/text.js'
import type { Entry, Source } from '../../catalogue/catalogue.js'
import type { LedgerFact } from '../../ledger/event.js'
import { isLoaded, type LedgerState, searchKey } from '../../ledger/fold.js'
import { type ParsedQuery, parseQuery } from '../../search/query.js'
import type { SearchResult } from '../../search/result.js'
import type { Context } from '../../surface/context.js'
import { BRIDGE_NAME, type SearchRequest } from '../../surface/meta-tools.js'
import type { Dropped } from '../../tool/notice.js'
import type { Batch } from '../load.js'
import { describeSkipped, listLoadedNames, type Misses, selectNamed, unloadNamed } from './by-name.js'
import { type Candidate, createMatch, loadFoundTools } from './candidate.js'
import { findKeywordHits } from './keyword-hits.js'
import { findUnmetConditions, listLargestSources, writeNextInstruction } from './render.js'

const LIMIT = { usual: 5, most: 20 }
/** Characters of a query that the ledger keeps; longer ones are told apart by these. */
const RECORDED_LENGTH = 1000

function readLimit(asked: number | undefined, { usual, most } = LIMIT): number {
  if (asked === undefined || Number.isNaN(asked)) return usual
  return Math.min(most, Math.max(1, Math.trunc(asked)))
}

export function cutQuery(query: string): string {
  return query.slice(0, RECORDED_LENGTH)
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

export async function findTools(
  request: SearchRequest,
  state: LedgerState,
  context: Context,
  batch: Batch,
): Promise<Found> {
  await context.catalogue.prepareNames()
  const query = parseQuery(request.query)
  const limit = readLimit(request.limit, context.settings.searchTool.limit)
  const loadedBefore = listLoadedNames(state, context)
  const misses: Misses = { notFound: [], ambiguous: [], unavailable: [], skipped: [] }
  const findHits = () => findKeywordHits(query, request, limit, state, context)

  wakeMissingSources(query, context)
  await waitForSources(query, context, async () => {
    const isPermitted = (entry: Entry) => context.gate.availability(entry, 'see') !== 'denied'
    const known = query.select.every((name) => context.catalogue.resolve(name, isPermitted).kind !== 'none')
    return known && (query.select.length > 0 || (await findHits()).hits.length > 0)
  })
  const { ids: unloaded, facts: unloads } = unloadNamed(query.unload, state, context, batch, misses)
  const selected = selectNamed(query.select, context, batch, misses)
  const ranked = await findHits()
  misses.unavailable.push(...ranked.unavailable.map(({ name, state }) => ({ name, state })))
  const hasAnswer = selected.length + unloaded.length > 0 || (ranked.hits.length > 0 && !ranked.unclear)
  misses.unavailable.push(...listMissingSources(query, context, hasAnswer))
  const candidates = dropDuplicates([...selected, ...ranked.hits])
  // Of two tools with one name the first is kept: where that one is found, nothing is missing.
  const isFound = ({ wireName }: Entry) => candidates.some(({ entry }) => entry.wireName === wireName)
  misses.skipped.push(...ranked.skipped.filter(({ entry }) => !isFound(entry)).map(describeSkipped))
  wakeTentativeSources(
    candidates.map(({ entry }) => entry),
    context,
  )
  const quarantined = countQuarantined(ranked.quarantined)
  const loads = loadFoundTools(candidates, ranked.unclear, state, context, batch)

  const { loaded, evicted } = loads
  const below = ranked.weak.map((tool): Dropped => ({ tool, reason: 'below-cut-off' }))
  const shown = new Set([...candidates.map(({ entry }) => entry.id), ...loaded])
  const matches = [...shown].flatMap((id) => {
    const entry = context.catalogue.get(id)
    const candidate = candidates.find((other) => other.entry.id === id)
    return entry ? [createMatch(entry, candidate, loaded.includes(id), state, context, batch)] : []
  })
  const gone = new Set([...evicted, ...unloaded])
  const listNames = (ids: readonly string[]) =>
    ids.filter((id) => mayBeNamed(id, context)).map((id) => findLoadedName(id, state, context))
  const byName = query.select.length + query.unload.length > 0
  const missed = matches.length === 0 && unloaded.length === 0
  const found: Omit<SearchResult, 'nextInstruction'> = {
    query: request.query,
    loadedBefore,
    matches,
    loadedAfter: [
      ...loadedBefore.filter((name) => !gone.has(findId(name, context))),
      ...loaded.map((id) => findWireName(id, context)),
    ],
    problems: missed
      ? [...query.problems, ...(await findUnmetConditions(query, context, quarantined.length > 0))]
      : query.problems,
    more: ranked.more,
    unclear: ranked.unclear,
    dropped: [...below, ...loads.dropped].map(({ tool, reason }) => ({
      name: findWireName(tool, context),
      reason,
      tokens: countTokens(tool, context),
    })),
    ...misses,
    quarantined,
    evicted: listNames(evicted),
    unloaded: listNames(unloaded),
    overview: missed && !byName ? listLargestSources(context) : [],
    repeated: missed && (state.calls.failures.get(searchKey(cutQuery(request.query))) ?? 0) >= 2,
  }
  const bridge = state.frozen?.delivery === 'bridge' ? BRIDGE_NAME : undefined
  return {
    result: { ...found, nextInstruction: writeNextInstruction(found, context, bridge) },
    loaded,
    // What was denied since is named nowhere, not even in the line for machines.
    unloaded: [...gone].filter((id) => mayBeNamed(id, context)),
    again: candidates
      .filter(({ explicit, named, entry }) => (explicit || named) && isLoaded(state, entry.id))
      .map(({ entry }) => entry.id),
    shown: ranked.hits.map(({ entry }) => entry.id),
    facts: [...unloads, ...loads.facts],
    missed,
  }
}

function countQuarantined(sources: readonly string[]): { source: string; count: number }[] {
  return [...new Set(sources)].map((source) => ({
    source: quote(source, 60),
    count: sources.filter((each) => each === source).length,
  }))
}

/** Away or gone, it was in the conversation and is named; denied since, it is not. */
function mayBeNamed(id: string, { gate, catalogue }: Context): boolean {
  return gate.availability(catalogue.get(id), 'see') !== 'denied'
}

function findLoadedName(id: string, { tools }: LedgerState, context: Context): string {
  return tools.loaded.get(id)?.pin.wireName ?? findWireName(id, context)
}

function findWireName(id: string, { catalogue }: Context): string {
  return catalogue.get(id)?.wireName ?? id
}

function findId(name: string, { catalogue }: Context): string {
  const resolution = catalogue.resolve(name, () => true)
  return resolution.kind === 'found' ? resolution.entry.id : name
}

function countTokens(id: string, context: Context): number {
  const entry = context.catalogue.get(id)
  return entry ? context.cost(entry) : 0
}

function dropDuplicates(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>()
  return candidates.filter(({ entry }) => !seen.has(entry.id) && seen.add(entry.id))
}

// Sources that are still connecting: a search that finds nothing waits for them, but not for long, and then says who is missing.

/** Missing sources that are named in one answer. */
const MAX_NAMED = 5

/** Only sources of which nothing is known can still bring what was asked for. */
function listMissing({ filters: { server } }: Pick<ParsedQuery, 'filters'>, context: Context): Source[] {
  return [...context.catalogue.sources.values()].filter(
    ({ name, state, ids }) =>
      state !== 'ready' &&
      ids.size === 0 &&
      (server === undefined || name.toLowerCase() === server.toLowerCase()),
  )
}

/** The source that a name of an unknown tool begins with, where nothing is known of that source: it may have the tool. */
export function findMissingSource(
  asked: string,
  context: Context,
): { name: string; state: string } | undefined {
  // No name of a server is longer.
  const begun = asked.slice(0, 300)
  const beginnings = [...begun.matchAll(/[^\p{L}\p{N}]|$/gu)].map(({ index }) => begun.slice(0, index))
  const folded = new Set(beginnings.map(foldName).filter((beginning) => beginning !== ''))
  const source = listMissing({ filters: {} }, context).find(
    ({ name }) => folded.has(foldName(name)) && context.gate.mayName(name),
  )
  if (source?.state === 'failed') wake(source)
  return source && { name: quote(source.name, 60), state: describeState(source.state, source) }
}

/** Sources that failed may work again: whoever owns them is asked to try, and nobody waits for it here. */
function wakeMissingSources(query: ParsedQuery, context: Context): void {
  for (const source of listMissing(query, context)) if (source.state === 'failed') wake(source)
}

/** The same for those whose tools were found, and that nobody has seen work since they failed. */
function wakeTentativeSources(entries: readonly Entry[], context: Context): void {
  for (const name of new Set(entries.map((entry) => entry.source))) {
    const source = context.catalogue.sources.get(name)
    if (source?.tentative) wake(source)
  }
}

function wake({ wake: tryAgain }: Source): void {
  try {
    tryAgain?.()
  } catch {
    // It stays as it is.
  }
}

/** Waits where there is something to wait for, and nothing to answer with yet. */
async function waitForSources(
  query: ParsedQuery,
  context: Context,
  hasAnswer: () => Promise<boolean>,
): Promise<void> {
  const { waitForSources: most } = context.settings
  const connecting = () => listMissing(query, context).some(({ state }) => state === 'connecting')
  if (most === 0 || !connecting() || (await hasAnswer())) return
  await context.catalogue.until(() => !connecting(), most)
}

/** Why a tool cannot be used, with what the user can do about its server. */
export function describeAwayTool(entry: Entry, availability: string, context: Context): string {
  return describeState(availability, context.catalogue.sources.get(entry.source))
}

/** What is missing, as a search result names it; `named`: only what the query itself speaks of. */
export function listMissingSources(
  query: ParsedQuery,
  context: Context,
  named: boolean,
): { name: string; state: string }[] {
  return listMissing(query, context)
    .filter(({ name }) => context.gate.mayName(name) && (!named || mentions(query.text, name)))
    .slice(0, MAX_NAMED)
    .map((source) => ({ name: quote(source.name, 60), state: describeState(source.state, source) }))
}

/** Whether a word of a source's name stands in the text. Short ones stand there by accident. */
function mentions(text: string, name: string): boolean {
  const splitWords = (written: string) => written.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  const words = new Set(splitWords(text))
  return splitWords(name).some((word) => word.length > 3 && words.has(word))
}

function describeState(availability: string, source: Source | undefined): string {
  return source && source.state === availability && source.advice !== ''
    ? `${availability} (${source.advice})`
    : availability
}
