/** Stores the examples of each tool in a compact form, and indexes their terms for the ranking. */

import type { Analysis } from '../search/index/segment.js'
import { foldSpelling, hashTerm, nameSeed } from '../search/index/spelling.js'
import { encodeImpact } from '../search/index/tally.js'
import { createTermIndex, noAliases, type TermIndex } from '../search/index/term-index.js'
import { defaultTuning, fullExampleWords, otherExamples } from '../search/tuning.js'
import { createDefaultWords, type Vocabulary } from '../search/words/vocabulary.js'
import { resolveIdioms } from '../search/words/word-lists.js'

/** Number of examples per tool. Older ones are dropped. */
export const RING_SIZE = 8
/** Number of words per example, so that the count fits into one byte. */
const MOST_RING_WORDS = 255

/** The last examples of one tool as a string of bytes, about 40 per tool. An array of numbers would take 200 more. */
export interface Ring {
  /** Fingerprint of the definition that all examples belong to. */
  readonly fingerprint: string
  /** For each example: the number of words, then four characters per word hash. Every character is one byte. */
  readonly packed: string
}

/** Returns the ring with one more example. Examples of another definition are dropped. */
export function addToRing(ring: Ring | undefined, fingerprint: string, words: readonly number[]): Ring {
  const known = ring?.fingerprint === fingerprint ? unpackExamples(ring) : []
  const kept = [...known.slice(1 - RING_SIZE), words.slice(0, MOST_RING_WORDS)]
  const bytes = kept.flatMap((each) => [each.length, ...each.flatMap(toBytes)])
  return { fingerprint, packed: String.fromCharCode(...bytes) }
}

/** Returns the examples, oldest first. */
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

const MOST_QUERY_WORDS = 16
/** Longer text is cut. Queries are short, and so are useful examples. */
const MOST_CHARACTERS = 2000

/** Turns a query into hashes of its words, so the stored example contains no text. Skips stop words; may be empty. */
function hashExampleWords(query: string, vocabulary: Vocabulary): number[] {
  const words = new Set<number>()
  for (const word of vocabulary.readWords(resolveIdioms(query.slice(0, MOST_CHARACTERS))))
    for (const term of word.parts.length > 0 ? [...word.parts, word.whole] : [word.whole])
      if (!term.isStopWord && words.size < MOST_QUERY_WORDS) words.add(term.hash)
  return [...words]
}

/** An index of example terms that a search adds to the index of tools. */
export interface ExamplesIndex {
  /** Passed to a ranker as `learned`. */
  readonly index: TermIndex
  /** Hashes the words of a query that count. */
  hashWords(query: string): number[]
  /** Replaces the examples of tools, by id. A tool without examples is removed. */
  put(tools: Iterable<readonly [id: string, examples: readonly (readonly number[])[]]>): void
}

/** Creates indexes that share one vocabulary, which takes a few milliseconds to build. */
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

const MOST_WORDS = 64
const MOST_CONCEPTS = 32

/**
 * Computes the terms that a tool learned from its examples, with strengths, like one more field of its text.
 * `getConcepts`: returns the concepts of a word by its hash. `weight`: weight of the field.
 */
function computeLearnedTerms(
  tool: string,
  examples: readonly (readonly number[])[],
  getConcepts: (word: number) => readonly number[],
  weight: number,
): Analysis {
  const words = new Map<number, number>()
  const concepts = new Map<number, number>()
  for (const example of examples) {
    const weightOfExample = Math.min(1, fullExampleWords / Math.max(1, example.length))
    const meant = new Set(example.flatMap(getConcepts))
    for (const word of example) words.set(word, (words.get(word) ?? 0) + weightOfExample)
    for (const concept of meant) concepts.set(concept, (concepts.get(concept) ?? 0) + weightOfExample)
  }
  const kept = [...selectStrongest(words, MOST_WORDS), ...selectStrongest(concepts, MOST_CONCEPTS)]
  const terms = Int32Array.from([...kept.map(([term]) => term), hashTerm(foldSpelling(tool), nameSeed)])
  const bytes = new Uint8Array(terms.length)
  for (const [place, [, count]] of kept.entries()) {
    const frequency = count / (count + 1 + otherExamples * (examples.length - count))
    bytes[place] = encodeImpact(weight * frequency, false)
  }
  return { size: terms.length, terms, bytes }
}

function selectStrongest(counts: ReadonlyMap<number, number>, most: number): [number, number][] {
  return [...counts].sort(([a, first], [b, second]) => second - first || a - b).slice(0, most)
}
