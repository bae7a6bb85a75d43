/** What a tool's name says beyond what was asked for: who wants a mock server wants `createMock` rather than `deleteMockServerResponse`. */
import type { AskedTerm } from './asked-terms.js'
import { ownName } from './fields.js'
import type { Identity } from './index/segment.js'
import type { TermIndex } from './index/term-index.js'
import type { Term, Vocabulary } from './words/vocabulary.js'

/** What each word of a name that nobody asked for costs of the score and of what is accounted for, and how many count. */
const cost = { score: 0.15, coverage: 0.04 } as const
const mostUnasked = 3
/** Most names have one such word. It costs nothing of what is accounted for, and to have none adds to it. */
const usualUnasked = 1
/** Names that are remembered; when there are more, all are forgotten. */
const mostRead = 10_000
/** A request of more words says more than any name: there they cost less. One word says too little to hold a name against a tool. */
const usualWords = 6

/** The words of its server are not counted: all its tools may have them in their names. */
export interface NameFit {
  /** The share of its score that a tool keeps. */
  readonly share: number
  /** What is added to what it accounts for; less than 0 where its name says much else. */
  readonly gain: number
}

export function createNameFit(
  index: TermIndex,
  vocabulary: () => Vocabulary,
): (terms: readonly AskedTerm[]) => (slot: number) => NameFit {
  let revision = -1
  /** By slot, since the same tools are the best of many requests. Each word of a name: how many hashes it goes by, and those. */
  const read = new Map<number, Int32Array>()

  function wordsOf(slot: number): Int32Array {
    const known = read.get(slot)
    if (known) return known
    const words = ownWords(index.identityOf(slot), vocabulary())
    const hashes = Int32Array.from(
      words.flatMap(({ hash, concepts }) => [1 + concepts.length, hash, ...concepts]),
    )
    if (read.size >= mostRead) read.clear()
    read.set(slot, hashes)
    return hashes
  }

  return (terms) => {
    if (revision !== index.revision) read.clear()
    revision = index.revision
    const asked = new Set<number>()
    let words = 0
    for (const { hash, kind } of terms) {
      if (kind === 'pair') continue
      asked.add(hash)
      if (kind === 'word') words += 1
    }
    const weight = words < 2 ? 0 : Math.min(1, usualWords / words)
    return (slot) => {
      const hashes = wordsOf(slot)
      let unasked = 0
      for (let at = 0; at < hashes.length && unasked < mostUnasked; ) {
        const end = at + 1 + (hashes[at] as number)
        let isAsked = false
        for (at += 1; at < end; at += 1) isAsked ||= asked.has(hashes[at] as number)
        if (!isAsked) unasked += 1
      }
      return {
        share: 1 / (1 + cost.score * weight * unasked),
        gain: cost.coverage * weight * (usualUnasked - unasked),
      }
    }
  }
}

function ownWords({ name, server }: Identity, vocabulary: Vocabulary): readonly Term[] {
  const termsOf = (text: string) =>
    vocabulary
      .wordsOf(text)
      .flatMap(({ whole, parts, pair }) => (pair ? [] : parts.length > 0 ? parts : [whole]))
  const known = new Set(termsOf(ownName(server)).map(({ hash }) => hash))
  const own = termsOf(name).filter(({ hash, empty }) => !empty && !known.has(hash))
  return [...new Map(own.map((term) => [term.hash, term])).values()]
}
