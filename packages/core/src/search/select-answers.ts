/** Selects the hits of a ranking that answer a search. */

import {
  clearCoverage,
  computeShares,
  consideredHits,
  decisiveHits,
  minimumCoverage,
  minimumShareOfBest,
  nearestHits,
  type Shares,
} from './tuning.js'

export interface RankedHit {
  readonly score: number
  readonly relevance: number
  readonly coverage?: number
}

export interface Answers<Hit> {
  readonly answers: readonly Hit[]
  /** No hit covers enough of the query: the answers are only the nearest tools. */
  readonly unclear: boolean
}

/** Selects what a search shows, assuming that all hits are usable and none is loaded yet. */
export function selectAnswers<Hit extends RankedHit>(ranked: readonly Hit[], cutOff: number): Answers<Hit> {
  const hits = ranked.filter(({ relevance }) => relevance >= cutOff)
  const best = hits.reduce((most, { score, relevance }) => (relevance < 1 ? Math.max(most, score) : most), 0)
  const shares = computeShares(cutOff)
  const considered = hits.filter((hit) => isNearBest(hit, best, shares)).slice(0, consideredHits)
  const decisive = considered.slice(0, decisiveHits).filter(({ score }) => score >= best * shares.load)
  if (!decisive.some(isClear)) {
    const answers = selectNearest(decisive)
    return { answers, unclear: answers.length > 0 }
  }
  return { answers: sortClearFirst(considered, ({ relevance }) => relevance === 1), unclear: false }
}

export function isClear({ coverage = 1 }: { readonly coverage?: number }): boolean {
  return coverage >= clearCoverage
}

/** Checks whether a hit is close enough to the best score to be an answer. A clear hit may be further away. */
export function isNearBest(
  hit: { readonly score: number; readonly coverage?: number },
  best: number,
  { answer, load }: Shares,
): boolean {
  return hit.score >= best * load || (hit.score >= best * answer && isClear(hit))
}

/** Selects the hits with the highest coverage; none if all are about something else. */
export function selectNearest<Hit extends { readonly coverage?: number }>(
  hits: readonly Hit[],
  most = nearestHits,
): Hit[] {
  return hits
    .filter((hit) => getCoverage(hit) >= minimumCoverage.named)
    .sort((first, second) => getCoverage(second) - getCoverage(first))
    .slice(0, most)
}

/** Checks whether one of the nearest hits may be loaded. */
export function isLoadable(
  { coverage = 1 }: { readonly coverage?: number },
  nearest: { readonly coverage?: number } = {},
): boolean {
  return (
    coverage >= Math.max(minimumCoverage.loaded, minimumCoverage.shareOfNearest * (nearest.coverage ?? 1))
  )
}

/**
 * Puts clear hits before unclear ones and drops hits that cover too little; otherwise keeps the order.
 * A hit named by the query stays, however little it covers. A hit found only through usage does not raise the bar for others.
 */
export function sortClearFirst<Hit extends { readonly coverage?: number }>(
  hits: readonly Hit[],
  isNamed: (hit: Hit) => boolean = () => false,
  isFoundByWords: (hit: Hit) => boolean = () => true,
): Hit[] {
  const most = hits.filter(isFoundByWords).reduce((best, hit) => Math.max(best, getCoverage(hit)), 0)
  const kept = hits.filter(
    (hit) => isClear(hit) || isNamed(hit) || getCoverage(hit) >= most * minimumShareOfBest,
  )
  return [...kept.filter(isClear), ...kept.filter((hit) => !isClear(hit))]
}

function getCoverage({ coverage = 1 }: { readonly coverage?: number }): number {
  return coverage
}
