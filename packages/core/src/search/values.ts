/** Words of a query that name a place, a person or a company: what a tool is given, not what it does. */
import { isStopWord } from './words/tokenize.js'
import type { Vocabulary } from './words/vocabulary.js'

/** Inside a sentence: its first word has a capital in any case. Words all in capitals are as often a thing ("QR") as a name. */
const named = /(?<=[\p{L}\p{N},] )\p{Lu}\p{Ll}+(?!\p{L})/gu

/** Hashes of the words that a query writes as names. */
export function namesWritten(text: string, vocabulary: Vocabulary): ReadonlySet<number> {
  const found = new Set<number>()
  for (const [word] of text.matchAll(named))
    if (!isStopWord(word))
      for (const { terms } of vocabulary.wordsOf(word)) for (const { hash } of terms) found.add(hash)
  return found
}
