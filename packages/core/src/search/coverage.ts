/** How much of what was asked for a tool speaks of: whether it is loaded or only offered, and given as an answer or as the nearest there is. */
import { type WeighedWord, worthOfAll } from './relevance.js'

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

/** Coverage below which the best answer does not clearly do what was asked for. docs/search-measured.md has the curve. */
export const clearCoverage = 0.52

export interface Held {
  /** From 0 to 1: the worth of the words that a tool holds, however loudly, out of the worth of all words of the query. */
  readonly certainty: number
  /** From 0 to 1: how much of what was asked for the tool accounts for. */
  readonly coverage: number
}

interface AskedWord {
  readonly worth: number
  readonly strengthIn: (slot: number) => number
  readonly concepts: readonly {
    readonly hash: number
    readonly share: number
    readonly strengthIn: (slot: number) => number
  }[]
}

/**
 * A brief request means each of its words: a tool called "image" accounts for one word of "resize an image", however loudly it says it.
 * A concept stands in for a word once, and not where another word of the query has brought it in: "track" says nothing of the parcel.
 * A long request says one thing in many words, so there the score counts. In between, both do.
 *
 * What does something else to things than what was asked for (`effectShareOf`) accounts for less.
 *
 * `strengthOf` a term is what a tool holds of it, -1 for nothing; `rare` the worth of a word which no tool holds; `learned` what of the
 * score comes from use.
 */
export function createHeld(
  words: readonly WeighedWord[],
  strengthOf: (hash: number) => (slot: number) => number,
  rare: number,
  effectShareOf: (slot: number) => number = () => 1,
): (slot: number, score: number, learned: number) => Held {
  const asked = worthOfAll(words)
  const meant = words.reduce((sum, { worth, detail }) => sum + worth * (detail ? detailShare : 1), 0)
  const enough = briefWords * rare
  const brief = Math.min(meant, enough)
  const length = Math.max(0, Math.min(1, 2 * (asked / enough - 1)))
  // Two words may be said for one of the tool's: "a free slot" is availability, twice.
  const synonyms = new Set(
    words.flatMap(({ concepts }) => concepts.flatMap(({ hash, near }) => (near === 'same' ? [hash] : []))),
  )
  const all = words.map(
    ({ worth, hash, concepts }): AskedWord => ({
      worth,
      strengthIn: strengthOf(hash),
      concepts: concepts
        .map(({ hash, near }) => ({
          hash,
          share: shares[near],
          strengthIn: whenAsked(() => strengthOf(hash)),
        }))
        .sort((first, second) => second.share - first.share),
    }),
  )
  // Asked of every answer to every search, so nothing is made for one.
  const missing: AskedWord[] = []
  const spoken = new Set<number>()
  return (slot, score, learned) => {
    if (asked === 0) return { certainty: 0, coverage: 0 }
    missing.length = 0
    spoken.clear()
    let held = 0
    let covered = learned
    for (const word of all) {
      const strength = word.strengthIn(slot)
      if (strength < 0) missing.push(word)
      else {
        held += word.worth
        covered += word.worth * shareOf(strength)
        for (const { hash } of word.concepts) if (!synonyms.has(hash)) spoken.add(hash)
      }
    }
    for (const { worth, concepts } of missing) {
      let has = false
      let best = 0
      let bestHash = 0
      for (const { hash, share, strengthIn } of concepts) {
        // The nearest come first, and none is worth more than its share.
        if (best >= share) break
        const strength = strengthIn(slot)
        if (strength < 0) continue
        has = true
        const value = share * shareOf(strength)
        if (value <= best || spoken.has(hash)) continue
        best = value
        bestHash = hash
      }
      if (has) held += worth * shares.hint
      covered += worth * best
      if (best > 0 && !synonyms.has(bestHash)) spoken.add(bestHash)
    }
    const byWord = Math.min(1, covered / brief)
    const byScore = Math.min(1, (score + held / 2) / (fullScore * brief))
    const coverage = (1 - length) * byWord + length * byScore
    return { certainty: held / asked, coverage: coverage * effectShareOf(slot) }
  }
}

/** Most words are held, and their concepts never looked at. */
function whenAsked(make: () => (slot: number) => number): (slot: number) => number {
  let made: ((slot: number) => number) | undefined
  return (slot) => {
    made ??= make()
    return made(slot)
  }
}

/** What stands in a long text only is held, but not much spoken of; who says it louder than in a first sentence holds it no more. */
function shareOf(strength: number): number {
  return Math.sqrt(Math.min(1, strength / fullStrength))
}
