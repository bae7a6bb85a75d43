/** The vocabulary of the default ranking, and the concepts behind a word of which only the hash is known. Made when first asked for. */
import { hashOf } from '../index/hash.js'
import { createLexicon, type LexiconWeights } from './lexicon.js'
import { createVocabulary, type Vocabulary } from './vocabulary.js'

export interface Words {
  readonly vocabulary: Vocabulary
  conceptsOf(word: number): readonly number[]
}

const none: readonly number[] = []

export function createWords(tuning: LexiconWeights): () => Words {
  let made: Words | undefined
  return () => {
    if (made) return made
    const lexicon = createLexicon(tuning)
    const concepts = new Map<number, readonly number[]>()
    for (const [stem, meant] of lexicon.held) concepts.set(hashOf(stem), meant)
    made = { vocabulary: createVocabulary(lexicon), conceptsOf: (word) => concepts.get(word) ?? none }
    return made
  }
}
