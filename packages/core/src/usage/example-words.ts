/** A query as an example of what a tool is used for: hashes of its words, so that nothing it says can be read from it. */
import { resolveIdioms } from '../search/words/idioms.js'
import type { Vocabulary } from '../search/words/vocabulary.js'

const MOST_WORDS = 16
/** Further text is not read: a query is short, and an author's example of a hundred thousand characters is none. */
const MOST_CHARACTERS = 2000

/** Words that say nothing are passed over; empty where nothing is left. */
export function exampleWords(query: string, vocabulary: Vocabulary): number[] {
  const words = new Set<number>()
  for (const word of vocabulary.wordsOf(resolveIdioms(query.slice(0, MOST_CHARACTERS))))
    for (const term of word.parts.length > 0 ? [...word.parts, word.whole] : [word.whole])
      if (!term.empty && words.size < MOST_WORDS) words.add(term.hash)
  return [...words]
}
