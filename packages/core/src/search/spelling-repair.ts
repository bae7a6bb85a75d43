/** Replaces misspelt words of a query by the nearest word: of the names of tools and servers, or of the tables of concepts. */

import { editDistance } from '../base/nearest.js'
import type { Segment } from './index/segment.js'
import { countBits, encodeLetters, trimServerName } from './index/spelling.js'
import { identityBit } from './index/tally.js'
import type { TermIndex } from './index/term-index.js'
import { lettersForTwoTypos, minimumTypoLetters } from './tuning.js'
import { actionGroups, topicGroups } from './words/concepts.js'
import type { SpelledWord, Term, Vocabulary } from './words/vocabulary.js'
import { isOrdinaryWord, isProduct } from './words/word-lists.js'

const plainWord = /^[a-z]+$/

/** Words by their first letter, each with its letters as bits. */
type KnownWords = Map<string, Map<string, number>>

function addWord(words: KnownWords, word: string): void {
  if (word.length < minimumTypoLetters - 1 || !plainWord.test(word)) return
  const letter = word.slice(0, 1)
  const known = words.get(letter)
  if (known) known.set(word, encodeLetters(word))
  else words.set(letter, new Map([[word, encodeLetters(word)]]))
}

const tableWords: KnownWords = new Map()
for (const word of `${actionGroups} ${topicGroups}`.split(/[\s|]+/)) addWord(tableWords, word)

/** The words of each segment are read once, with the first unknown word of a query. */
export function createSpellingRepair(
  index: TermIndex,
  vocabulary: () => Vocabulary,
): (word: SpelledWord) => SpelledWord {
  const bySegment = new WeakMap<Segment, KnownWords>()

  function readNameWords(segment: Segment): KnownWords {
    const known = bySegment.get(segment)
    if (known) return known
    const words: KnownWords = new Map()
    const servers = new Set<string>()
    const add = (text: string) => {
      for (const { terms } of vocabulary().readWords(text))
        for (const { text: word } of terms) addWord(words, word)
    }
    for (const { name, server, aliases } of segment.identities) {
      add(name)
      for (const alias of aliases) add(alias)
      if (!servers.has(server)) add(trimServerName(server))
      servers.add(server)
    }
    bySegment.set(segment, words)
    return words
  }

  /** Counts the living tools with the word in their identity, because hidden tools must not influence an answer. */
  function countNames(word: string): number {
    let count = 0
    const hash = vocabulary().readWords(word)[0]?.whole.hash ?? 0
    index.forEachPosting(hash, (_, byte) => {
      if ((byte & identityBit) !== 0) count += 1
    })
    return count
  }

  function findNearest(wanted: string): string | undefined {
    let furthest = wanted.length < lettersForTwoTypos ? 1 : 2
    let best: string | undefined
    let most = 0
    const letters = encodeLetters(wanted)
    // People rarely miss the first letter, and other words often differ in it: "seating" is not "eating".
    for (const words of [...index.segments.map(readNameWords), tableWords])
      for (const [word, own] of words.get(wanted.slice(0, 1)) ?? []) {
        if (Math.abs(word.length - wanted.length) > furthest || countBits(own ^ letters) > 2 * furthest)
          continue
        const distance = editDistance(wanted, word, furthest)
        if (distance === undefined) continue
        const count = countNames(word)
        if (words !== tableWords && count === 0) continue
        // Of two words as near, the usual one is meant: "asign" is "assign" where few tools align anything.
        const isBetter =
          best === undefined || distance < furthest || (count === most ? word < best : count > most)
        if (!isBetter) continue
        furthest = distance
        most = count
        best = word
      }
    return best
  }

  function repairTerm(term: Term): Term {
    const { text, hash, isStopWord, queryConcepts, weight } = term
    const isUnknown =
      text.length >= minimumTypoLetters &&
      plainWord.test(text) &&
      !isStopWord &&
      weight === 1 &&
      queryConcepts.length === 0 &&
      index.countTools(hash) === 0 &&
      !isProduct(text) &&
      !isOrdinaryWord(text)
    const meant = isUnknown ? findNearest(text) : undefined
    return (meant && vocabulary().readWords(meant)[0]?.whole) || term
  }

  return (word) =>
    word.parts.length > 0
      ? { ...word, parts: word.parts.map(repairTerm) }
      : { ...word, whole: repairTerm(word.whole) }
}
