/** How much of what was asked for a tool speaks of: what decides whether a hit is loaded or only offered. */
import type { AskedTerm } from './asked-terms.js'
import { shareOfUnknownPairs } from './relevance.js'

/** What a tool holds of a word that it does not use, but whose concept it has. */
const conceptShare = 0.3

/**
 * The worth of the words that a tool holds, out of the worth of all words of the query. Unlike relevance it does not grow with how
 * prominent a word is: a tool called "create" speaks of one word of "create an invoice", however loudly.
 */
export function createCertainty(
  terms: readonly AskedTerm[],
  worthOf: (term: AskedTerm) => number,
  isKnown: (term: AskedTerm) => boolean,
  holderOf: (hash: number) => (slot: number) => boolean,
): (slot: number) => number {
  const words = terms
    .filter(({ kind }) => kind === 'word')
    .map((term) => ({
      worth: worthOf(term) * (term.unspaced && !isKnown(term) ? shareOfUnknownPairs : 1),
      holdsWord: holderOf(term.hash),
      holdsConcept: term.concepts.map(holderOf),
    }))
  const asked = words.reduce((sum, { worth }) => sum + worth, 0)
  return (slot) => {
    let held = 0
    for (const { worth, holdsWord, holdsConcept } of words)
      if (holdsWord(slot)) held += worth
      else if (holdsConcept.some((holds) => holds(slot))) held += worth * conceptShare
    return asked === 0 ? 0 : held / asked
  }
}
