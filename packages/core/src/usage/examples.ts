/** The last examples of one tool, in one string of bytes: forty or so for each, whatever a query was. An array of numbers takes 200 more. */

import type { Analysis } from '../search/index/segment.js'
import { foldSpelling, hashTerm, nameSeed } from '../search/index/spelling.js'
import { encodeImpact } from '../search/index/tally.js'
import { createTermIndex, noAliases, type TermIndex } from '../search/index/term-index.js'
import { defaultTuning } from '../search/tuning.js'
import { createDefaultWords } from '../search/words/lexicon.js'
import type { Vocabulary } from '../search/words/vocabulary.js'
import { resolveIdioms } from '../search/words/word-lists.js'

/** Examples of one tool that count; of more, the last. */
export const RING_SIZE = 8
/** Words of one example: how many there are is one byte. */
const MOST_RING_WORDS = 255

export interface Ring {
  /** The definition that all of them are of. */
  readonly fingerprint: string
  /** Each example: how many words, then four characters for the hash of each. Every character is one byte. */
  readonly packed: string
}

/** With one more example. Examples of another definition say nothing of this one, and go. */
export function addToRing(ring: Ring | undefined, fingerprint: string, words: readonly number[]): Ring {
  const known = ring?.fingerprint === fingerprint ? unpackExamples(ring) : []
  const kept = [...known.slice(1 - RING_SIZE), words.slice(0, MOST_RING_WORDS)]
  const bytes = kept.flatMap((each) => [each.length, ...each.flatMap(toBytes)])
  return { fingerprint, packed: String.fromCharCode(...bytes) }
}

/** The oldest first. */
export function unpackExamples({ packed }: Ring): number[][] {
  const examples: number[][] = []
  for (let at = 0; at < packed.length; ) {
    const start = at + 1
    at = start + 4 * packed.charCodeAt(at)
    const words: number[] = []
    for (let place = start; place < at; place += 4) words.push(readWord(packed, place))
    examples.push(words)
  }
  return examples
}

function toBytes(word: number): number[] {
  return [word & 255, (word >> 8) & 255, (word >> 16) & 255, (word >> 24) & 255]
}

function readWord(packed: string, place: number): number {
  const byte = (at: number) => packed.charCodeAt(place + at)
  return byte(0) | (byte(1) << 8) | (byte(2) << 16) | (byte(3) << 24)
}

// A query as an example of what a tool is used for: hashes of its words, so that nothing it says can be read from it.

const MOST_QUERY_WORDS = 16
/** Further text is not read: a query is short, and an author's example of a hundred thousand characters is none. */
const MOST_CHARACTERS = 2000

/** Words that say nothing are passed over; empty where nothing is left. */
function hashExampleWords(query: string, vocabulary: Vocabulary): number[] {
  const words = new Set<number>()
  for (const word of vocabulary.readWords(resolveIdioms(query.slice(0, MOST_CHARACTERS))))
    for (const term of word.parts.length > 0 ? [...word.parts, word.whole] : [word.whole])
      if (!term.isStopWord && words.size < MOST_QUERY_WORDS) words.add(term.hash)
  return [...words]
}

// Examples of what tools are used for, as an index of terms that a search adds to that of the tools.

export interface ExamplesIndex {
  /** To be given to a ranker as `learned`. */
  readonly index: TermIndex
  /** Hashes of the words of a query that count. */
  hashWords(query: string): number[]
  /** Replaces the examples of tools, by id; a tool without any is removed. */
  put(tools: Iterable<readonly [id: string, examples: readonly (readonly number[])[]]>): void
}

/** Several of them share the words that `createExamplesIndexes` knows: looking them up costs a few milliseconds, once. */
export function createExamplesIndexes(): () => ExamplesIndex {
  const words = createDefaultWords(defaultTuning)
  const weight = defaultTuning.fields.usage
  return () => {
    const index = createTermIndex()
    return {
      index,
      hashWords: (query) => hashExampleWords(query, words().vocabulary),
      put(tools) {
        const all = [...tools].map(([id, examples]) => [id, examples.slice(-RING_SIZE)] as const)
        const used = all.filter(([, examples]) => examples.length > 0)
        if (used.length === 0 && index.size === 0) return
        index.update(
          all.map(([id]) => id),
          used.map(([id, examples]) => [
            { id, name: id, server: '', aliases: noAliases },
            computeLearnedTerms(id, examples, words().getConcepts, weight),
          ]),
        )
      },
    }
  }
}

// What the examples of one tool say of it, as terms with strengths: one more field of its text, beside those its owner wrote.

/** A query of more words says less with each of them. */
const FULL_WORDS = 8
/** How much it tells against a term that the other examples do without it. */
const OTHERS = 0.4
const MOST_WORDS = 64
const MOST_CONCEPTS = 32

/** `conceptsOf`: the concepts that a word (its hash) stands for. `weight`: that of the field. */
function computeLearnedTerms(
  tool: string,
  examples: readonly (readonly number[])[],
  conceptsOf: (word: number) => readonly number[],
  weight: number,
): Analysis {
  const words = new Map<number, number>()
  const concepts = new Map<number, number>()
  for (const example of examples) {
    const worth = Math.min(1, FULL_WORDS / Math.max(1, example.length))
    const meant = new Set(example.flatMap(conceptsOf))
    for (const word of example) words.set(word, (words.get(word) ?? 0) + worth)
    for (const concept of meant) concepts.set(concept, (concepts.get(concept) ?? 0) + worth)
  }
  const kept = [...selectStrongest(words, MOST_WORDS), ...selectStrongest(concepts, MOST_CONCEPTS)]
  const terms = Int32Array.from([...kept.map(([term]) => term), hashTerm(foldSpelling(tool), nameSeed)])
  const bytes = new Uint8Array(terms.length)
  for (const [place, [, count]] of kept.entries()) {
    const frequency = count / (count + 1 + OTHERS * (examples.length - count))
    bytes[place] = encodeImpact(weight * frequency, false)
  }
  return { size: terms.length, terms, bytes }
}

function selectStrongest(counts: ReadonlyMap<number, number>, most: number): [number, number][] {
  return [...counts].sort(([a, first], [b, second]) => second - first || a - b).slice(0, most)
}
