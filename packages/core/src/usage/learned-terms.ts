/** What the examples of one tool say of it, as terms with strengths: one more field of its text, beside those its owner wrote. */
import { hashOf, nameSeed } from '../search/index/hash.js'
import { impactByte } from '../search/index/impact.js'
import type { Analysis } from '../search/index/segment.js'
import { fold } from '../search/index/spelling.js'

/** A query of more words says less with each of them. */
const FULL_WORDS = 8
/** How much it tells against a term that the other examples do without it. */
const OTHERS = 0.4
const MOST_WORDS = 64
const MOST_CONCEPTS = 32

/** `conceptsOf`: the concepts that a word (its hash) stands for. `weight`: that of the field. */
export function learnedTerms(
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
  const kept = [...strongest(words, MOST_WORDS), ...strongest(concepts, MOST_CONCEPTS)]
  const terms = Int32Array.from([...kept.map(([term]) => term), hashOf(fold(tool), nameSeed)])
  const bytes = new Uint8Array(terms.length)
  for (const [place, [, count]] of kept.entries()) {
    const frequency = count / (count + 1 + OTHERS * (examples.length - count))
    bytes[place] = impactByte(weight * frequency, false)
  }
  return { size: terms.length, terms, bytes }
}

function strongest(counts: ReadonlyMap<number, number>, most: number): [number, number][] {
  return [...counts].sort(([a, first], [b, second]) => second - first || a - b).slice(0, most)
}
