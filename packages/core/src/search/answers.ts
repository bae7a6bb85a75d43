/** What of a ranking answers a search: what comes near the best, what clearly does it first; where nothing does, the nearest there is. */

import type { AskedTerm } from './asked-terms.js'
import { clearCoverage } from './coverage.js'
import { type Shares, sharesAt } from './tuning.js'

/** Hits among which those that clearly do what was asked for go first. */
export const consideredHits = 8
/** The best so many decide whether something clearly does it; where nothing does, so many of them are named. */
export const decisiveHits = 4
export const nearestHits = 3
/** What accounts for less is not even the nearest. From `loaded` on it may be loaded, if it accounts for nearly as much as the very nearest. */
const leastNear = { named: 0.2, loaded: 0.3, besideNearest: 0.8 } as const

/** Beside what is clear, what covers less than this share of what the best does is no answer. */
const leastBeside = 0.5

export interface RankedHit {
  readonly score: number
  readonly relevance: number
  readonly coverage?: number
}

export interface Answers<Hit> {
  readonly answers: readonly Hit[]
  /** They are only the nearest there is: none accounts for enough of what was asked for. */
  readonly unclear: boolean
}

export function isClear({ coverage = 1 }: { readonly coverage?: number }): boolean {
  return coverage >= clearCoverage
}

/** Whether a hit is an answer beside the best score: what comes near it; what comes less near, where it is clear. */
export function isNear(
  hit: { readonly score: number; readonly coverage?: number },
  best: number,
  { answer, load }: Shares,
): boolean {
  return hit.score >= best * load || (hit.score >= best * answer && isClear(hit))
}

/** Those that account for the most of what was asked for; none where all are about something else. */
export function nearestOf<Hit extends { readonly coverage?: number }>(
  hits: readonly Hit[],
  most = nearestHits,
): Hit[] {
  const coverageOf = ({ coverage = 1 }: Hit) => coverage
  return hits
    .filter((hit) => coverageOf(hit) >= leastNear.named)
    .sort((first, second) => coverageOf(second) - coverageOf(first))
    .slice(0, most)
}

/** Whether one of the nearest may be loaded. */
export function isLoadable(
  { coverage = 1 }: { readonly coverage?: number },
  nearest: { readonly coverage?: number } = {},
): boolean {
  return coverage >= Math.max(leastNear.loaded, leastNear.besideNearest * (nearest.coverage ?? 1))
}

/**
 * What is clear stands before what is not; both in the order in which they come. `named` are answers however little they cover; what is
 * `unspoken` for by its words does not make others look worse.
 */
export function clearFirst<Hit extends { readonly coverage?: number }>(
  hits: readonly Hit[],
  isNamed: (hit: Hit) => boolean = () => false,
  isSpoken: (hit: Hit) => boolean = () => true,
): Hit[] {
  const coverageOf = ({ coverage = 1 }: Hit) => coverage
  const most = hits.filter(isSpoken).reduce((best, hit) => Math.max(best, coverageOf(hit)), 0)
  const kept = hits.filter((hit) => isClear(hit) || isNamed(hit) || coverageOf(hit) >= most * leastBeside)
  return [...kept.filter(isClear), ...kept.filter((hit) => !isClear(hit))]
}

/** Of hits in order, where all can be used and none is loaded yet: what a search shows of them. */
export function selectAnswers<Hit extends RankedHit>(ranked: readonly Hit[], cutOff: number): Answers<Hit> {
  const hits = ranked.filter(({ relevance }) => relevance >= cutOff)
  const best = hits.reduce((most, { score, relevance }) => (relevance < 1 ? Math.max(most, score) : most), 0)
  const shares = sharesAt(cutOff)
  const considered = hits.filter((hit) => isNear(hit, best, shares)).slice(0, consideredHits)
  const decisive = considered.slice(0, decisiveHits).filter(({ score }) => score >= best * shares.load)
  if (!decisive.some(isClear)) {
    const answers = nearestOf(decisive)
    return { answers, unclear: answers.length > 0 }
  }
  return { answers: clearFirst(considered, ({ relevance }) => relevance === 1), unclear: false }
}

// From a score to a figure between 0 and 1 that means the same for every query, so that one cut-off can be set on it.

/** The share of what was asked for at which relevance is one half. At the default cut-off the share is 0.12. */
const half = 0.22
/** Half of the pairs of an unspaced script straddle two words and are in no document for that reason alone. */
const shareOfUnknownPairs = 0.5
/** A name that no tool holds ("Berlin") is a value for some parameter: that no tool speaks of it says little. */
const shareOfUnknownNames = 0.2
/** A word that says little ("tomorrow") is little missed. */
const shareOfWeakWords = 0.5
/** Certainty is for exact names. */
const mostLikely = 0.99

/** A word of the query with what it is worth: relevance and certainty are shares of their sum. */
export interface WeighedWord extends Pick<AskedTerm, 'hash' | 'concepts' | 'detail'> {
  readonly worth: number
}

export function weighWords(
  terms: readonly AskedTerm[],
  worthOf: (term: AskedTerm) => number,
  isKnown: (term: AskedTerm) => boolean,
  isName: (term: AskedTerm) => boolean,
): WeighedWord[] {
  const shareOf = (term: AskedTerm) =>
    isKnown(term) ? 1 : term.unspaced ? shareOfUnknownPairs : isName(term) ? shareOfUnknownNames : 1
  const words: WeighedWord[] = []
  for (const term of terms) {
    if (term.kind !== 'word') continue
    const worth = worthOf(term) * shareOf(term) * (term.weight < 1 ? shareOfWeakWords : 1)
    words.push({ hash: term.hash, concepts: term.concepts, detail: term.detail, worth })
  }
  return words
}

export function worthOfAll(words: readonly WeighedWord[]): number {
  return words.reduce((sum, { worth }) => sum + worth, 0)
}

/**
 * Relevance of a score: what the tool accounts for, out of what all words of the query are worth. A word that no tool holds is
 * worth most, so a query about something else stays low even where one of its words is found. Grows with the score, so it never
 * reorders. docs/concepts/how-search-ranks.md says what the cut-off keeps, what it turns away, and what else was tried.
 */
export function createRelevance(words: readonly WeighedWord[]): (score: number) => number {
  const asked = worthOfAll(words)
  return (score) => (score <= 0 ? 0 : Math.min(mostLikely, score / (score + half * asked)))
}
