/**
 * Finds the tools that match a query's words: ranks them, sorts them by availability, and cuts the list to the
 * answers.
 */
import type { Entry, Skipped } from '../catalogue/catalogue.js'
import { isOnSurface, type LedgerState } from '../ledger/fold.js'
import { type ParsedQuery, splitClauses } from '../search/query.js'
import type { Ranked } from '../search/searcher.js'
import {
  isClear as isClearHit,
  isLoadable,
  isNearBest,
  selectNearest,
  sortClearFirst,
} from '../search/select-answers.js'
import {
  certaintyThreshold,
  computeShares,
  consideredHits,
  decisiveHits,
  mostNeeds,
  mostOthers,
  nearestHits,
  type Shares,
  weakShare,
} from '../search/tuning.js'
import type { Context } from '../surface/context.js'
import type { SearchRequest } from '../surface/meta-tools.js'
import type { Candidate } from './load-found-tools.js'
import { findExactNames } from './named-tools.js'
import { describeAwayTool } from './sources.js'

/** Hits to ask the ranker for. Many, because the first ones may be loaded, denied or away. */
const RANKED = 128
/** Factor by which the number grows if too few hits can be used. */
const WIDEN_BY = 8
/** Servers that are away and have a matching tool: an answer names at most this many. */
const MAX_AWAY = 3
/** The score of a tool that the query names. */
const EXACT_SCORE = Number.MAX_VALUE

export interface KeywordHits {
  readonly hits: readonly Hit[]
  /** Ids of weaker hits. An answer only names them. */
  readonly weak: readonly string[]
  /** Number of further clear hits that the limit cut off. */
  readonly more: number
  /** Further tools in the order of the ranking. An answer only names them. */
  readonly others: readonly Entry[]
  /** The best tool of each source that is away, if it would be an answer. */
  readonly unavailable: readonly { readonly name: string; readonly state: string }[]
  /** Tools that would be the best answer, but whose definition cannot be used. */
  readonly skipped: readonly Skipped[]
  /** If no hit is clear: the source of each matching quarantined tool. */
  readonly quarantined: readonly string[]
  /** No hit covers enough of the query. The hits are only the nearest tools. */
  readonly unclear: boolean
}

const NONE: KeywordHits = {
  hits: [],
  weak: [],
  more: 0,
  others: [],
  unavailable: [],
  skipped: [],
  quarantined: [],
  unclear: false,
}

/** Finds hits for the whole query and, if it has several clauses, for each clause, so that no need displaces another. */
export async function findKeywordHits(
  query: ParsedQuery,
  request: SearchRequest,
  limit: number,
  state: LedgerState,
  context: Context,
): Promise<KeywordHits> {
  const find = (text: string) => findHits({ ...query, text }, request, limit, state, context)
  const whole = await find(query.text)
  const clauses = context.settings.autoLoad === 'all' ? [] : splitClauses(query.text).filter(isNeed)
  if (clauses.length < 2 || clauses.length > mostNeeds || whole.hits.some(({ named }) => named)) return whole
  const parts: KeywordHits[] = []
  for (const clause of clauses) parts.push(await find(clause))
  const best = parts
    .flatMap(({ hits: [first], unclear }) => (first?.clear && !unclear ? [first] : []))
    // An introduction ("I am preparing a release") is covered less than a need.
    .sort((first, second) => second.coverage - first.coverage)
  if (best.length === 0) return whole
  const [first, ...rest] = whole.unclear ? [] : whole.hits
  const inOrder = [...(first ? [first] : []), ...best, ...rest]
  const hits = [...new Map(inOrder.map((hit) => [hit.entry.id, hit])).values()].slice(0, limit)
  const others = [...whole.hits, ...parts.flatMap((part) => part.hits.slice(1))].map(({ entry }) => entry)
  const named = [...new Set([...others, ...whole.others])].filter(
    (entry) => !hits.some((hit) => hit.entry === entry),
  )
  const weak = whole.weak.filter((id) => !hits.some(({ entry }) => entry.id === id))
  return { ...whole, hits, weak, others: named.slice(0, mostOthers.clear), unclear: false }
}

/** A clause of one word continues the one before: "read and write files". */
function isNeed(clause: string): boolean {
  return clause.split(/\s+/).length > 1
}

async function findHits(
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
  const { answer, load } = computeShares(cutOff)
  // `all` reproduces systems that load every hit. They do not distinguish clear hits, or hits that are only shown.
  const shares = { answer: autoLoad === 'all' ? load : answer, load }
  const cutTo = (most: number, least = shares.answer, bestAway = sorted.bestAway) =>
    cutHits({ ...sorted, bestAway }, most, { answer: least, load }, (id) => isOnSurface(state, id))
  const isClear = ({ coverage }: { readonly coverage: number }) =>
    autoLoad === 'all' || isClearHit({ coverage })
  const considered = cutTo(consideredHits).hits
  const near = cutTo(decisiveHits, load).hits
  // If a better tool is away, possibly no hit is left. Then the answer names the nearest.
  const decisive = near.length > 0 || autoLoad === 'all' ? near : cutTo(decisiveHits, load, 0).hits
  const unclear = decisive.length > 0 && (near.length === 0 || !decisive.some(isClear))
  const best = considered.reduce((highest, { score }) => Math.max(highest, score), 0)
  // Name an unusable tool only if it would be the first and a clear answer.
  const wouldFit = (each: { readonly score: number; readonly coverage: number }) =>
    decisive.length === 0 || (isClear(each) && (unclear || each.score >= best))
  const unavailable = takeFirstOfSource(sorted.unavailable.filter(wouldFit)).slice(0, MAX_AWAY)
  const skipped = sorted.skipped.filter(
    (each) => wouldFit(each) && each.score >= sorted.bestAway * shares.answer,
  )
  const fromNamed =
    unclear || decisive.length === 0 ? sorted.ready.filter(({ isOfNamedServer }) => isOfNamedServer) : []
  if (fromNamed.length > 0) {
    // The query names a server: show what comes nearest there, even if it is far.
    const hits = fromNamed
      .slice(0, Math.min(limit, nearestHits))
      .map((hit, _, [first]) => (isLoadable(hit, first) ? hit : { ...hit, sure: false }))
    const quarantined = await listQuarantinedSources(query, request, context)
    const others = fromNamed.slice(hits.length, hits.length + mostOthers.unclear).map(({ entry }) => entry)
    return { ...NONE, hits, others, unavailable, skipped, quarantined, unclear: true }
  }
  const listOthers = (shown: readonly Hit[], most: number): Entry[] =>
    autoLoad === 'all'
      ? []
      : sorted.ready
          .map(({ entry }) => entry)
          .filter(({ id }) => !isOnSurface(state, id) && !shown.some(({ entry }) => entry.id === id))
          .slice(0, most)
  if (unclear) {
    const nearest = selectNearest(decisive, Math.min(limit, nearestHits))
    const hits = nearest.map((hit) => (isLoadable(hit, nearest[0]) ? hit : { ...hit, sure: false }))
    const quarantined = await listQuarantinedSources(query, request, context)
    const others = listOthers(hits, mostOthers.unclear)
    return { hits, more: 0, weak: [], others, unavailable, skipped, quarantined, unclear: hits.length > 0 }
  }
  const cut = cutTo(limit)
  const quarantined = cut.hits.length === 0 ? await listQuarantinedSources(query, request, context) : []
  const isLoaded = ({ entry }: Hit) => isOnSurface(state, entry.id)
  const fitting = limit < consideredHits ? limitLearned(considered, limit) : cut.hits
  const named = fitting.filter((hit) => hit.named).length
  const ordered =
    autoLoad === 'all'
      ? fitting
      : sortClearFirst(
          fitting,
          ({ called }) => called,
          ({ learnedOnly }) => !learnedOnly,
        )
  // Named tools first, then tools that the model does not have yet.
  const rankPlace = (hit: Hit) => (hit.named ? 0 : isLoaded(hit) ? 2 : 1)
  const hits = [...ordered]
    .sort((first, second) => rankPlace(first) - rankPlace(second))
    .slice(0, Math.max(limit, named))
    .map((hit) => ({ ...hit, clear: isClear(hit) }))
  const isMore = (hit: Hit) =>
    isClear(hit) && !isLoaded(hit) && !hits.some(({ entry }) => entry === hit.entry)
  const more = cutTo(Number.POSITIVE_INFINITY).hits.filter(isMore).length
  const others = listOthers(hits, hits.length > 0 ? mostOthers.clear : mostOthers.unclear)
  return { hits, weak: cut.weak, more, others, unavailable, skipped, quarantined, unclear }
}

/** Keeps one tool of each server. */
function takeFirstOfSource<T extends { readonly source: string }>(away: readonly T[]): T[] {
  return away.filter(({ source }, place) => away.findIndex((other) => other.source === source) === place)
}

/** Ranks and sorts tools. Ranks more of them if too few can be used. */
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

/** Ranks quarantined tools in a separate search, so that they do not influence other results. */
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

/** Lists all tools with equal scores, for a query that has only filters. */
function listEveryTool({ catalogue }: Context): Ranked[] {
  return [...catalogue.entries()]
    .map((entry): Ranked => ({ id: entry.id, score: 1, relevance: 1 }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** A tool that matches. */
interface Hit extends Candidate {
  /** The query contains its name in some spelling, so its score is not compared with others. */
  readonly called: boolean
  /** Only earlier use or similarity found it; the words of its definition do not match. */
  readonly learnedOnly: boolean
  readonly ownScore: number
  readonly coverage: number
  readonly isOfNamedServer: boolean
}

/** A tool that matches, but whose source is away. */
interface AwayTool {
  readonly name: string
  readonly source: string
  readonly state: string
  readonly score: number
  readonly coverage: number
}

interface SortedHits {
  readonly hits: readonly Hit[]
  /** Tools that can be used, in the order of the ranking, however weak. */
  readonly ready: readonly Hit[]
  readonly weak: readonly Hit[]
  readonly unavailable: readonly AwayTool[]
  readonly skipped: readonly (Skipped & Pick<AwayTool, 'score' | 'coverage'>)[]
  /** The best score of a matching tool that cannot be used. Hits are compared with it, too: weak ones are not answers. */
  readonly bestAway: number
}

/** Sorts ranked tools into hits, weak hits, tools that are away, and skipped ones. Denied tools are dropped. */
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
  const ready: Hit[] = []
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
    isOfNamedServer = false,
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
      // Name it, so that the answer does not wrongly say that there is no such tool.
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
      // A tool found only through usage is shown, but not loaded, because usage can be manipulated.
      sure: ownRelevance >= cutOff && (autoLoad !== 'certain' || certainty >= certaintyThreshold),
      learnedOnly: ownRelevance < cutOff,
      ownScore,
      coverage,
      isOfNamedServer,
      score,
    }
    ready.push(hit)
    if (request.includeLoaded === false && isOnSurface(state, id)) {
      if (fits) loadedOnes.push(hit)
    } else if (fits) hits.push(hit)
    else if (relevance >= cutOff * weakShare && weak.length < limit) weak.push(hit)
  }
  // If nothing else matches, list loaded tools, so that the answer does not deny that they exist.
  return { hits: hits.length > 0 ? hits : loadedOnes, ready, weak, unavailable, skipped, bestAway }
}

/** Cuts hits to the limit: named tools first, then those with a score near the best. */
export function cutHits(
  { hits, weak, bestAway }: Pick<SortedHits, 'hits' | 'weak' | 'bestAway'>,
  limit: number,
  shares: Shares,
  isLoadedTool: (id: string) => boolean,
): Pick<KeywordHits, 'weak'> & { readonly hits: readonly Hit[] } {
  const byName = hits.filter((hit) => hit.named)
  const byWords = hits.filter((hit) => !hit.named)
  const isFresh = ({ entry }: Hit) => !isLoadedTool(entry.id)
  // If the query names a tool, hits that only match its words are not answers.
  const fitting = byWords.filter((hit) => !hit.called)
  const best = byName.length > 0 ? Number.POSITIVE_INFINITY : Math.max(bestAway, findBestScore(fitting))
  const isStrong = (hit: Hit) => isNearBest(hit, best, shares) || (byName.length === 0 && hit.called)
  const strong = limitLearned(byWords.filter(isStrong), limit)
  // Tools that the model does not have yet come first. Both halves keep the order of the ranking.
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

/** Finds the best score of hits that match by words, or of all hits if none does. */
function findBestScore(hits: readonly Hit[]): number {
  const byWords = hits.filter(({ learnedOnly }) => !learnedOnly)
  return (byWords.length > 0 ? byWords : hits).reduce((best, { ownScore }) => Math.max(best, ownScore), 0)
}

/** Limits hits that were found only through usage: to the places that word matches leave, but at least one. */
function limitLearned(hits: readonly Hit[], limit: number): Hit[] {
  let left = Math.max(1, limit - hits.filter(({ learnedOnly }) => !learnedOnly).length)
  return hits.filter(({ learnedOnly }) => !learnedOnly || left-- > 0)
}

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
  if (wanted === undefined || same(entry.tool.domain ?? entry.source, wanted)) return true
  return same('mcp', wanted) && entry.source !== ''
}
