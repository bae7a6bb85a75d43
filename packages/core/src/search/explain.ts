/** Why a tool ranks where it does: the score taken apart by term and field. Nothing of it is kept; it is worked out on demand. */
import type { AskedTerm } from './asked-terms.js'
import type { NameMatch } from './exact-names.js'
import { fields, focusOf, forEachTerm, standingOf } from './fields.js'
import { saturation } from './index/impact.js'
import type { SearchDocument } from './searcher.js'
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
  const focus = focusOf(byTerm.size) * standingOf(document)
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
