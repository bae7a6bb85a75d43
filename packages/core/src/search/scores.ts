/** What each tool scores for a query: one sum over postings, in arrays that are kept from query to query. */

import { findTerm, type Segment } from './index/segment.js'
import { createImpactTable, maximumStrength, saturation } from './index/tally.js'
import type { TermIndex } from './index/term-index.js'
import { createNamedServers } from './named-servers.js'
import type { QueryTerm, QueryTerms } from './query-terms.js'
import type { LearnedTerms } from './searcher.js'
import { effects, hashEffect, severalEffect } from './words/effects.js'
import type { Vocabulary } from './words/vocabulary.js'

/** Words are weighed as if the index were at least this large: few tools say little about which words are rare. */
const leastIndexSize = 3000
/** A concept that more than this share of the tools hold, and this many, decides nothing and is not added up. */
const commonShare = 0.1
const commonLeast = 1500
/** The same of a word that is said for one of theirs. */
const commonSynonyms = 200

/** A word that says little ("tomorrow") tells tools apart no better for being rare: it is weighed as if at least so many held it. */
const leastWeakFrequency = 100

/** What was learned is weighed as if at least so many tools had learned it. */
const leastFrequency = 5
/** Use that adds a third to what a tool's words score gives back all that they lost. */
const usePower = 3
/** Few have learned a term where so many times more hold it. */
const fewUsers = 5
/** A term that more tools than this have learned is not added up: a word, and what a word leads to. */
const commonUsers = { word: 200, other: 60 } as const

export interface Scores {
  /** The score of every slot for these terms, with what was learned from use. Valid until the next call. */
  compute(asked: QueryTerms, learned?: LearnedPostings): Float32Array
  /** The same scores again. */
  readonly last: Float32Array
  /** What of the last score of a slot was learned. */
  getLearnedScore(slot: number): number
  /** What a tool has kept of the last score of its words: see `effect-shares.ts`. */
  getEffectShare(slot: number): number
  /** The same where the query names servers: see `named-servers.ts`. */
  getServerShare(slot: number): number
  /** What one term is worth in a tool that holds it; 0 where it decides nothing. */
  weighTerm(term: QueryTerm): number
  /** The same for a word, however common. */
  weighByRarity(term: QueryTerm): number
  /** What a word is worth that no tool holds. */
  readonly highestRarity: number
}

/** `clauseShare`: the share of the score of a long query that its best clause decides. */
export function createScores(index: TermIndex, clauseShare: number, vocabulary: () => Vocabulary): Scores {
  const strengths = createImpactTable()
  let scores = new Float32Array(0)
  let clauseScores = new Float32Array(0)
  let clauseBest = new Float32Array(0)
  const effectShares = createEffectShares(index)
  const namedServers = createNamedServers(index, vocabulary)
  let effectAsked = 0
  /** Where the last term stands in each segment. */
  const positions: number[] = []
  let learned: LearnedPostings | undefined
  let gains = new Float32Array(0)
  let held = new Uint8Array(0)
  /** Slots that have gained by use. */
  const gained: number[] = []
  const gainOf = createGainTable(strengths)

  const worthAt = (frequency: number): number =>
    Math.log(1 + (Math.max(index.size, leastIndexSize) - frequency + 0.5) / (frequency + 0.5))
  // A word that no tool's own text holds may still have been learned.
  const frequencyOf = (hash: number): number => index.countTools(hash) || (learned?.countTools(hash) ?? 0)
  const rarityAt = ({ weight, kind }: QueryTerm, frequency: number): number =>
    weight * worthAt(Math.max(frequency, kind === 'word' && weight < 1 ? leastWeakFrequency : 0))
  const rarityOf = (term: QueryTerm): number => rarityAt(term, frequencyOf(term.hash))
  const isCommon = ({ kind }: QueryTerm, frequency: number): boolean =>
    (kind === 'concept' && frequency > Math.max(index.size * commonShare, commonLeast)) ||
    (kind === 'synonym' && frequency > Math.max(index.size * commonShare, commonSynonyms))
  /** Looking a frequency up is a good part of what a term costs, so it is done once. */
  const worthIn = (term: QueryTerm, frequency: number): number =>
    isCommon(term, frequency) ? 0 : rarityAt(term, frequency || (learned?.countTools(term.hash) ?? 0))
  const worthOf = (term: QueryTerm): number => worthIn(term, index.countTools(term.hash))

  /** Adds what each term is worth to the tools that hold it. */
  function addUp(terms: readonly QueryTerm[], into: Float32Array): void {
    for (const term of terms) {
      const frequency = index.countTools(term.hash, positions)
      const worth = frequency === 0 ? 0 : worthIn(term, frequency)
      if (worth === 0) continue
      const { segments } = index
      for (let place = 0; place < segments.length; place += 1) {
        const position = positions[place] as number
        if (position < 0) continue
        const segment = segments[place] as Segment
        const start = segment.offsets[position] as number
        const end = segment.offsets[position + 1] as number
        addPostings(into, segment, strengths, worth, start, end)
      }
    }
  }

  /** A word that a tool was used by adds to what it says of itself, and saturates with it. */
  function addLearned(terms: readonly QueryTerm[], from: LearnedPostings): void {
    for (const term of terms) {
      if (term.kind === 'pair') continue
      const users = from.countTools(term.hash)
      // What so many tools are used for tells none of them apart, and costs the most to add up.
      if (users === 0 || users > (term.kind === 'word' ? commonUsers.word : commonUsers.other)) continue
      const frequency = index.countTools(term.hash)
      // A word that only one tool was ever asked by is rare by accident, not because it tells tools apart.
      const worth =
        term.weight *
        Math.min(worthIn(term, frequency) / term.weight, worthAt(Math.max(users, leastFrequency)))
      if (worth === 0) continue
      // Where few have learned the term, each is looked up. Else what all tools hold of it is written down, read, and taken away again.
      const byteAt = users * fewUsers < frequency ? index.createReader(term.hash) : undefined
      if (!byteAt) writeHeld(term.hash, true)
      from.forEach(term.hash, (slots, places, bytes, start, end) => {
        for (let posting = start; posting < end; posting += 1) {
          const slot = places[slots[posting] as number] as number
          if (slot < 0) continue
          const row = byteAt ? findGainRow(byteAt(slot)) : (held[slot] as number)
          const gain = worth * (gainOf[row * 128 + (bytes[posting] as number)] as number)
          if (gains[slot] === 0) gained.push(slot)
          scores[slot] = (scores[slot] as number) + gain
          gains[slot] = (gains[slot] as number) + gain
        }
      })
      if (!byteAt) writeHeld(term.hash, false)
    }
  }

  /** What a tool is used for it does, whatever its words say: use gives back what it lost by its effect, or to another server. */
  function giveBack(): void {
    if (effectAsked === 0 && !namedServers.hasNamedServers) return
    for (const slot of gained) {
      const gain = gains[slot] as number
      const share = effectShares.getShare(slot, effectAsked) * namedServers.getShare(slot)
      if (share === 1) continue
      const own = (scores[slot] as number) - gain
      const whole = own / share
      const back = Math.min(whole - own, ((whole - own) * usePower * gain) / Math.max(gain, whole))
      scores[slot] = own + gain + back
      gains[slot] = gain + back
    }
  }

  /** `held`: 0 where a tool does not hold the term, else its strength and one. */
  function writeHeld(hash: number, isHeld: boolean): void {
    for (const segment of index.segments) {
      const position = findTerm(segment, hash)
      if (position < 0) continue
      const { slots, bytes, base } = segment
      const end = segment.offsets[position + 1] as number
      for (let posting = segment.offsets[position] as number; posting < end; posting += 1)
        held[base + (slots[posting] as number)] = isHeld ? findGainRow(bytes[posting] as number) : 0
    }
  }

  /** Half a dozen requests in one: a tool that answers one of them fully should not lose to one that touches all. */
  function blendClauses(clauses: QueryTerms['clauses'], count: number): void {
    clauseBest.fill(0, 0, count)
    for (const clause of clauses) {
      clauseScores.fill(0, 0, count)
      addUp(clause, clauseScores)
      const highest = findHighest(clauseScores, count)
      if (highest === 0) continue
      for (let slot = 0; slot < count; slot += 1) {
        const score = clauseScores[slot] as number
        if (score > (clauseBest[slot] as number) * highest) clauseBest[slot] = score / highest
      }
    }
    const highest = findHighest(scores, count)
    for (let slot = 0; slot < count; slot += 1)
      scores[slot] =
        (1 - clauseShare) * (scores[slot] as number) + clauseShare * highest * (clauseBest[slot] as number)
  }

  return {
    get highestRarity() {
      return worthAt(0)
    },
    get last() {
      return scores
    },
    weighByRarity: rarityOf,
    weighTerm: worthOf,
    getEffectShare: (slot) => effectShares.getShare(slot, effectAsked),
    getServerShare: (slot) => namedServers.getShare(slot),
    getLearnedScore: (slot) => (learned ? (gains[slot] as number) : 0),
    compute({ whole, clauses, effect }, known) {
      learned = known
      const count = index.slots
      if (scores.length < count) {
        scores = new Float32Array(count)
        clauseScores = new Float32Array(count)
        clauseBest = new Float32Array(count)
      }
      scores.fill(0, 0, count)
      addUp(whole, scores)
      if (clauses.length > 0) blendClauses(clauses, count)
      effectAsked = effect
      effectShares.apply(scores, effect)
      namedServers.apply(scores, whole)
      if (known) {
        if (gains.length < count) {
          gains = new Float32Array(count)
          held = new Uint8Array(count)
        }
        gains.fill(0, 0, count)
        gained.length = 0
        addLearned(whole, known)
        giveBack()
      }
      return scores
    },
  }
}

/** A function of its own: small loops over typed arrays run faster than the same loop inside a larger function. */
function addPostings(
  into: Float32Array,
  { base, slots, bytes, dead, deadCount }: Segment,
  strengths: Float64Array,
  worth: number,
  start: number,
  end: number,
): void {
  const hasDead = deadCount > 0
  for (let posting = start; posting < end; posting += 1) {
    const own = slots[posting] as number
    // What the dead score would be the measure of the living.
    if (hasDead && dead[own] === 1) continue
    into[base + own] = (into[base + own] as number) + worth * (strengths[bytes[posting] as number] as number)
  }
}

function findHighest(scores: Float32Array, count: number): number {
  let highest = 0
  for (let slot = 0; slot < count; slot += 1)
    if ((scores[slot] as number) > highest) highest = scores[slot] as number
  return highest
}

/** The row of that table: 0 where a tool does not hold the term (-1), else its strength and one. */
function findGainRow(byte: number): number {
  return byte < 0 ? 0 : (byte & 0x7f) + 1
}

/** How much stronger a term is in a tool that has learned it by a byte (the column), and holds it by one (the row; 0: not at all). */
function createGainTable(strengths: Float64Array): Float32Array {
  const frequencyOf = (strength: number) =>
    (saturation * strength) / Math.max(1e-6, maximumStrength - strength)
  const table = new Float32Array(129 * 128)
  for (let row = 0; row <= 128; row += 1)
    for (let byte = 0; byte < 128; byte += 1) {
      const before = row === 0 ? 0 : (strengths[row - 1] as number)
      const both = frequencyOf(before) + frequencyOf(strengths[byte] as number)
      table[row * 128 + byte] = Math.max(0, (maximumStrength * both) / (saturation + both) - before)
    }
  return table
}

// What tools keep of their score by what they do to things: a request to list is answered rather by what lists than by what deletes.

/** A tool that does something else to things than what was asked for. */
const otherEffect = 0.6
/** One of which it cannot be said. */
const unknownEffect = 0.9
/** One that gives one thing, where several are asked for. */
const oneOfSeveral = 0.95

export interface EffectShares {
  /** Takes from the scores of all slots what tools do not keep. `asked`: what is to be done, 0 where that cannot be said. */
  apply(scores: Float32Array, asked: number): void
  /** What a tool has kept. */
  getShare(slot: number, asked: number): number
}

/** What each tool does is read once for each change of the index. */
function createEffectShares(index: TermIndex): EffectShares {
  let revision = -1
  let doneBy = new Uint8Array(0)
  /** By what a tool does. Asked for every tool, so it is a table. */
  const shares = new Float64Array(2 ** effects.length)

  function read(): void {
    if (revision === index.revision) return
    revision = index.revision
    doneBy = new Uint8Array(index.slots)
    for (const effect of effects)
      for (const segment of index.segments) {
        const position = findTerm(segment, hashEffect(effect))
        if (position < 0) continue
        const end = segment.offsets[position + 1] as number
        for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
          const slot = segment.base + (segment.slots[posting] as number)
          doneBy[slot] = (doneBy[slot] as number) | effect
        }
      }
  }

  const shareOf = (done: number, asked: number): number =>
    done === 0
      ? unknownEffect
      : (done & asked & ~severalEffect) === 0
        ? otherEffect
        : (asked & ~done & severalEffect) > 0
          ? oneOfSeveral
          : 1

  return {
    apply(scores, asked) {
      if (asked === 0) return
      read()
      for (let done = 0; done < shares.length; done += 1) shares[done] = shareOf(done, asked)
      const count = index.slots
      for (let slot = 0; slot < count; slot += 1)
        scores[slot] = (scores[slot] as number) * (shares[doneBy[slot] as number] as number)
    },
    getShare(slot, asked) {
      if (asked === 0) return 1
      read()
      return shareOf(doneBy[slot] as number, asked)
    },
  }
}

// What was learned from use, laid over the index: terms of tools with strengths, by the slots that these tools have now.

export interface LearnedPostings {
  /** How many tools of the index have learned a term. */
  countTools(term: number): number
  /** Visits the tools that have learned a term, a range of postings at a time: of a slot, where the tool stands, and the strength. */
  forEach(
    term: number,
    visit: (slots: Uint16Array, places: Int32Array, bytes: Uint8Array, start: number, end: number) => void,
  ): void
}

/** Where each tool of one index of examples stands in the index of tools; -1 for one that is not there. */
interface SlotMap {
  readonly learned: number
  readonly indexed: number
  readonly slots: Int32Array
  /** Every tool is there. */
  readonly isWhole: boolean
}

/** Places are looked up once and kept until one of the two indexes changes. */
export function createLearnedReader(index: TermIndex): (learned: readonly LearnedTerms[]) => LearnedPostings {
  const known = new WeakMap<TermIndex, SlotMap>()

  function placesOf(learned: TermIndex): SlotMap {
    const kept = known.get(learned)
    if (kept && kept.learned === learned.revision && kept.indexed === index.revision) return kept
    const slots = new Int32Array(learned.slots)
    for (let slot = 0; slot < slots.length; slot += 1)
      slots[slot] = learned.isDead(slot) ? -1 : index.findSlot(learned.getIdentity(slot).id)
    const isWhole = !slots.includes(-1)
    const places = { learned: learned.revision, indexed: index.revision, slots, isWhole }
    known.set(learned, places)
    return places
  }

  return (given) => {
    // Whoever makes them (`usage/examples-index.ts`) makes such an index.
    const learned = given as readonly TermIndex[]
    const all = learned.map((each) => ({ segments: each.segments, places: placesOf(each) }))
    const isWhole = all.every(({ places }) => places.isWhole)
    return {
      countTools(term) {
        let frequency = 0
        const hasDead = index.segments.some(({ deadCount }) => deadCount > 0)
        forEach(term, (slots, places, _, start, end) => {
          if (isWhole && !hasDead) frequency += end - start
          else
            for (let posting = start; posting < end; posting += 1) {
              const slot = places[slots[posting] as number] as number
              if (slot >= 0 && !(hasDead && index.isDead(slot))) frequency += 1
            }
        })
        return frequency
      },
      forEach,
    }

    function forEach(term: number, visit: Parameters<LearnedPostings['forEach']>[1]): void {
      for (const { segments, places } of all)
        for (const segment of segments) {
          const position = findTerm(segment, term)
          if (position < 0) continue
          const { slots, bytes, base, offsets } = segment
          const own = base === 0 ? places.slots : places.slots.subarray(base)
          visit(slots, own, bytes, offsets[position] as number, offsets[position + 1] as number)
        }
    }
  }
}
