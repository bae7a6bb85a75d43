/** The tools that fit a query's words: ranked, sorted out by whether they can be used, and cut to those that answer. */
import type { Entry, Skipped } from '../../catalogue/catalogue.js'
import { isOnSurface, type LedgerState } from '../../ledger/fold.js'
import {
  clearFirst,
  consideredHits,
  decisiveHits,
  isClear as isClearHit,
  isLoadable,
  isNear,
  nearestHits,
  nearestOf,
} from '../../search/answers.js'
import type { ParsedQuery } from '../../search/query.js'
import type { Ranked } from '../../search/searcher.js'
import { certainFrom, type Shares, sharesAt } from '../../search/tuning.js'
import type { Context } from '../../surface/context.js'
import type { SearchRequest } from '../../surface/meta-tools.js'
import { findExactNames } from './by-name.js'
import type { Candidate } from './candidate.js'
import { describeAwayTool } from './find.js'

/** Hits the ranker is asked for. Most are never looked at, but some of the first may be loaded, denied or away. */
const RANKED = 128
/** Where these leave too few that can be used, so many times more are asked for. */
const WIDEN_BY = 8
/** Servers that are away and would have fitted: so many are named. */
const MAX_AWAY = 3
/** The score of a tool that the query names. */
const EXACT_SCORE = Number.MAX_VALUE
/** Where nothing reaches the cut-off, tools that come this close to it are named. */
const WEAK_SHARE = 0.75
export interface KeywordHits {
  readonly hits: readonly Candidate[]
  /** Ids of tools that fit less well: they are named only. */
  readonly weak: readonly string[]
  /** Further tools that are clear and did not find room. */
  readonly more: number
  /** Of each source that is away, the tool that would have been the best answer. */
  readonly unavailable: readonly { readonly name: string; readonly state: string }[]
  /** What would have been the best answer, and has a definition that cannot be used. */
  readonly skipped: readonly Skipped[]
  /** Sources of quarantined tools that fit, one for each tool, where nothing clearly does. */
  readonly quarantined: readonly string[]
  /** The hits are only the nearest there is: none accounts for enough of what was asked for. */
  readonly unclear: boolean
}

const NONE: KeywordHits = {
  hits: [],
  weak: [],
  more: 0,
  unavailable: [],
  skipped: [],
  quarantined: [],
  unclear: false,
}

export async function findKeywordHits(
  query: ParsedQuery,
  request: SearchRequest,
  limit: number,
  state: LedgerState,
  context: Context,
): Promise<KeywordHits> {
  const { server, group, domain } = query.filters
  const hasWords = query.text !== '' || query.must.length > 0
  if (!hasWords && (server ?? group ?? domain ?? request.domain) === undefined) return NONE
  const sorted = hasWords
    ? await rankAndSort(query, request, limit, state, context)
    : sortHits(listEveryTool(context), query, request, limit, state, context)
  const { cutOff, autoLoad } = context.settings
  const { answer, load } = sharesAt(cutOff)
  // Who wants every answer loaded reproduces a system that tells neither what to load from what to show, nor what is clear.
  const shares = { answer: autoLoad === 'all' ? load : answer, load }
  const cutTo = (most: number, least = shares.answer, bestAway = sorted.bestAway) =>
    cutHits({ ...sorted, bestAway }, most, { answer: least, load }, (id) => isOnSurface(state, id))
  const isClear = ({ coverage }: { readonly coverage: number }) =>
    autoLoad === 'all' || isClearHit({ coverage })
  const considered = cutTo(consideredHits).hits
  const near = cutTo(decisiveHits, load).hits
  // Next to what is away, nothing may be left that is an answer: then the nearest is named.
  const decisive = near.length > 0 || autoLoad === 'all' ? near : cutTo(decisiveHits, load, 0).hits
  const unclear = decisive.length > 0 && (near.length === 0 || !decisive.some(isClear))
  const best = considered.reduce((highest, { score }) => Math.max(highest, score), 0)
  // One that is away is named where it would have come first, and would have been a clear answer.
  const wouldFit = (each: { readonly score: number; readonly coverage: number }) =>
    decisive.length === 0 || (isClear(each) && (unclear || each.score >= best))
  const unavailable = takeFirstOfSource(sorted.unavailable.filter(wouldFit)).slice(0, MAX_AWAY)
  const skipped = sorted.skipped.filter(
    (each) => wouldFit(each) && each.score >= sorted.bestAway * shares.answer,
  )
  if (unclear) {
    const nearest = nearestOf(decisive, Math.min(limit, nearestHits))
    const hits = nearest.map((hit) => (isLoadable(hit, nearest[0]) ? hit : { ...hit, sure: false }))
    const quarantined = await listQuarantinedSources(query, request, context)
    return { hits, more: 0, weak: [], unavailable, skipped, quarantined, unclear: hits.length > 0 }
  }
  const cut = cutTo(limit)
  const quarantined = cut.hits.length === 0 ? await listQuarantinedSources(query, request, context) : []
  const isLoaded = ({ entry }: Hit) => isOnSurface(state, entry.id)
  const fitting = limit < consideredHits ? limitLearned(considered, limit) : cut.hits
  const named = fitting.filter((hit) => hit.named).length
  const ordered =
    autoLoad === 'all'
      ? fitting
      : clearFirst(
          fitting,
          ({ called }) => called,
          ({ learnedOnly }) => !learnedOnly,
        )
  // What is asked for by name, then what is new to the model.
  const rankPlace = (hit: Hit) => (hit.named ? 0 : isLoaded(hit) ? 2 : 1)
  const hits = [...ordered]
    .sort((first, second) => rankPlace(first) - rankPlace(second))
    .slice(0, Math.max(limit, named))
    .map((hit) => ({ ...hit, clear: isClear(hit) }))
  const isMore = (hit: Hit) =>
    isClear(hit) && !isLoaded(hit) && !hits.some(({ entry }) => entry === hit.entry)
  const more = cutTo(Number.POSITIVE_INFINITY).hits.filter(isMore).length
  return { hits, weak: cut.weak, more, unavailable, skipped, quarantined, unclear }
}

/** One line for each server is enough. */
function takeFirstOfSource<T extends { readonly source: string }>(away: readonly T[]): T[] {
  return away.filter(({ source }, place) => away.findIndex((other) => other.source === source) === place)
}

/** Ranked and sorted out; again with more of them, where what is denied or away has left too few. */
async function rankAndSort(
  query: ParsedQuery,
  request: SearchRequest,
  limit: number,
  state: LedgerState,
  context: Context,
): Promise<SortedHits> {
  for (let most = RANKED; ; most *= WIDEN_BY) {
    const ranked = await rankTools(query, request, most, context)
    const sorted = sortHits(ranked, query, request, limit, state, context)
    const last = ranked.at(-1)
    const mayBeMore = ranked.length >= most && last !== undefined && last.relevance >= context.settings.cutOff
    if (sorted.hits.length >= limit || !mayBeMore) return sorted
  }
}

async function rankTools(
  { text, must, ...query }: ParsedQuery,
  request: SearchRequest,
  limit: number,
  context: Context,
  withQuarantined = false,
): Promise<readonly Ranked[]> {
  const accept = (id: string) => {
    const entry = context.catalogue.get(id) ?? context.catalogue.skippedTools.get(id)?.entry
    return entry !== undefined && meetsFilters(entry, query, request)
  }
  return context.rank({ text, must, limit, accept }, withQuarantined)
}

/** They are ranked by themselves, so that what is held back decides over no other tool. */
async function listQuarantinedSources(
  query: ParsedQuery,
  request: SearchRequest,
  context: Context,
): Promise<string[]> {
  const { catalogue, gate, settings } = context
  if (!gate.hasQuarantined) return []
  const hasWords = query.text !== '' || query.must.length > 0
  const ranked = hasWords ? await rankTools(query, request, RANKED, context, true) : listEveryTool(context)
  return ranked.flatMap(({ id, relevance }) => {
    const entry = relevance >= settings.cutOff ? catalogue.get(id) : undefined
    const isQuarantined =
      entry && meetsFilters(entry, query, request) && gate.availability(entry, 'load') === 'quarantined'
    return isQuarantined ? [entry.source] : []
  })
}

/** A query of filters alone asks for everything that passes them. */
function listEveryTool({ catalogue }: Context): Ranked[] {
  return [...catalogue.entries()]
    .map((entry): Ranked => ({ id: entry.id, score: 1, relevance: 1 }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** A tool that fits. */
interface Hit extends Candidate {
  /** Its name is asked for in some spelling: what it scores says nothing of how well others fit. */
  readonly called: boolean
  /** Nothing but its use, or a likeness, speaks for it. */
  readonly learnedOnly: boolean
  readonly ownScore: number
  readonly coverage: number
}

/** A tool that fits, and whose source is away. */
interface AwayTool {
  readonly name: string
  readonly source: string
  readonly state: string
  readonly score: number
  readonly coverage: number
}

interface SortedHits {
  readonly hits: readonly Hit[]
  readonly weak: readonly Hit[]
  readonly unavailable: readonly AwayTool[]
  readonly skipped: readonly (Skipped & Pick<AwayTool, 'score' | 'coverage'>)[]
  /** The best score of a tool whose source is away or that cannot be used: next to it, what fits half as well is no answer either. */
  readonly bestAway: number
}

/** Ready, away, denied, weak: which of the ranked tools can answer. */
function sortHits(
  ranked: readonly Ranked[],
  query: ParsedQuery,
  request: SearchRequest,
  limit: number,
  state: LedgerState,
  context: Context,
): SortedHits {
  const { cutOff, autoLoad } = context.settings
  const named = findExactNames(query.text, context)
  const hits: Hit[] = []
  const weak: Hit[] = []
  const loadedOnes: Hit[] = []
  const unavailable: AwayTool[] = []
  const skipped: (Skipped & Pick<AwayTool, 'score' | 'coverage'>)[] = []
  const seen = new Set<string>()
  let bestAway = 0
  const inOrder = [
    ...[...named.keys()].map((id): Ranked => ({ id, score: EXACT_SCORE, relevance: 1 })),
    ...ranked,
  ]
  for (const {
    id,
    score,
    relevance,
    certainty = relevance,
    coverage = 1,
    ownRelevance = relevance,
    ownScore = score,
  } of inOrder) {
    const entry = context.catalogue.get(id)
    const unusable = entry ? undefined : context.catalogue.skippedTools.get(id)
    if (unusable && relevance >= cutOff && skipped.length < limit && !seen.has(id)) {
      seen.add(id)
      if (meetsFilters(unusable.entry, query, request) && context.gate.visible(unusable.entry)) {
        bestAway = Math.max(bestAway, score)
        skipped.push({ ...unusable, score, coverage })
      }
    }
    if (!entry || seen.has(id) || !meetsFilters(entry, query, request)) continue
    seen.add(id)
    const fits = relevance >= cutOff
    const availability = context.gate.availability(entry, 'load')
    if (availability !== 'ready') {
      // Where nothing else fits, "there is no such tool" would be untrue of a server that is only away.
      const isAway = !['denied', 'vanished', 'quarantined'].includes(availability)
      if (!isAway || !fits) continue
      bestAway = Math.max(bestAway, score)
      const state = describeAwayTool(entry, availability, context)
      unavailable.push({ name: entry.wireName, source: entry.source, state, score, coverage })
      continue
    }
    const { alias, deprecated = false } = named.get(id) ?? {}
    const hit: Hit = {
      entry,
      asked: request.query,
      alias,
      deprecated,
      explicit: false,
      clear: true,
      named: score === EXACT_SCORE,
      called: relevance === 1,
      // What only its use speaks for is shown and not loaded: uses can be farmed.
      sure: ownRelevance >= cutOff && (autoLoad !== 'certain' || certainty >= certainFrom),
      learnedOnly: ownRelevance < cutOff,
      ownScore,
      coverage,
      score,
    }
    if (request.includeLoaded === false && isOnSurface(state, id)) {
      if (fits) loadedOnes.push(hit)
    } else if (fits) hits.push(hit)
    else if (relevance >= cutOff * WEAK_SHARE && weak.length < limit) weak.push(hit)
  }
  // Where nothing else fits, "there is no such tool" would be untrue of one that is loaded.
  return { hits: hits.length > 0 ? hits : loadedOnes, weak, unavailable, skipped, bestAway }
}

/** Keeps what answers: named tools, then those that score near the best, as many as the limit allows. */
export function cutHits(
  { hits, weak, bestAway }: Omit<SortedHits, 'unavailable' | 'skipped'>,
  limit: number,
  shares: Shares,
  isLoadedTool: (id: string) => boolean,
): Pick<KeywordHits, 'weak'> & { readonly hits: readonly Hit[] } {
  const byName = hits.filter((hit) => hit.named)
  const byWords = hits.filter((hit) => !hit.named)
  const isFresh = ({ entry }: Hit) => !isLoadedTool(entry.id)
  // Where a tool was named, what its words also fit is no answer to the question.
  const fitting = byWords.filter((hit) => !hit.called)
  const best = byName.length > 0 ? Number.POSITIVE_INFINITY : Math.max(bestAway, findBestScore(fitting))
  const isStrong = (hit: Hit) => isNear(hit, best, shares) || (byName.length === 0 && hit.called)
  const strong = limitLearned(byWords.filter(isStrong), limit)
  // Tools the model does not have yet come first; within each half the ranking stands.
  const fresh = strong.filter(isFresh)
  const ranking = [...fresh, ...strong.filter((hit) => !isFresh(hit))]
  const found = ranking.slice(0, Math.max(0, limit - byName.length))
  const kept = [
    ...byName,
    ...found.map((hit) => (hit.called || hit.score >= best * shares.load ? hit : { ...hit, sure: false })),
  ]
  const rest = hits.length > 0 ? byWords.filter((hit) => !isStrong(hit) && isFresh(hit)) : weak
  return {
    hits: kept,
    weak: rest.slice(0, Math.max(0, limit - kept.length)).map(({ entry }) => entry.id),
  }
}

/** Others are measured by what the words find; by what was learned only where they find nothing. */
function findBestScore(hits: readonly Hit[]): number {
  const byWords = hits.filter(({ learnedOnly }) => !learnedOnly)
  return (byWords.length > 0 ? byWords : hits).reduce((best, { ownScore }) => Math.max(best, ownScore), 0)
}

/** What only use speaks for has one place before what the words find, and those that are left. */
function limitLearned(hits: readonly Hit[], limit: number): Hit[] {
  let left = Math.max(1, limit - hits.filter(({ learnedOnly }) => !learnedOnly).length)
  return hits.filter(({ learnedOnly }) => !learnedOnly || left-- > 0)
}

/** Whether a tool meets the filters of a query. */
export function meetsFilters(
  entry: Entry,
  query: Pick<ParsedQuery, 'filters'>,
  request: Pick<SearchRequest, 'domain'>,
): boolean {
  const { server, domain, group } = query.filters
  const same = (a: string | undefined, b: string) => (a ?? '').toLowerCase() === b.toLowerCase()
  if (server !== undefined && !same(entry.source, server)) return false
  if (group !== undefined && !same(entry.tool.group, group)) return false
  const wanted = domain ?? request.domain
  return wanted === undefined || same(entry.tool.domain ?? entry.source, wanted)
}
