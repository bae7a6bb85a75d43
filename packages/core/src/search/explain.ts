/** Explains a ranking on demand: the score of a tool by term and field, and why a search missed a tool. */

import { nearest } from '../base/nearest.js'
import { computeFocus, fields, forEachTerm, weighDeprecation } from './fields.js'
import { saturation } from './index/tally.js'
import type { NameMatch } from './name-matches.js'
import type { QueryTerm } from './query-terms.js'
import type { Ranked, RankQuery, SearchDocument } from './searcher.js'
import type { Tuning } from './tuning.js'
import type { Vocabulary } from './words/vocabulary.js'

export interface TermExplanation {
  readonly term: string
  readonly kind: QueryTerm['kind']
  /** Weight of the term in the query times its rarity. */
  readonly weight: number
  /** Number of tools that have the term. */
  readonly tools: number
  /** Amount that the term adds to the score; 0 if the tool does not have it. */
  readonly score: number
  /** The same score by field. The loss through saturation is spread evenly. */
  readonly fields: Readonly<Record<string, number>>
}

export interface Explanation {
  readonly id: string
  /** How the query names the tool, if it does. Named tools come before all others. */
  readonly name?: NameMatch
  /** Terms of the query, the highest score first. */
  readonly terms: readonly TermExplanation[]
  /** Sum of the term scores. */
  readonly words: number
  /** Factor for a tool with another effect than the query asks for ("list", but it deletes) or an unknown effect; absent if it is 1. */
  readonly effect?: number
  /** Factor for a tool of another server than the query names; absent if it is 1. */
  readonly server?: number
  /** Amount that examples and past use add to the score; absent if it is 0. */
  readonly use?: number
  /** Factor for how much of the query the tool covers and how many other words its name has. */
  readonly fit: number
  /** The score that decides the order of tools that the query does not name. In a long query its best clause decides a part. */
  readonly score: number
  readonly relevance: number
}

/** Computes the contribution of each query term to the score of one document. Apart from rounding, the sum is the score. */
export function explain(
  document: SearchDocument,
  terms: readonly QueryTerm[],
  vocabulary: Vocabulary,
  tuning: Tuning,
  weigh: (term: QueryTerm) => { readonly weight: number; readonly tools: number },
  ranked: {
    readonly name: NameMatch | undefined
    readonly score: number
    readonly relevance: number
    readonly use: number
    readonly effect: number
    readonly server: number
    readonly fit: number
  },
): Explanation {
  const byTerm = new Map<number, Map<string, number>>()
  forEachTerm(document, vocabulary, tuning, ({ name }, hash, frequency) => {
    const byField = byTerm.get(hash) ?? new Map<string, number>()
    byTerm.set(hash, byField.set(name, frequency))
  })
  const focus = computeFocus(byTerm.size) * weighDeprecation(document)
  const explained = terms.map((term): TermExplanation => {
    const { weight, tools } = weigh(term)
    const byField = byTerm.get(term.hash) ?? new Map<string, number>()
    const frequency = [...byField.values()].reduce((sum, each) => sum + each * focus, 0)
    const score = frequency === 0 ? 0 : (weight * (saturation + 1) * frequency) / (saturation + frequency)
    const shares = fields.flatMap(({ name }): [string, number][] => {
      const own = byField.get(name)
      return own === undefined ? [] : [[name, (score * own * focus) / frequency]]
    })
    return {
      term: term.text,
      kind: term.kind,
      weight,
      tools,
      score,
      fields: Object.fromEntries(shares),
    }
  })
  explained.sort((first, second) => second.score - first.score || second.weight - first.weight)
  const words = explained.reduce((sum, term) => sum + term.score, 0)
  const { name, score, relevance, use, effect, server, fit } = ranked
  return {
    id: document.id,
    ...(name ? { name } : {}),
    terms: explained,
    words,
    ...(use > 0 ? { use } : {}),
    ...(effect < 1 ? { effect } : {}),
    ...(server < 1 ? { server } : {}),
    fit,
    score,
    relevance,
  }
}

/** Number of names compared to suggest one for an unknown name. */
const comparedLimit = 20_000

export interface MissQuery extends Pick<RankQuery, 'text' | 'accept'> {
  readonly must?: readonly string[]
  /** Number of hits that the search shows. */
  readonly limit: number
  readonly cutOff: number
}

/** The outcome of a search for one tool: the first reason that kept it out, in the order in which the search decides. `rank` starts at 1. */
export type SearchMiss =
  | { readonly outcome: 'found'; readonly id: string; readonly rank: number; readonly relevance: number }
  /** No tool has that name. `nearest` lists similar names. */
  | { readonly outcome: 'unknown-name'; readonly nearest: readonly string[] }
  /** Several tools have that name. Ask again with one of these ids. */
  | { readonly outcome: 'ambiguous-name'; readonly ids: readonly string[] }
  /** The query is empty or has only stop words ("please show me"). */
  | { readonly outcome: 'empty-query'; readonly id: string }
  /** A `+must` word is missing from its name, aliases, server, domain and group. */
  | { readonly outcome: 'must-missing'; readonly id: string; readonly words: readonly string[] }
  /** The tool shares no word and no concept with the query. */
  | { readonly outcome: 'no-shared-word'; readonly id: string; readonly asked: readonly string[] }
  | (MissDetails & { readonly outcome: 'below-cut-off'; readonly cutOff: number })
  /** Other tools fit better. `last` is the id of the last tool that is shown. */
  | (MissDetails & { readonly outcome: 'beyond-limit'; readonly limit: number; readonly last: string })

export interface MissDetails {
  readonly id: string
  readonly rank: number
  readonly relevance: number
  /** Words of the query that the tool has, and words that it does not have. */
  readonly held: readonly string[]
  readonly missing: readonly string[]
}

/** The lookups that `explainMiss` needs from the index. */
export interface MissSource {
  readonly findByName: (name: string) => readonly string[]
  readonly listNames: () => Iterable<string>
  readonly extractTerms: (text: string) => readonly QueryTerm[]
  readonly hasTerm: (id: string, term: QueryTerm) => boolean
  readonly listMissing: (id: string, must: readonly string[]) => readonly string[]
  readonly rank: (query: RankQuery) => readonly Ranked[]
}

export function explainMiss(name: string, query: MissQuery, source: MissSource): SearchMiss {
  const { text, must = [], limit, cutOff, accept } = query
  const ids = source.findByName(name)
  const [id] = ids
  if (id === undefined)
    return { outcome: 'unknown-name', nearest: nearest(name, takeFirst(source.listNames())) }
  if (ids.length > 1) return { outcome: 'ambiguous-name', ids }
  const words = source.listMissing(id, must)
  if (words.length > 0) return { outcome: 'must-missing', id, words }
  const ranked = source.rank({ text, must, ...(accept ? { accept } : {}) })
  const asked = source.extractTerms(text).filter(({ kind }) => kind === 'word')
  const at = ranked.findIndex((hit) => hit.id === id)
  const hit = ranked[at]
  if (hit === undefined)
    return asked.length === 0
      ? { outcome: 'empty-query', id }
      : { outcome: 'no-shared-word', id, asked: asked.map((term) => term.text) }
  const rank = at + 1
  const { relevance } = hit
  const held = asked.filter((term) => source.hasTerm(id, term)).map((term) => term.text)
  const missing = asked.filter((term) => !source.hasTerm(id, term)).map((term) => term.text)
  if (relevance < cutOff) return { outcome: 'below-cut-off', id, rank, relevance, cutOff, held, missing }
  const last = ranked.slice(0, limit).at(-1)?.id ?? ''
  if (rank > limit) return { outcome: 'beyond-limit', id, rank, relevance, limit, last, held, missing }
  return { outcome: 'found', id, rank, relevance }
}

function* takeFirst(names: Iterable<string>): Iterable<string> {
  let left = comparedLimit
  for (const name of names) {
    if (left <= 0) return
    left -= 1
    yield name
  }
}
