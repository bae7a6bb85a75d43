/** Computes the score of every tool for a query: one sum over postings, in arrays that are reused from query to query. */

import { findTerm, type Segment } from './index/segment.js'
import { createImpactTable, maximumStrength, saturation } from './index/tally.js'
import type { TermIndex } from './index/term-index.js'
import { createNamedServers } from './named-servers.js'
import type { QueryTerm, QueryTerms } from './query-terms.js'
import type { LearnedTerms } from './searcher.js'
import {
  commonMinimum,
  commonShare,
  commonSynonyms,
  commonUsers,
  fewUsers,
  learnedOnlyShare,
  minimumActionFrequency,
  minimumIndexSize,
  minimumLearners,
  minimumWeakFrequency,
  oneOfSeveral,
  otherEffect,
  unknownEffect,
  usePower,
} from './tuning.js'
import { effects, hashEffect, severalEffect } from './words/effects.js'
import type { Vocabulary } from './words/vocabulary.js'

export interface Scores {
  /** Computes the score of every slot, with terms learned from use. The array is valid until the next call. */
  compute(asked: QueryTerms, learned?: LearnedPostings): Float32Array
  /** The scores of the last call. */
  readonly last: Float32Array
  /** Part of the last score of a slot that was learned. */
  getLearnedScore(slot: number): number
  /** Share of its last score that a tool kept because of its effect. */
  getEffectShare(slot: number): number
  /** Share of its last score that a tool kept because of the servers that the query names, see `named-servers.ts`. */
  getServerShare(slot: number): number
  /** Whether the query names the server of a tool. */
  isOfNamedServer(slot: number): boolean
  /** Weight times rarity of a term; 0 for a common concept or synonym. */
  weighTerm(term: QueryTerm): number
  /** Weight times rarity of a term, however common it is. */
  weighByRarity(term: QueryTerm): number
  /** Rarity of a word that no tool has. */
  readonly highestRarity: number
}

/** `clauseShare`: the share of a long query's score that its best clause decides. */
export function createScores(index: TermIndex, clauseShare: number, vocabulary: () => Vocabulary): Scores {
  const strengths = createImpactTable()
  let scores = new Float32Array(0)
  let clauseScores = new Float32Array(0)
  let clauseBest = new Float32Array(0)
  const effectShares = createEffectShares(index)
  const namedServers = createNamedServers(index, vocabulary)
  let requestedEffect = 0
  /** Position of the last term in each segment. */
  const positions: number[] = []
  let learned: LearnedPostings | undefined
  let gains = new Float32Array(0)
  let strengthRows = new Uint8Array(0)
  /** Slots that gained through use. */
  const gained: number[] = []
  const gainTable = createGainTable(strengths)

  const computeRarity = (frequency: number): number =>
    Math.log(1 + (Math.max(index.size, minimumIndexSize) - frequency + 0.5) / (frequency + 0.5))
  // The smaller the index, the less it says about how common an action is.
  const computeActionMinimum = (): number =>
    minimumActionFrequency * Math.max(0, 1 - index.size / minimumIndexSize)
  // A word that no tool's own text has may still have been learned.
  const countToolsOrLearners = (hash: number): number =>
    index.countTools(hash) || (learned?.countTools(hash) ?? 0)
  const applyRarity = ({ weight, kind, action }: QueryTerm, frequency: number): number => {
    const isWeak = kind === 'word' && weight < 1
    const least = isWeak ? minimumWeakFrequency : action ? computeActionMinimum() : 0
    return weight * computeRarity(Math.max(frequency, least))
  }
  const weighByRarity = (term: QueryTerm): number => applyRarity(term, countToolsOrLearners(term.hash))
  const isCommon = ({ kind }: QueryTerm, frequency: number): boolean =>
    (kind === 'concept' && frequency > Math.max(index.size * commonShare, commonMinimum)) ||
    (kind === 'synonym' && frequency > Math.max(index.size * commonShare, commonSynonyms))
  /** Takes the frequency as an argument, because looking it up is a large part of the cost of a term. */
  const weighWithFrequency = (term: QueryTerm, frequency: number): number =>
    isCommon(term, frequency)
      ? 0
      : term.share * applyRarity(term, frequency || (learned?.countTools(term.hash) ?? 0))
  const weighTerm = (term: QueryTerm): number => weighWithFrequency(term, index.countTools(term.hash))

  /** Adds the importance of each term to the tools that have it. */
  function addTerms(terms: readonly QueryTerm[], into: Float32Array): void {
    for (const term of terms) {
      const frequency = index.countTools(term.hash, positions)
      const importance = frequency === 0 ? 0 : weighWithFrequency(term, frequency)
      if (importance === 0) continue
      const { segments } = index
      for (let place = 0; place < segments.length; place += 1) {
        const position = positions[place] as number
        if (position < 0) continue
        const segment = segments[place] as Segment
        const start = segment.offsets[position] as number
        const end = segment.offsets[position + 1] as number
        addPostings(into, segment, strengths, importance, start, end)
      }
    }
  }

  /** Adds learned terms. They saturate together with the tool's own terms. */
  function addLearned(terms: readonly QueryTerm[], from: LearnedPostings): void {
    for (const term of terms) {
      if (term.kind === 'pair') continue
      const users = from.countTools(term.hash)
      // A term that many tools have learned does not distinguish them, and is the most expensive to add.
      if (users === 0 || users > (term.kind === 'word' ? commonUsers.word : commonUsers.other)) continue
      const frequency = index.countTools(term.hash)
      // A word learned by a single tool is rare by accident.
      const importance =
        term.weight *
        Math.min(
          weighWithFrequency(term, frequency) / term.weight,
          computeRarity(Math.max(users, minimumLearners)),
        )
      if (importance === 0) continue
      // Few learners are looked up one by one. Otherwise the strengths of all tools are written to an array and erased afterwards.
      const readByte = users * fewUsers < frequency ? index.createReader(term.hash) : undefined
      if (!readByte) markStrengths(term.hash, true)
      from.forEach(term.hash, (slots, places, bytes, start, end) => {
        for (let posting = start; posting < end; posting += 1) {
          const slot = places[slots[posting] as number] as number
          if (slot < 0) continue
          const row = readByte ? findGainRow(readByte(slot)) : (strengthRows[slot] as number)
          const gain = importance * (gainTable[row * 128 + (bytes[posting] as number)] as number)
          if (gains[slot] === 0) gained.push(slot)
          scores[slot] = (scores[slot] as number) + gain
          gains[slot] = (gains[slot] as number) + gain
        }
      })
      if (!readByte) markStrengths(term.hash, false)
    }
  }

  /** Restores score that a used tool lost through its effect or another named server: use proves that the tool fits. */
  function restoreUsedTools(): void {
    if (requestedEffect === 0 && !namedServers.hasNamedServers) return
    for (const slot of gained) {
      const gain = gains[slot] as number
      const share = effectShares.getShare(slot, requestedEffect) * namedServers.getShare(slot)
      if (share === 1) continue
      const own = (scores[slot] as number) - gain
      const whole = own / share
      const back = Math.min(whole - own, ((whole - own) * usePower * gain) / Math.max(gain, whole))
      scores[slot] = own + gain + back
      gains[slot] = gain + back
    }
  }

  /** Limits tools that only use finds, so that a tool that was used for many queries does not rank first everywhere. */
  function limitLearnedOnly(most: number): void {
    for (const slot of gained) {
      if (scores[slot] !== gains[slot] || (gains[slot] as number) <= most) continue
      scores[slot] = most
      gains[slot] = most
    }
  }

  /** Writes or erases the gain table row of each tool that has the term. */
  function markStrengths(hash: number, isMarking: boolean): void {
    for (const segment of index.segments) {
      const position = findTerm(segment, hash)
      if (position < 0) continue
      const { slots, bytes, base } = segment
      const end = segment.offsets[position + 1] as number
      for (let posting = segment.offsets[position] as number; posting < end; posting += 1)
        strengthRows[base + (slots[posting] as number)] = isMarking
          ? findGainRow(bytes[posting] as number)
          : 0
    }
  }

  /** Blends in the best clause of a long query, so a tool that fully answers one clause does not lose to a tool that touches all. */
  function blendClauses(clauses: QueryTerms['clauses'], count: number): void {
    clauseBest.fill(0, 0, count)
    for (const clause of clauses) {
      clauseScores.fill(0, 0, count)
      addTerms(clause, clauseScores)
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
      return computeRarity(0)
    },
    get last() {
      return scores
    },
    weighByRarity,
    weighTerm,
    getEffectShare: (slot) => effectShares.getShare(slot, requestedEffect),
    getServerShare: (slot) => namedServers.getShare(slot),
    isOfNamedServer: (slot) => namedServers.isNamed(slot),
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
      addTerms(whole, scores)
      if (clauses.length > 0) blendClauses(clauses, count)
      requestedEffect = effect
      effectShares.apply(scores, effect)
      namedServers.apply(scores, whole)
      if (known) {
        if (gains.length < count) {
          gains = new Float32Array(count)
          strengthRows = new Uint8Array(count)
        }
        gains.fill(0, 0, count)
        gained.length = 0
        const best = findHighest(scores, count)
        addLearned(whole, known)
        restoreUsedTools()
        if (best > 0) limitLearnedOnly(learnedOnlyShare * best)
      }
      return scores
    },
  }
}

/** Kept separate: small loops over typed arrays run faster than the same loop inside a larger function. */
function addPostings(
  into: Float32Array,
  { base, slots, bytes, dead, deadCount }: Segment,
  strengths: Float64Array,
  importance: number,
  start: number,
  end: number,
): void {
  const hasDead = deadCount > 0
  for (let posting = start; posting < end; posting += 1) {
    const own = slots[posting] as number
    // Dead tools must not affect the scores of living ones.
    if (hasDead && dead[own] === 1) continue
    into[base + own] =
      (into[base + own] as number) + importance * (strengths[bytes[posting] as number] as number)
  }
}

function findHighest(scores: Float32Array, count: number): number {
  let highest = 0
  for (let slot = 0; slot < count; slot += 1)
    if ((scores[slot] as number) > highest) highest = scores[slot] as number
  return highest
}

/** Finds the row of the gain table: 0 if the tool does not have the term (-1), else its strength plus one. */
function findGainRow(byte: number): number {
  return byte < 0 ? 0 : (byte & 0x7f) + 1
}

/** Precomputes how much a learned strength (column) adds to a tool's own strength (row; 0 if it lacks the term). */
function createGainTable(strengths: Float64Array): Float32Array {
  const toFrequency = (strength: number) =>
    (saturation * strength) / Math.max(1e-6, maximumStrength - strength)
  const table = new Float32Array(129 * 128)
  for (let row = 0; row <= 128; row += 1)
    for (let byte = 0; byte < 128; byte += 1) {
      const before = row === 0 ? 0 : (strengths[row - 1] as number)
      const both = toFrequency(before) + toFrequency(strengths[byte] as number)
      table[row * 128 + byte] = Math.max(0, (maximumStrength * both) / (saturation + both) - before)
    }
  return table
}

export interface EffectShares {
  /** Lowers the scores of all slots. `asked`: the requested effect, or 0. */
  apply(scores: Float32Array, asked: number): void
  /** Share of its score that a tool keeps. */
  getShare(slot: number, asked: number): number
}

/** Reads the effects of all tools again after each change of the index. */
function createEffectShares(index: TermIndex): EffectShares {
  let revision = -1
  let effectBySlot = new Uint8Array(0)
  /** Share by effect bits. */
  const shares = new Float64Array(2 ** effects.length)

  function read(): void {
    if (revision === index.revision) return
    revision = index.revision
    effectBySlot = new Uint8Array(index.slots)
    for (const effect of effects)
      for (const segment of index.segments) {
        const position = findTerm(segment, hashEffect(effect))
        if (position < 0) continue
        const end = segment.offsets[position + 1] as number
        for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
          const slot = segment.base + (segment.slots[posting] as number)
          effectBySlot[slot] = (effectBySlot[slot] as number) | effect
        }
      }
  }

  const computeShare = (done: number, asked: number): number =>
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
      for (let done = 0; done < shares.length; done += 1) shares[done] = computeShare(done, asked)
      const count = index.slots
      for (let slot = 0; slot < count; slot += 1)
        scores[slot] = (scores[slot] as number) * (shares[effectBySlot[slot] as number] as number)
    },
    getShare(slot, asked) {
      if (asked === 0) return 1
      read()
      return computeShare(effectBySlot[slot] as number, asked)
    },
  }
}

/** Terms learned from use, with the slots that their tools have in the index. */
export interface LearnedPostings {
  /** Counts the tools of the index that have learned a term. */
  countTools(term: number): number
  /** Visits the tools that have learned a term, one range of postings at a time. `places` maps learned slots to index slots. */
  forEach(
    term: number,
    visit: (slots: Uint16Array, places: Int32Array, bytes: Uint8Array, start: number, end: number) => void,
  ): void
}

/** Index slot of each tool of a learned index; -1 if the index does not have the tool. */
interface SlotMap {
  readonly learned: number
  readonly indexed: number
  readonly slots: Int32Array
  /** The index has every tool. */
  readonly isWhole: boolean
}

/** Maps are cached until one of the two indexes changes. */
export function createLearnedReader(index: TermIndex): (learned: readonly LearnedTerms[]) => LearnedPostings {
  const known = new WeakMap<TermIndex, SlotMap>()

  function mapSlots(learned: TermIndex): SlotMap {
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
    // `usage/examples.ts` creates these indexes.
    const learned = given as readonly TermIndex[]
    const all = learned.map((each) => ({ segments: each.segments, places: mapSlots(each) }))
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
