/** All weights of the ranking that were chosen on data. `npm run bench -- tuning` shows how sensitive the results are to them. */

export interface Tuning {
  /** Weight of an occurrence in each field, before saturation. */
  readonly fields: Readonly<Record<FieldName, number>>
  /** Weight of a concept relative to the word that leads to it: actions and topics. */
  readonly action: number
  readonly topic: number
  /** Weight of a synonym relative to the word of the query. */
  readonly synonym: number
  /** Weight of two neighbouring words relative to each of them. */
  readonly pair: number
  /** Share of a long query's score that its best clause decides. */
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

/** The datasets lack alias, domain, title, hint, snippet and usage. Their weights are set by analogy with the other fields. */
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

/** Relevance from which on a hit is an answer. docs/concepts/how-search-ranks.md shows what it keeps and what it drops. */
export const defaultCutOff = 0.35
/** Certainty from which on `autoLoad: 'certain'` loads a hit. Below, the search offers it by its signature. */
export const certaintyThreshold = 0.5
/** Shares of the best score that other hits need. */
export interface Shares {
  /** Needed to be an answer if the hit is clear: 9/20 at the default cut-off. */
  readonly answer: number
  /** Needed to be an answer in any case, and to be loaded: 11/20 at the default cut-off. Below, the hit is shown by its signature. */
  readonly load: number
}

/** Scales the shares with the cut-off. */
export function computeShares(cutOff: number): Shares {
  return { answer: Math.min(1, cutOff / 0.78), load: Math.min(1, cutOff / 0.64) }
}
