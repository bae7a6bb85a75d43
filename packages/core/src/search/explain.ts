/** Why a tool ranks where it does: the score taken apart by term and field. Nothing of it is kept; it is worked out on demand. */

import { nearest } from '../base/nearest.js'
import type { AskedTerm } from './asked-terms.js'
import { computeFocus, fields, forEachTerm, weighDeprecation } from './fields.js'
import { saturation } from './index/tally.js'
import type { NameMatch } from './name-matches.js'
import type { Ranked, RankQuery, SearchDocument } from './searcher.js'
import type { Tuning } from './tuning.js'
import type { Vocabulary } from './words/vocabulary.js'

export interface TermExplanation {
  readonly term: string
  readonly kind: AskedTerm['kind']
  /** How much the query asks for it: its weight times its rarity. */
  readonly worth: number
  /** How many tools hold it. */
  readonly tools: number
  /** What it adds to the score. 0 where the tool does not hold it. */
  readonly score: number
  /** That score by field; what saturation takes away is shared out evenly. */
  readonly fields: Readonly<Record<string, number>>
}

export interface Explanation {
  readonly id: string
  /** How the query names the tool, if it does: that goes before everything its words find. */
  readonly name?: NameMatch
  /** Terms of the query, those that count most first. */
  readonly terms: readonly TermExplanation[]
  /** The sum over the terms. */
  readonly words: number
  /** What is left of the sum where the tool does something else to things than what is asked for ("list", and it deletes), or it cannot be said what; else absent. */
  readonly effect?: number
  /** What is left of that where the query names another server; else absent. */
  readonly server?: number
  /** What its examples and its use add to that; absent where they add nothing. */
  readonly use?: number
  /** What is left of all that by how well the tool fits: how much of what was asked for it accounts for, and what its name says beyond it. */
  readonly fit: number
  /** What the ranking orders by, names apart. For a long query its best clause decides a part. */
  readonly score: number
  readonly relevance: number
}

/** The contribution of each asked term to one document. Rounding of stored strengths apart, it sums up to the score. */
export function explain(
  document: SearchDocument,
  terms: readonly AskedTerm[],
  vocabulary: Vocabulary,
  tuning: Tuning,
  known: (term: AskedTerm) => { readonly worth: number; readonly tools: number },
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
    const { worth, tools } = known(term)
    const byField = byTerm.get(term.hash) ?? new Map<string, number>()
    const frequency = [...byField.values()].reduce((sum, each) => sum + each * focus, 0)
    const score = frequency === 0 ? 0 : (worth * (saturation + 1) * frequency) / (saturation + frequency)
    const shares = fields.flatMap(({ name }): [string, number][] => {
      const own = byField.get(name)
      return own === undefined ? [] : [[name, (score * own * focus) / frequency]]
    })
    return { term: term.text, kind: term.kind, worth, tools, score, fields: Object.fromEntries(shares) }
  })
  explained.sort((first, second) => second.score - first.score || second.worth - first.worth)
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

// Why a tool was not found by a query, in the order in which the search itself decides.

/** Names that are compared where a name is unknown. */
const comparedLimit = 20_000

export interface WhyQuery extends Pick<RankQuery, 'text' | 'accept'> {
  readonly must?: readonly string[]
  /** How many hits are shown. */
  readonly limit: number
  readonly cutOff: number
}

/** What became of one tool in one search. `outcome` is the first thing that kept it out; `rank` counts from 1. */
export type SearchMiss =
  | { readonly outcome: 'found'; readonly id: string; readonly rank: number; readonly relevance: number }
  /** No tool goes by that name. `nearest`: names it may have been meant for. */
  | { readonly outcome: 'unknown-name'; readonly nearest: readonly string[] }
  /** Several tools go by that name: ask with one of these ids. */
  | { readonly outcome: 'ambiguous-name'; readonly ids: readonly string[] }
  /** The query holds nothing but words that say nothing ("please show me"), or nothing at all. */
  | { readonly outcome: 'empty-query'; readonly id: string }
  /** A `+must` word is not in its name, aliases, server, domain or group. */
  | { readonly outcome: 'must-missing'; readonly id: string; readonly words: readonly string[] }
  /** It shares no word, and no concept, with the query. */
  | { readonly outcome: 'no-shared-word'; readonly id: string; readonly asked: readonly string[] }
  | (Missed & { readonly outcome: 'below-cut-off'; readonly cutOff: number })
  /** Others fit better. `last` is the id of the last one that is shown. */
  | (Missed & { readonly outcome: 'beyond-limit'; readonly limit: number; readonly last: string })

export interface Missed {
  readonly id: string
  readonly rank: number
  readonly relevance: number
  /** Words of the query that the tool holds, and those that it does not. */
  readonly held: readonly string[]
  readonly missing: readonly string[]
}

/** What `whyNot` has to know of the index. */
export interface WhySource {
  readonly called: (name: string) => readonly string[]
  readonly names: () => Iterable<string>
  readonly asked: (text: string) => readonly AskedTerm[]
  readonly holds: (id: string, term: AskedTerm) => boolean
  readonly lacks: (id: string, must: readonly string[]) => readonly string[]
  readonly rank: (query: RankQuery) => readonly Ranked[]
}

export function explainMiss(name: string, query: WhyQuery, source: WhySource): SearchMiss {
  const { text, must = [], limit, cutOff, accept } = query
  const ids = source.called(name)
  const [id] = ids
  if (id === undefined) return { outcome: 'unknown-name', nearest: nearest(name, first(source.names())) }
  if (ids.length > 1) return { outcome: 'ambiguous-name', ids }
  const words = source.lacks(id, must)
  if (words.length > 0) return { outcome: 'must-missing', id, words }
  const ranked = source.rank({ text, must, ...(accept ? { accept } : {}) })
  const asked = source.asked(text).filter(({ kind }) => kind === 'word')
  const at = ranked.findIndex((hit) => hit.id === id)
  const hit = ranked[at]
  if (hit === undefined)
    return asked.length === 0
      ? { outcome: 'empty-query', id }
      : { outcome: 'no-shared-word', id, asked: asked.map((term) => term.text) }
  const rank = at + 1
  const { relevance } = hit
  const held = asked.filter((term) => source.holds(id, term)).map((term) => term.text)
  const missing = asked.filter((term) => !source.holds(id, term)).map((term) => term.text)
  if (relevance < cutOff) return { outcome: 'below-cut-off', id, rank, relevance, cutOff, held, missing }
  const last = ranked.slice(0, limit).at(-1)?.id ?? ''
  if (rank > limit) return { outcome: 'beyond-limit', id, rank, relevance, limit, last, held, missing }
  return { outcome: 'found', id, rank, relevance }
}

function* first(names: Iterable<string>): Iterable<string> {
  let left = comparedLimit
  for (const name of names) {
    if (left <= 0) return
    left -= 1
    yield name
  }
}
