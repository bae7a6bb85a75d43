/** Measures how well a tool answers a query: relevance, certainty and coverage. */

import { createImpactTable } from './index/tally.js'
import type { TermIndex } from './index/term-index.js'
import type { QueryTerm } from './query-terms.js'
import {
  briefWords,
  fullScore,
  fullStrength,
  halfRelevanceShare,
  heldShare,
  learnedFactor,
  longRequest,
  maximumRelevance,
  missingDetailShare,
  nearnessShares,
  shareOfUnknownPairs,
  shareOfWeakWords,
} from './tuning.js'

export interface Coverage {
  /** From 0 to 1: importance of the query words that the tool has, divided by the importance of all query words. */
  readonly certainty: number
  /** From 0 to 1: how much of the request the tool covers. */
  readonly coverage: number
  /** Coverage without words learned from use. */
  readonly ownCoverage: number
}

/** For a query without words, or a tool that does not answer it. */
export const noCoverage: Coverage = { certainty: 0, coverage: 0, ownCoverage: 0 }

/** A word of the query with its importance. Relevance and certainty are shares of the sum of importances. */
export interface WeightedWord extends Pick<QueryTerm, 'hash' | 'concepts' | 'detail'> {
  readonly importance: number
}

/** Weighs the words of a query. Unknown pairs and weak words count less. */
export function weighWords(
  terms: readonly QueryTerm[],
  weighByRarity: (term: QueryTerm) => number,
  isKnown: (hash: number) => boolean,
): WeightedWord[] {
  const words: WeightedWord[] = []
  for (const term of terms) {
    if (term.kind !== 'word') continue
    const importance =
      weighByRarity(term) *
      (term.unspaced && !isKnown(term.hash) ? shareOfUnknownPairs : 1) *
      (term.weight < 1 ? shareOfWeakWords : 1)
    words.push({ hash: term.hash, concepts: term.concepts, detail: term.detail, importance })
  }
  return words
}

export function sumImportance(words: readonly WeightedWord[]): number {
  return words.reduce((sum, { importance }) => sum + importance, 0)
}

/**
 * Turns a score into relevance: a figure from 0 to 1 that means the same for every query, so one cut-off fits all.
 *
 * Unknown words are the most important ones, so a query about another subject stays low even if one of its words matches.
 * Relevance grows with the score and never changes the order. docs/concepts/how-search-ranks.md explains the cut-off.
 */
export function createRelevance(words: readonly WeightedWord[]): (score: number) => number {
  const total = sumImportance(words)
  return (score) =>
    score <= 0 ? 0 : Math.min(maximumRelevance, score / (score + halfRelevanceShare * total))
}

/**
 * Measures how much of a query each tool covers.
 *
 * - In a brief query every word counts: a tool called "image" covers one word of "resize an image", however often it says it.
 * - A concept can replace a missing word once, but not if another query word already used it: "track" does not cover the parcel.
 * - A long query says one thing in many words, so the score decides. In between, both count.
 * - `getShare` lowers the coverage of tools that do something else than what the query asks for.
 *
 * `highestRarity`: the importance of a word that no tool has. `learned`: the part of the score that was learned from use.
 */
export function createCoverage(
  index: Pick<TermIndex, 'createCursor'>,
): (
  words: readonly WeightedWord[],
  highestRarity: number,
  getShare?: (slot: number) => number,
) => (slot: number, score: number, learned: number) => Coverage {
  const strengths = createImpactTable().map(computeShare)
  return (words, highestRarity, getShare = () => 1) => {
    const total = sumImportance(words)
    const weightedTotal = words.reduce(
      (sum, { importance, detail }) => sum + importance * (detail ? missingDetailShare : 1),
      0,
    )
    const enough = briefWords * highestRarity
    const brief = Math.min(weightedTotal, enough)
    const length = Math.max(0, Math.min(1, (total / enough - 1) / (longRequest - 1)))
    const { terms, importances, starts, conceptTerms, shares: nearness, isSynonym } = toArrays(words)
    const cursor = index.createCursor(terms)
    const missing: number[] = []
    /** By term: the last round (tool) in which a word used it. */
    const usedIn = terms.map(() => 0)
    let round = 0
    const combine = (covered: number, score: number, heldImportance: number): number => {
      const byWord = Math.min(1, covered / brief)
      const byScore = Math.min(1, (score + heldShare * heldImportance) / (fullScore * brief))
      return (1 - length) * byWord + length * byScore
    }
    return (slot, score, learned) => {
      if (total === 0) return noCoverage
      round += 1
      cursor.moveTo(slot)
      let missed = 0
      let heldImportance = 0
      let covered = 0
      for (let word = 0; word < importances.length; word += 1) {
        const byte = cursor.readByte(word)
        if (byte < 0) {
          missing[missed] = word
          missed += 1
          continue
        }
        const importance = importances[word] as number
        heldImportance += importance
        covered += importance * (strengths[byte] as number)
        for (let at = starts[word] as number; at < (starts[word + 1] as number); at += 1)
          usedIn[conceptTerms[at] as number] = round
      }
      for (let each = 0; each < missed; each += 1) {
        const word = missing[each] as number
        const importance = importances[word] as number
        let has = false
        let best = 0
        let bestPlace = 0
        for (let at = starts[word] as number; at < (starts[word + 1] as number); at += 1) {
          const share = nearness[at] as number
          // The nearest concepts come first, and none scores above its share.
          if (best >= share) break
          const place = conceptTerms[at] as number
          const byte = cursor.readByte(place)
          if (byte < 0) continue
          has = true
          const value = share * (strengths[byte] as number)
          if (value <= best || (usedIn[place] === round && !isSynonym[place])) continue
          best = value
          bestPlace = place
        }
        if (has) heldImportance += importance * nearnessShares.hint
        covered += importance * best
        if (best > 0) usedIn[bestPlace] = round
      }
      const effect = getShare(slot)
      const ownCoverage = combine(covered, score - learned, heldImportance) * effect
      if (learned === 0) return { certainty: heldImportance / total, coverage: ownCoverage, ownCoverage }
      const coverage = combine(covered + learnedFactor * learned, score, heldImportance) * effect
      return { certainty: heldImportance / total, coverage, ownCoverage }
    }
  }
}

/** Turns strength into coverage: a word in a long text covers little, and more strength than in a first sentence adds nothing. */
function computeShare(strength: number): number {
  return Math.sqrt(Math.min(1, strength / fullStrength))
}

/** The query as flat arrays, because every hit of every search reads them. */
interface QueryArrays {
  /** Hashes of all words, then of all concepts that these words lead to. */
  readonly terms: readonly number[]
  /** By word. The concepts of word `n` are at `starts[n]` to `starts[n + 1]`, the nearest first. */
  readonly importances: readonly number[]
  readonly starts: readonly number[]
  /** By concept position: its index in `terms`, and its nearness share. */
  readonly conceptTerms: readonly number[]
  readonly shares: readonly number[]
  /** By term: true for synonyms. Several query words may share one: "a free slot" is availability twice. */
  readonly isSynonym: readonly boolean[]
}

function toArrays(words: readonly WeightedWord[]): QueryArrays {
  const terms: number[] = []
  const importances: number[] = []
  for (const { hash, importance } of words) {
    terms.push(hash)
    importances.push(importance)
  }
  const isSynonym = terms.map(() => false)
  const positionByHash = new Map<number, number>()
  const starts = [0]
  const conceptTerms: number[] = []
  const ownShares: number[] = []
  for (const { concepts } of words) {
    for (const { hash, near } of concepts.length > 1 ? [...concepts].sort(compareNearness) : concepts) {
      let place = positionByHash.get(hash)
      if (place === undefined) {
        place = terms.push(hash) - 1
        isSynonym.push(false)
        positionByHash.set(hash, place)
      }
      if (near === 'same') isSynonym[place] = true
      conceptTerms.push(place)
      ownShares.push(nearnessShares[near])
    }
    starts.push(conceptTerms.length)
  }
  return { terms, importances, starts, conceptTerms, shares: ownShares, isSynonym }
}

function compareNearness(
  first: { near: keyof typeof nearnessShares },
  second: { near: keyof typeof nearnessShares },
): number {
  return nearnessShares[second.near] - nearnessShares[first.near]
}
