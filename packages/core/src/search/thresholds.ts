/** What a score is worth, where a host does not say: apart from the ranker, which is loaded with the first search. */

/** Relevance from which on a hit is an answer. docs/concepts/how-search-ranks.md says what it keeps and what it turns away. */
export const defaultCutOff = 0.35
/** Certainty from which on `autoLoad: 'certain'` loads an answer; below it is offered by its signature. */
export const certainFrom = 0.5
/** What share of the best score a hit needs beside it, at the usual cut-off and as that is set. */
export interface Shares {
  /** To be an answer, if it is clear: nine twentieths. */
  readonly answer: number
  /** To be an answer in any case, and to be loaded: eleven twentieths. Below that it is shown by its signature. */
  readonly load: number
}

export function sharesAt(cutOff: number): Shares {
  return { answer: Math.min(1, cutOff / 0.78), load: Math.min(1, cutOff / 0.64) }
}
