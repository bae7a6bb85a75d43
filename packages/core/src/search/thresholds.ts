/** What a score is worth, where a host does not say: apart from the ranker, which is loaded with the first search. */

/** Relevance from which on a hit is an answer. docs/search.md says what it keeps and what it turns away. */
export const defaultCutOff = 0.35
/** Certainty from which on an answer is loaded; below it is offered by its signature. docs/search.md has the trade. */
export const defaultAutoLoad = 0.5
