/** Every weight of the ranking that was chosen on data, in one place. `npm run bench -- tuning` shows how far they carry. */

export interface Tuning {
  /** How much an occurrence in each field counts, before saturation. */
  readonly fields: Readonly<Record<FieldName, number>>
  /** How much a concept counts beside the word that leads to it: one for what is done, one for what it is done with. */
  readonly action: number
  readonly topic: number
  /** How much a word of the tools counts beside the one that people say for it. */
  readonly synonym: number
  /** How much two neighbouring words count beside each of them. */
  readonly pair: number
  /** The share of the score of a long query that its best clause decides. */
  readonly clause: number
}

export type FieldName =
  | 'name'
  | 'alias'
  | 'server'
  | 'domain'
  | 'title'
  | 'hint'
  | 'snippet'
  | 'lead'
  | 'description'
  | 'parameter names'
  | 'parameters'
  | 'server description'
  | 'usage'

/** Fields that the datasets do not have (alias, domain, title, hint, snippet, usage) are set by analogy with those they have. */
export const defaultTuning: Tuning = {
  fields: {
    name: 2,
    alias: 2,
    server: 4,
    domain: 1,
    title: 1,
    hint: 1,
    snippet: 0.65,
    lead: 0.65,
    description: 0.4,
    'parameter names': 0.6,
    parameters: 0.4,
    'server description': 0.45,
    usage: 1.1,
  },
  action: 0.35,
  topic: 0.5,
  synonym: 0.5,
  pair: 0.3,
  clause: 0.35,
}

// What a score is worth, where a host does not say: apart from the ranker, which is loaded with the first search.

/** Relevance from which on a hit is an answer. docs/concepts/how-search-ranks.md says what it keeps and what it turns away. */
export const defaultCutOff = 0.35
/** Certainty from which on `autoLoad: 'certain'` loads an answer; below it is offered by its signature. */
export const certaintyThreshold = 0.5
/** What share of the best score a hit needs beside it, at the usual cut-off and as that is set. */
export interface Shares {
  /** To be an answer, if it is clear: nine twentieths. */
  readonly answer: number
  /** To be an answer in any case, and to be loaded: eleven twentieths. Below that it is shown by its signature. */
  readonly load: number
}

export function computeShares(cutOff: number): Shares {
  return { answer: Math.min(1, cutOff / 0.78), load: Math.min(1, cutOff / 0.64) }
}
