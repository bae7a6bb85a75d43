/** The tools that fit a query's words: ranked, sorted out by whether they can be used, and cut to those that answer. */
import type { Entry, LeftOut } from '../../catalogue/catalogue.js'
import { isOnSurface, type LedgerState } from '../../ledger/fold.js'
import { clearCoverage } from '../../search/coverage.js'
import type { ParsedQuery } from '../../search/query.js'
import type { Ranked } from '../../search/searcher.js'
import { certainFrom } from '../../search/thresholds.js'
import type { Context } from '../../surface/context.js'
import type { SearchRequest } from '../../surface/meta-tools.js'
import type { Candidate } from './candidate.js'
import { awayState } from './late-sources.js'
import { exactNames } from './named-in-query.js'

/** Hits the ranker is asked for. Most are never looked at, but some of the first may be loaded, denied or away. */
const RANKED = 500
/** Where these leave too few that can be used, so many times more are asked for. */
const FURTHER = 8
/** Tools that are named where nothing clearly does what was asked for. */
const NEAREST = 3
/** The score of a tool that the query names. */
const EXACT = Number.MAX_VALUE
/** Where nothing reaches the cut-off, tools that come this close to it are named. */
const SUGGESTED = 0.75
/** Hits with less than this share of the best score are named, not loaded: half of it at the usual cut-off, and as that is set. */
const rivalShare = (cutOff: number) => Math.min(1, cutOff / 0.7)

export interface KeywordHits {
  readonly hits: readonly Candidate[]
  /** Ids of tools that fit less well: they are named only. */
  readonly weak: readonly string[]
  /** Tools that fit as well and did not find room. */
  readonly more: number
  /** Tools that fit as well as the best hit, or where nothing clearly fits, but whose source is away. */
  readonly unavailable: readonly { readonly name: string; readonly state: string }[]
  /** What fits as well, or where nothing clearly fits, and has a definition that cannot be used. */
  readonly leftOut: readonly LeftOut[]
  /** The hits are only the nearest there is: none accounts for enough of what was asked for. */
  readonly unclear: boolean
}

const NONE: KeywordHits = { hits: [], weak: [], more: 0, unavailable: [], leftOut: [], unclear: false }

export async function keywordHits(
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
    ? await sortedTools(query, request, limit, state, context)
    : sortOut(everyTool(context), query, request, limit, state, context)
  const { cutOff, autoLoad } = context.settings
  const cutTo = (most: number) => cutHits(sorted, most, rivalShare(cutOff), (id) => isOnSurface(state, id))
  const cut = cutTo(limit)
  // Who wants every answer loaded reproduces a system that makes no such difference.
  const unclear =
    autoLoad !== 'all' && cut.hits.length > 0 && cut.hits.every(({ coverage }) => coverage < clearCoverage)
  const best = cut.hits.reduce((highest, { score }) => Math.max(highest, score), 0)
  // Beside what can be used, one that is away is named where it would have come first.
  const wouldBeFirst = ({ score }: { readonly score: number }) => unclear || score >= best
  const unavailable = sorted.unavailable.filter(wouldBeFirst)
  const leftOut = sorted.leftOut.filter(
    (each) => wouldBeFirst(each) && each.score >= sorted.bestAway * rivalShare(cutOff),
  )
  return unclear
    ? { ...cutTo(Math.min(limit, NEAREST)), more: 0, weak: [], unavailable, leftOut, unclear }
    : { ...cut, unavailable, leftOut, unclear }
}

/** Ranked and sorted out; again with more of them, where what is denied or away has left too few. */
async function sortedTools(
  query: ParsedQuery,
  request: SearchRequest,
  limit: number,
  state: LedgerState,
  context: Context,
): Promise<SortedHits> {
  for (let most = RANKED; ; most *= FURTHER) {
    const ranked = await rankedTools(query, request, most, context)
    const sorted = sortOut(ranked, query, request, limit, state, context)
    const last = ranked.at(-1)
    const mayBeMore = ranked.length >= most && last !== undefined && last.relevance >= context.settings.cutOff
    if (sorted.hits.length >= limit || !mayBeMore) return sorted
  }
}

async function rankedTools(
  { text, must, ...query }: ParsedQuery,
  request: SearchRequest,
  limit: number,
  context: Context,
): Promise<readonly Ranked[]> {
  return context.rank({
    text,
    must,
    limit,
    accept: (id) => {
      const entry = context.catalogue.get(id) ?? context.catalogue.leftOuts.get(id)?.entry
      return entry !== undefined && passes(entry, query, request)
    },
  })
}

/** A query of filters alone asks for everything that passes them. */
function everyTool({ catalogue }: Context): Ranked[] {
  return [...catalogue.entries()]
    .map((entry): Ranked => ({ id: entry.id, score: 1, relevance: 1 }))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
}

/** A tool that fits. */
interface Hit extends Candidate {
  /** Its name is asked for in some spelling: what it scores says nothing of how well others fit. */
  readonly called: boolean
  readonly coverage: number
}

interface SortedHits {
  readonly hits: readonly Hit[]
  readonly weak: readonly Hit[]
  readonly unavailable: readonly { readonly name: string; readonly state: string; readonly score: number }[]
  readonly leftOut: readonly (LeftOut & { readonly score: number })[]
  /** The best score of a tool whose source is away or that cannot be used: next to it, what fits half as well is no answer either. */
  readonly bestAway: number
}

/** Ready, away, denied, weak: which of the ranked tools can answer. */
function sortOut(
  ranked: readonly Ranked[],
  query: ParsedQuery,
  request: SearchRequest,
  limit: number,
  state: LedgerState,
  context: Context,
): SortedHits {
  const { cutOff, autoLoad } = context.settings
  const named = exactNames(query.text, context)
  const hits: Hit[] = []
  const weak: Hit[] = []
  const loadedOnes: Hit[] = []
  const unavailable: { name: string; state: string; score: number }[] = []
  const leftOut: (LeftOut & { score: number })[] = []
  const seen = new Set<string>()
  let bestAway = 0
  const inOrder = [...[...named.keys()].map((id): Ranked => ({ id, score: EXACT, relevance: 1 })), ...ranked]
  for (const {
    id,
    score,
    relevance,
    certainty = relevance,
    coverage = 1,
    ownRelevance = relevance,
  } of inOrder) {
    const entry = context.catalogue.get(id)
    const left = entry ? undefined : context.catalogue.leftOuts.get(id)
    if (left && relevance >= cutOff && leftOut.length < limit && !seen.has(id)) {
      seen.add(id)
      if (passes(left.entry, query, request) && context.gate.visible(left.entry)) {
        bestAway = Math.max(bestAway, score)
        leftOut.push({ ...left, score })
      }
    }
    if (!entry || seen.has(id) || !passes(entry, query, request)) continue
    seen.add(id)
    const fits = relevance >= cutOff
    const availability = context.gate.availability(entry, 'load')
    if (availability !== 'ready') {
      // Where nothing else fits, "there is no such tool" would be untrue of a server that is only away.
      const isAway = !['denied', 'vanished', 'quarantined'].includes(availability)
      if (!isAway || !fits) continue
      bestAway = Math.max(bestAway, score)
      if (unavailable.length < limit)
        unavailable.push({ name: entry.wireName, state: awayState(entry, availability, context), score })
      continue
    }
    const { alias, deprecated = false } = named.get(id) ?? {}
    const hit: Hit = {
      entry,
      asked: request.query,
      alias,
      deprecated,
      explicit: false,
      named: score === EXACT,
      called: relevance === 1,
      // What only its use speaks for is shown and not loaded: uses can be farmed.
      sure: ownRelevance >= cutOff && (autoLoad !== 'certain' || certainty >= certainFrom),
      coverage,
      score,
    }
    if (request.includeLoaded === false && isOnSurface(state, id)) {
      if (fits) loadedOnes.push(hit)
    } else if (fits) hits.push(hit)
    else if (relevance >= cutOff * SUGGESTED && weak.length < limit) weak.push(hit)
  }
  // Where nothing else fits, "there is no such tool" would be untrue of one that is loaded.
  return { hits: hits.length > 0 ? hits : loadedOnes, weak, unavailable, leftOut, bestAway }
}

/** Keeps what answers: named tools, then those that score near the best, as many as the limit allows. */
export function cutHits(
  { hits, weak, bestAway }: Omit<SortedHits, 'unavailable' | 'leftOut'>,
  limit: number,
  share: number,
  isLoadedTool: (id: string) => boolean,
): Omit<KeywordHits, 'unavailable' | 'leftOut' | 'unclear' | 'hits'> & { readonly hits: readonly Hit[] } {
  const byName = hits.filter((hit) => hit.named)
  const byWords = hits.filter((hit) => !hit.named)
  const isFresh = ({ entry }: Hit) => !isLoadedTool(entry.id)
  // Where a tool was named, what its words also fit is no answer to the question.
  const fitting = byWords.find((hit) => !hit.called)
  const best = byName.length > 0 ? Number.POSITIVE_INFINITY : Math.max(bestAway, fitting?.score ?? 0)
  const isStrong = (hit: Hit) => hit.score >= best * share || (byName.length === 0 && hit.called)
  const strong = byWords.filter(isStrong)
  // Tools the model does not have yet come first; within each half the ranking stands.
  const fresh = strong.filter(isFresh)
  const ranking = [...fresh, ...strong.filter((hit) => !isFresh(hit))]
  const kept = [...byName, ...ranking.slice(0, Math.max(0, limit - byName.length))]
  const rest = hits.length > 0 ? byWords.filter((hit) => !isStrong(hit) && isFresh(hit)) : weak
  return {
    hits: kept,
    weak: rest.slice(0, Math.max(0, limit - kept.length)).map(({ entry }) => entry.id),
    more: fresh.filter((hit) => !kept.includes(hit)).length,
  }
}

/** Whether a tool meets the filters of a query. */
export function passes(
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
