/** Why a tool was not found by a query, in the order in which the search itself decides. */
import { nearest } from '../base/nearest.js'
import type { AskedTerm } from './asked-terms.js'
import type { Ranked, RankQuery } from './searcher.js'

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

export function whyNot(name: string, query: WhyQuery, source: WhySource): SearchMiss {
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
