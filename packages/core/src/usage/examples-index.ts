/** Examples of what tools are used for, as an index of terms that a search adds to that of the tools. */
import { createTermIndex, noAliases, type TermIndex } from '../search/index/term-index.js'
import { defaultTuning } from '../search/tuning.js'
import { createWords } from '../search/words/lexicon-words.js'
import { exampleWords } from './example-words.js'
import { learnedTerms } from './learned-terms.js'
import { RING } from './ring.js'

export interface ExamplesIndex {
  /** To be given to a ranker as `learned`. */
  readonly index: TermIndex
  /** Hashes of the words of a query that count. */
  wordsOf(query: string): number[]
  /** Replaces the examples of tools, by id; a tool without any is removed. */
  put(tools: Iterable<readonly [id: string, examples: readonly (readonly number[])[]]>): void
}

/** Several of them share the words that `createExamplesIndexes` knows: looking them up costs a few milliseconds, once. */
export function createExamplesIndexes(): () => ExamplesIndex {
  const words = createWords(defaultTuning)
  const weight = defaultTuning.fields.usage
  return () => {
    const index = createTermIndex()
    return {
      index,
      wordsOf: (query) => exampleWords(query, words().vocabulary),
      put(tools) {
        const all = [...tools].map(([id, examples]) => [id, examples.slice(-RING)] as const)
        const used = all.filter(([, examples]) => examples.length > 0)
        if (used.length === 0 && index.size === 0) return
        index.change(
          all.map(([id]) => id),
          used.map(([id, examples]) => [
            { id, name: id, server: '', aliases: noAliases },
            learnedTerms(id, examples, words().conceptsOf, weight),
          ]),
        )
      },
    }
  }
}
