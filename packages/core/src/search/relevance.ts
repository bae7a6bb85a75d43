/** From a score to a figure between 0 and 1 that means the same for every query, so that one cut-off can be set on it. */
import type { AskedTerm } from './asked-terms.js'

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
