/** How much of what was asked for a tool speaks of: what decides whether a hit is loaded or only offered. */
import { type WeighedWord, worthOfAll } from './relevance.js'

/** What a tool holds of a word that it does not use, but whose concept it has. */
const conceptShare = 0.3

/**
 * The worth of the words that a tool holds, out of the worth of all words of the query. Unlike relevance it does not grow with how
 * prominent a word is: a tool called "create" speaks of one word of "create an invoice", however loudly.
 */
export function createCertainty(
  words: readonly WeighedWord[],
  holderOf: (hash: number) => (slot: number) => boolean,
): (slot: number) => number {
  const asked = worthOfAll(words)
  const holders = words.map(({ worth, hash, concepts }) => ({
    worth,
    holdsWord: holderOf(hash),
    holdsConcept: concepts.map(holderOf),
  }))
  return (slot) => {
    let held = 0
    for (const { worth, holdsWord, holdsConcept } of holders)
      if (holdsWord(slot)) held += worth
      else if (holdsConcept.some((holds) => holds(slot))) held += worth * conceptShare
    return asked === 0 ? 0 : held / asked
  }
}
