/** Tools whose name stands in a query, exactly or nearly, and how surely each is meant. */

import { editDistance } from '../base/nearest.js'
import { trimServerName } from './fields.js'
import { findTerm, type Identity } from './index/segment.js'
import {
  countAllowedTypos,
  countBits,
  encodeLetters,
  foldSpelling,
  hashTerm,
  nameSeed,
} from './index/spelling.js'
import type { TermIndex } from './index/term-index.js'
import type { QueryTerm } from './query-terms.js'
import { isStopWord, stem } from './words/tokenize.js'
import type { Term, Vocabulary } from './words/vocabulary.js'

/**
 * A word used by the tools of more servers than this is common vocabulary. Servers, so that one alone cannot make it so; a tool
 * without one stands for itself.
 */
const commonWordServers = 3
/** A query of more words is not taken for a name as a whole. */
const nameWordLimit = 8

const lettersInRow = /\p{L}{2}/u

export interface NamesInQuery {
  /** Slot → tier of the match; a higher tier goes first. */
  readonly tiers: ReadonlyMap<number, number>
  /** Slots whose name is a plain word of a longer query: they go first, but the word may be no more than a word. */
  readonly byWord: ReadonlySet<number>
}

export interface NameMatches {
  findInQuery(text: string): NamesInQuery
  /** Tools that go by this very name; in any spelling of case and separators if there is none. */
  findByName(name: string): number[]
  /** Tools whose name differs in a slip or two: the nearest only. */
  nearly(name: string): number[]
}

export function createNameMatches(index: TermIndex, vocabulary: () => Vocabulary): NameMatches {
  /** `own`: the server of the tool that is called so. */
  function isVocabulary(word: string, own: string): boolean {
    const servers = new Set<string>()
    const term = hashTerm(stem(word.toLowerCase()))
    for (const segment of index.segments) {
      const position = findTerm(segment, term)
      if (position < 0) continue
      const end = segment.offsets[position + 1] as number
      for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
        const slot = segment.slots[posting] as number
        if (segment.dead[slot] === 1) continue
        const { server = '', id = '' } = segment.identities[slot] ?? {}
        if (servers.has(server || id)) continue
        servers.add(server || id)
        // "Incidents in datadog" means the server of that name, not another one's tool.
        if (server !== own && hasWordInName(server, word)) return true
        if (servers.size > commonWordServers) return true
      }
    }
    return false
  }

  function inQuery(text: string): NamesInQuery {
    const tiers = new Map<number, number>()
    const byWord = new Map<string, [slot: number, tier: number][]>()
    const lift = (slot: number, tier: number): void => {
      if (tier > (tiers.get(slot) ?? 0)) tiers.set(slot, tier)
    }
    for (const candidate of listCandidates(text)) {
      let known = false
      index.forEachPosting(hashTerm(candidate.folded, nameSeed), (slot) => {
        const tier = findTier(index.getIdentity(slot), candidate)
        if (tier === 0) return
        if (
          candidate.plain &&
          !known &&
          (isStopWord(candidate.text) || isVocabulary(candidate.text, index.getIdentity(slot).server))
        )
          return
        known = true
        if (!candidate.plain) lift(slot, tier)
        else byWord.set(candidate.folded, [...(byWord.get(candidate.folded) ?? []), [slot, tier]])
      })
      if (!known && mayBeMisspelt(candidate))
        for (const slot of nearMisses(candidate.folded)) lift(slot, nearMissTier)
    }
    // One plain word may be meant as a name. Where several are somebody's names, the query is a sentence, and they are its words.
    const [meant = [], ...others] = byWord.values()
    const plain = others.length > 0 ? [] : meant.filter(([slot]) => !tiers.has(slot))
    for (const [slot, tier] of plain) lift(slot, tier)
    return { tiers, byWord: new Set(plain.map(([slot]) => slot)) }
  }

  /** Tools whose name differs from a folded one in a slip or two: the nearest only. */
  function nearMisses(wanted: string): number[] {
    let furthest = countAllowedTypos(wanted)
    const letters = encodeLetters(wanted)
    let found: number[] = []
    for (const segment of index.segments) {
      const { lengths, letters: known } = segment
      for (let at = 0; at < lengths.length; at += 1) {
        if (Math.abs((lengths[at] as number) - wanted.length) > furthest) continue
        if (countBits((known[at] as number) ^ letters) > 2 * furthest || segment.dead[at >> 1] === 1) continue
        const { name, server } = segment.identities[at >> 1] as Identity
        const folded = (at & 1) === 0 ? foldSpelling(name) : foldSpelling(server) + foldSpelling(name)
        const distance = editDistance(wanted, folded, furthest)
        if (distance === undefined) continue
        if (distance < furthest) found = []
        furthest = distance
        found.push(segment.base + (at >> 1))
      }
    }
    return found
  }

  /** A name is misspelt where it holds a word that no tool uses: `set_user` is not a slip for `get_user`. */
  function mayBeMisspelt({ text, folded, plain }: Candidate): boolean {
    if (plain || countAllowedTypos(folded) === 0 || folded.length > 80 || index.size === 0) return false
    // A date, a number.
    if (!lettersInRow.test(folded)) return false
    const words = vocabulary().readWords(text)
    const isUnknown = ({ hash, isStopWord: empty }: Term) => !empty && index.countTools(hash) === 0
    return (
      words.length <= nameWordLimit &&
      words.some(
        ({ whole, parts }) =>
          isUnknown(whole) && (parts.length === 0 || parts.some((part) => isUnknown(part))),
      )
    )
  }

  function called(name: string): number[] {
    const tiers = new Map<number, number>()
    for (const candidate of listCandidates(name).filter(({ whole }) => whole))
      index.forEachPosting(hashTerm(candidate.folded, nameSeed), (slot) => {
        const tier = findTier(index.getIdentity(slot), candidate)
        if (tier > 0) tiers.set(slot, tier)
      })
    const best = Math.max(...tiers.values())
    return [...tiers].filter(([, tier]) => tier === best).map(([slot]) => slot)
  }

  return { findInQuery: inQuery, findByName: called, nearly: (name) => nearMisses(foldSpelling(name)) }
}

function hasWordInName(server: string, word: string): boolean {
  return server
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .includes(word.toLowerCase())
}

// Names inside a query: written exactly, with other separators, or nearly so. They go before everything the words find.

export interface ExactName {
  readonly raw: string
  readonly folded: string
  readonly alias: boolean
}

/** Everything a tool may be called by: its id, its name and aliases, and those behind the server. */
export function listExactNames(document: Identity): ExactName[] {
  const names: ExactName[] = []
  const add = (raw: string, alias: boolean): void => {
    const folded = foldSpelling(raw)
    if (!names.some((name) => name.raw === raw && name.alias === alias)) names.push({ raw, folded, alias })
  }
  const addWithServer = (name: string, alias: boolean): void => {
    add(name, alias)
    if (document.server === '') return
    add(`${document.server}/${name}`, alias)
  }
  add(document.id, false)
  addWithServer(document.name, false)
  for (const alias of document.aliases) addWithServer(alias, true)
  return names
}

/** A piece of a query that may be a name. */
interface Candidate {
  readonly text: string
  readonly folded: string
  /** It is the whole query. */
  readonly whole: boolean
  /** It is a plain word, without separator or mixed case. */
  readonly plain: boolean
}

/** Nearly all words of a sentence: in lower case or only capitalised, with its punctuation around them. */
const plainWord = /^["'([]?([A-Za-z][a-z]{0,199})[.,;:!?)\]"']{0,2}$/

/** The whole query, then its words without the punctuation around them. At most `limit` of them. */
function listCandidates(text: string, limit = 64): Candidate[] {
  const candidates: Candidate[] = []
  const seen = new Set<string>()
  const add = (written: string, whole: boolean): void => {
    // Many clients put this in front of server and tool.
    const piece = written.startsWith('mcp__') ? written.replace(/^mcp__(?=.*__)/, '') : written
    const folded = foldSpelling(piece)
    if (folded === '' || (!whole && folded.length < 3) || seen.has(piece)) return
    seen.add(piece)
    candidates.push({ text: piece, folded, whole, plain: !whole && !hasSeparator(piece) })
  }
  const trimmed = text.trim()
  if (trimmed.length <= 200) add(trimmed, true)
  for (const word of trimmed.split(/\s+/)) {
    if (candidates.length >= limit) break
    const plain = plainWord.exec(word)?.[1]
    if (plain === undefined) {
      if (word.length <= 200) add(trimPunctuation(word), false)
    } else if (plain.length >= 3 && !seen.has(plain)) {
      seen.add(plain)
      candidates.push({ text: plain, folded: plain.toLowerCase(), whole: false, plain: true })
    }
  }
  return candidates
}

/** How surely a tool is meant by a candidate with the same folded name; 0 if it is not. A higher tier goes first. */
function findTier(identity: Identity, candidate: Candidate): number {
  let best = 0
  for (const name of listExactNames(identity)) {
    if (name.folded !== candidate.folded) continue
    // A plain word has to be the name as it is written: "getuser" in a sentence is not `get_user`.
    if (candidate.plain && name.raw.toLowerCase() !== candidate.text.toLowerCase()) continue
    const tier = (name.alias ? 2 : name.raw === candidate.text ? 4 : 3) + (candidate.whole ? 3 : 0)
    if (tier > best) best = tier
  }
  return best
}

/** Tier of a name that is spelt wrongly, below all that are spelt right. */
const nearMissTier = 1

/** How a query names a tool. */
export type NameMatch = 'exact' | 'other-spelling' | 'alias' | 'near-miss'

/** A tier in words; undefined where the tool is not named. */
export function describeTier(tier: number): NameMatch | undefined {
  if (tier <= nearMissTier) return tier === nearMissTier ? 'near-miss' : undefined
  return (['alias', 'other-spelling', 'exact'] as const)[(tier - 2) % 3]
}

/** A word as it stands in a sentence, without the quotes, brackets and commas around it. */
function trimPunctuation(word: string): string {
  return word.replace(/^[^\p{L}\p{N}@_]+/u, '').replace(/[^\p{L}\p{N}\p{M}_]+$/u, '')
}

function hasSeparator(text: string): boolean {
  return /[^\p{L}\p{N}\p{M}]|\p{Ll}\p{Lu}/u.test(text)
}

// What a tool's name says beyond what was asked for: who wants a mock server wants `createMock` rather than `deleteMockServerResponse`.

/** What each word of a name that nobody asked for costs of the score and of what is accounted for, and how many count. */
const unaskedCost = { score: 0.15, coverage: 0.04 } as const
const maximumUnasked = 3
/** Most names have one such word. It costs nothing of what is accounted for, and to have none adds to it. */
const usualUnasked = 1
/** Names that are remembered; when there are more, all are forgotten. */
const cacheLimit = 10_000
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
): (terms: readonly QueryTerm[]) => (slot: number) => NameFit {
  let revision = -1
  /** By slot, since the same tools are the best of many requests. Each word of a name: how many hashes it goes by, and those. */
  const read = new Map<number, Int32Array>()

  function wordsOf(slot: number): Int32Array {
    const known = read.get(slot)
    if (known) return known
    const words = listOwnWords(index.getIdentity(slot), vocabulary())
    const hashes = Int32Array.from(
      words.flatMap(({ hash, concepts }) => [1 + concepts.length, hash, ...concepts]),
    )
    if (read.size >= cacheLimit) read.clear()
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
      for (let at = 0; at < hashes.length && unasked < maximumUnasked; ) {
        const end = at + 1 + (hashes[at] as number)
        let isAsked = false
        for (at += 1; at < end; at += 1) isAsked ||= asked.has(hashes[at] as number)
        if (!isAsked) unasked += 1
      }
      return {
        share: 1 / (1 + unaskedCost.score * weight * unasked),
        gain: unaskedCost.coverage * weight * (usualUnasked - unasked),
      }
    }
  }
}

function listOwnWords({ name, server }: Identity, vocabulary: Vocabulary): readonly Term[] {
  const termsOf = (text: string) =>
    vocabulary
      .readWords(text)
      .flatMap(({ whole, parts, pair }) => (pair ? [] : parts.length > 0 ? parts : [whole]))
  const known = new Set(termsOf(trimServerName(server)).map(({ hash }) => hash))
  const own = termsOf(name).filter(({ hash, isStopWord: empty }) => !empty && !known.has(hash))
  return [...new Map(own.map((term) => [term.hash, term])).values()]
}
