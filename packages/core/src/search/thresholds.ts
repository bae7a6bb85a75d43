/** What a score is worth, where a host does not say: apart from the ranker, which is loaded with the first search. */

/** Relevance from which on a hit is an answer. docs/search.md says what it keeps and what it turns away. */
export const defaultCutOff = 0.35
/** Certainty from which on `autoLoad: 'certain'` loads an answer; below it is offered by its signature. */
export const certainFrom = 0.5
/** Hits with less than this share of the best score are no answer beside it: three fifths at the usual cut-off, and as that is set. */
export const rivalShare = (cutOff: number) => Math.min(1, cutOff / 0.58)
