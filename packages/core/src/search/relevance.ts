/** From a score to a figure between 0 and 1 that means the same for every query, so that one cut-off can be set on it. */
import type { AskedTerm } from './asked-terms.js'

/** For requests in prose: the share of what was asked for at which relevance is one half. */
const half = 0.205
/** For a few keywords: what full coverage by words that occur but are not the point is worth. */
const coverageWorth = 0.7
/** Queries of at most this many words are keywords, from that many on prose; between them it is weighed. */
const keywordLimit = 3
const proseLimit = 5
/** Half of the pairs of an unspaced script straddle two words and are in no document for that reason alone. */
const unspacedShare = 0.5

/** Certainty is for exact names. */
const mostLikely = 0.99
/** A concept says that a word is not off the subject; that is less than finding the word. */
const conceptShare = 0.5

/** What counts as covering a query, out of its terms. */
export function coverageTerms(terms: readonly AskedTerm[]): AskedTerm[] {
  return terms.flatMap((term) =>
    term.kind === 'word'
      ? [term]
      : term.kind === 'concept'
        ? [{ ...term, weight: term.weight * conceptShare }]
        : [],
  )
}

export interface Relevance {
  /** Whether `of` needs to know what a tool covers; for prose it does not. */
  readonly needsCoverage: boolean
  /** `covered` is the score with every occurrence counted as an ordinary one, however prominent. */
  of(score: number, covered: number): number
}

/**
 * Prose is mostly circumstance, and no tool accounts for all of it: a small share of the words suffices there. Of three keywords
 * one is not enough, however prominent in the tool's name. A word that no tool holds is worth most, so a query about something
 * else stays low even where one of its words is found. docs/search.md says what the cut-off keeps and what it turns away.
 */
export function createRelevance(
  terms: readonly AskedTerm[],
  worthOf: (term: AskedTerm) => number,
  isKnown: (term: AskedTerm) => boolean,
): Relevance {
  let asked = 0
  let words = 0
  for (const term of terms) {
    if (term.kind !== 'word') continue
    words += 1
    asked += worthOf(term) * (term.unspaced && !isKnown(term) ? unspacedShare : 1)
  }
  const prose = Math.min(1, Math.max(0, (words - keywordLimit) / (proseLimit - keywordLimit)))
  return {
    needsCoverage: prose < 1,
    of(score, covered) {
      if (score <= 0 || asked === 0) return 0
      const likely = score / (score + half * asked)
      const share = Math.min(mostLikely, (coverageWorth * covered) / asked)
      return prose * likely + (1 - prose) * share
    },
  }
}
