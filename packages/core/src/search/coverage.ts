/** How much of what was asked for a tool speaks of: whether it is loaded or only offered, and given as an answer or as the nearest there is. */

import { type WeighedWord, worthOfAll } from './answers.js'
import { impactTable } from './index/tally.js'
import type { TermIndex } from './index/term-index.js'

/** What a tool holds of a word that it does not use, by how near that is to what it does say. */
const shares = { same: 0.8, subject: 0.5, hint: 0.3 } as const
/** What it lacks of a detail ("… with a colleague"). Who has the detail has it wholly. */
const detailShare = 0.5
/** Further words of a request add detail: who accounts for this many that are rare accounts for the request. */
const briefWords = 2.5
/** The strength of a word that a tool's first sentence holds. */
const fullStrength = 0.6
/** Of a long request: what a tool scores that accounts for as much as one that holds each word of a brief one. */
const fullScore = 2.1

/** What was learned counts so many times: it is what somebody said who wanted the tool. */
const useShare = 2

/** Coverage below which the best answer does not clearly do what was asked for. docs/concepts/how-search-ranks.md explains it. */
export const clearCoverage = 0.52

export interface Held {
  /** From 0 to 1: the worth of the words that a tool holds, however loudly, out of the worth of all words of the query. */
  readonly certainty: number
  /** From 0 to 1: how much of what was asked for the tool accounts for. */
  readonly coverage: number
  /** The same without what was learned from use. */
  readonly ownCoverage: number
}

/** Of a query without words, or a tool that is no answer. */
export const nothingHeld: Held = { certainty: 0, coverage: 0, ownCoverage: 0 }

/** What was asked for, in arrays: it is looked at for every answer to every search. */
interface AskedWords {
  /** Every word, then every concept that one of them leads to. */
  readonly terms: readonly number[]
  /** By word. Its concepts stand from `starts` of it up to that of the next, the nearest first. */
  readonly worths: readonly number[]
  readonly starts: readonly number[]
  /** By place among the concepts of all words: which term it is, and what having it is worth. */
  readonly places: readonly number[]
  readonly shares: readonly number[]
  /** By term: 1 for what tools say for a word. Two words may be said for one of theirs: "a free slot" is availability, twice. */
  readonly isSynonym: readonly boolean[]
}

function inArrays(words: readonly WeighedWord[]): AskedWords {
  const terms: number[] = []
  const worths: number[] = []
  for (const { hash, worth } of words) {
    terms.push(hash)
    worths.push(worth)
  }
  const isSynonym = terms.map(() => false)
  const placeOf = new Map<number, number>()
  const starts = [0]
  const places: number[] = []
  const ownShares: number[] = []
  for (const { concepts } of words) {
    for (const { hash, near } of concepts.length > 1 ? [...concepts].sort(nearestFirst) : concepts) {
      let place = placeOf.get(hash)
      if (place === undefined) {
        place = terms.push(hash) - 1
        isSynonym.push(false)
        placeOf.set(hash, place)
      }
      if (near === 'same') isSynonym[place] = true
      places.push(place)
      ownShares.push(shares[near])
    }
    starts.push(places.length)
  }
  return { terms, worths, starts, places, shares: ownShares, isSynonym }
}

function nearestFirst(first: { near: keyof typeof shares }, second: { near: keyof typeof shares }): number {
  return shares[second.near] - shares[first.near]
}

/**
 * A brief request means each of its words: a tool called "image" accounts for one word of "resize an image", however loudly it says it.
 * A concept stands in for a word once, and not where another word of the query has brought it in: "track" says nothing of the parcel.
 * A long request says one thing in many words, so there the score counts. In between, both do.
 *
 * What does something else to things than what was asked for (`effectShareOf`) accounts for less.
 *
 * `rare`: the worth of a word which no tool holds. `learned`: what of the score comes from use.
 */
export function createCoverage(
  index: Pick<TermIndex, 'cursor'>,
): (
  words: readonly WeighedWord[],
  rare: number,
  effectShareOf?: (slot: number) => number,
) => (slot: number, score: number, learned: number) => Held {
  const strengths = impactTable().map(shareOf)
  return (words, rare, effectShareOf = () => 1) => {
    const asked = worthOfAll(words)
    const meant = words.reduce((sum, { worth, detail }) => sum + worth * (detail ? detailShare : 1), 0)
    const enough = briefWords * rare
    const brief = Math.min(meant, enough)
    const length = Math.max(0, Math.min(1, 2 * (asked / enough - 1)))
    const { terms, worths, starts, places, shares: nearness, isSynonym } = inArrays(words)
    const cursor = index.cursor(terms)
    const missing: number[] = []
    /** By term: the round in which it was last brought in. */
    const spoken = terms.map(() => 0)
    let round = 0
    const coverageOf = (covered: number, score: number, held: number): number => {
      const byWord = Math.min(1, covered / brief)
      const byScore = Math.min(1, (score + held / 2) / (fullScore * brief))
      return (1 - length) * byWord + length * byScore
    }
    return (slot, score, learned) => {
      if (asked === 0) return nothingHeld
      round += 1
      cursor.moveTo(slot)
      let missed = 0
      let held = 0
      let covered = 0
      for (let word = 0; word < worths.length; word += 1) {
        const byte = cursor.byteOf(word)
        if (byte < 0) {
          missing[missed] = word
          missed += 1
          continue
        }
        const worth = worths[word] as number
        held += worth
        covered += worth * (strengths[byte] as number)
        for (let at = starts[word] as number; at < (starts[word + 1] as number); at += 1)
          spoken[places[at] as number] = round
      }
      for (let each = 0; each < missed; each += 1) {
        const word = missing[each] as number
        const worth = worths[word] as number
        let has = false
        let best = 0
        let bestPlace = 0
        for (let at = starts[word] as number; at < (starts[word + 1] as number); at += 1) {
          const share = nearness[at] as number
          // The nearest come first, and none is worth more than its share.
          if (best >= share) break
          const place = places[at] as number
          const byte = cursor.byteOf(place)
          if (byte < 0) continue
          has = true
          const value = share * (strengths[byte] as number)
          if (value <= best || (spoken[place] === round && !isSynonym[place])) continue
          best = value
          bestPlace = place
        }
        if (has) held += worth * shares.hint
        covered += worth * best
        if (best > 0) spoken[bestPlace] = round
      }
      const effect = effectShareOf(slot)
      const ownCoverage = coverageOf(covered, score - learned, held) * effect
      if (learned === 0) return { certainty: held / asked, coverage: ownCoverage, ownCoverage }
      const coverage = coverageOf(covered + useShare * learned, score, held) * effect
      return { certainty: held / asked, coverage, ownCoverage }
    }
  }
}

/** What stands in a long text only is held, but not much spoken of; who says it louder than in a first sentence holds it no more. */
function shareOf(strength: number): number {
  return Math.sqrt(Math.min(1, strength / fullStrength))
}
