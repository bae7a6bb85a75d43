/** How much of what was asked for an answer accounts for: what decides whether it is given as an answer or as the nearest there is. */

/** Further words of a request add detail: who accounts for this many that are rare accounts for the request. */
const briefWords = 2.5
/** Beside how strongly a tool speaks of the words, how many of them it holds at all. */
const heldShare = 0.5

/** Coverage below which the best answer does not clearly do what was asked for. docs/search-measured.md has the curve. */
export const clearCoverage = 0.7

/**
 * From 0 to 1. Relevance compares with the whole query, which is unfair to a long one; the bare score grows with its length. This
 * compares with the query up to a length that is enough to say what is wanted. `asked` is the worth of all its words, `rare` that of
 * a word which no tool holds.
 */
export function createCoverage(asked: number, rare: number): (score: number, certainty: number) => number {
  const brief = Math.min(asked, briefWords * rare)
  return (score, certainty) =>
    brief === 0 ? 0 : Math.min(1, (score + heldShare * certainty * asked) / ((1 + heldShare) * brief))
}
