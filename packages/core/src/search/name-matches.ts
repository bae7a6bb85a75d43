/** Finds tools whose name is written in a query, exactly or nearly, and measures how well a name fits. */

import { editDistance } from '../base/nearest.js'
import { findTerm, type Identity } from './index/segment.js'
import {
  countAllowedTypos,
  countBits,
  encodeLetters,
  foldSpelling,
  hashTerm,
  nameSeed,
  trimServerName,
} from './index/spelling.js'
import type { TermIndex } from './index/term-index.js'
import type { QueryTerm } from './query-terms.js'
import { isStopWord, stem } from './words/tokenize.js'
import type { Term, Vocabulary } from './words/vocabulary.js'

/**
 * A word used by tools of more servers than this is a common word. Counts servers, so one server alone cannot make a word common;
 * a tool without a server counts as a server.
 */
const commonWordServers = 3
/** A longer query cannot be a name as a whole. */
const nameWordLimit = 8

const lettersInRow = /\p{L}{2}/u

export interface NamesInQuery {
  /** Tier of each matching slot. A higher tier ranks first. */
  readonly tiers: ReadonlyMap<number, number>
  /** Slots whose name is a plain word of a longer query. They rank first, but the word may not be meant as a name. */
  readonly byWord: ReadonlySet<number>
}

export interface NameMatches {
  findInQuery(text: string): NamesInQuery
  /** Finds tools with exactly this name; if there are none, ignores case and separators. */
  findByName(name: string): number[]
}

export function createNameMatches(index: TermIndex, vocabulary: () => Vocabulary): NameMatches {
  /** Checks whether a word is common. `own`: the server of the tool with this name. */
  function isCommonWord(word: string, own: string): boolean {
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
        // "Incidents in datadog" means that server, not a tool of another server.
        if (server !== own && hasWordInName(server, word)) return true
        if (servers.size > commonWordServers) return true
      }
    }
    return false
  }

  function findInQuery(text: string): NamesInQuery {
    const tiers = new Map<number, number>()
    const byWord = new Map<string, [slot: number, tier: number][]>()
    const raiseTier = (slot: number, tier: number): void => {
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
          (isStopWord(candidate.text) || isCommonWord(candidate.text, index.getIdentity(slot).server))
        )
          return
        known = true
        if (!candidate.plain) raiseTier(slot, tier)
        else byWord.set(candidate.folded, [...(byWord.get(candidate.folded) ?? []), [slot, tier]])
      })
      if (!known && mayBeMisspelt(candidate))
        for (const slot of findNearMisses(candidate.folded)) raiseTier(slot, nearMissTier)
    }
    // One plain word may be meant as a name. If several are names, the query is a sentence and they are just words.
    const [meant = [], ...others] = byWord.values()
    const plain = others.length > 0 ? [] : meant.filter(([slot]) => !tiers.has(slot))
    for (const [slot, tier] of plain) raiseTier(slot, tier)
    return { tiers, byWord: new Set(plain.map(([slot]) => slot)) }
  }

  /** Finds the tools whose folded name differs least, by one or two typos. */
  function findNearMisses(wanted: string): number[] {
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

  /** Checks whether a name has a word that no tool uses: `set_user` is not a typo for `get_user`. */
  function mayBeMisspelt({ text, folded, plain }: Candidate): boolean {
    if (plain || countAllowedTypos(folded) === 0 || folded.length > 80 || index.size === 0) return false
    // Skips dates and numbers.
    if (!lettersInRow.test(folded)) return false
    const words = vocabulary().readWords(text)
    const isUnknown = ({ hash, isStopWord }: Term) => !isStopWord && index.countTools(hash) === 0
    return (
      words.length <= nameWordLimit &&
      words.some(
        ({ whole, parts }) =>
          isUnknown(whole) && (parts.length === 0 || parts.some((part) => isUnknown(part))),
      )
    )
  }

  function findByName(name: string): number[] {
    const tiers = new Map<number, number>()
    for (const candidate of listCandidates(name).filter(({ whole }) => whole))
      index.forEachPosting(hashTerm(candidate.folded, nameSeed), (slot) => {
        const tier = findTier(index.getIdentity(slot), candidate)
        if (tier > 0) tiers.set(slot, tier)
      })
    const best = Math.max(...tiers.values())
    return [...tiers].filter(([, tier]) => tier === best).map(([slot]) => slot)
  }

  return { findInQuery, findByName }
}

function hasWordInName(server: string, word: string): boolean {
  return server
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .includes(word.toLowerCase())
}

export interface ExactName {
  readonly raw: string
  readonly folded: string
  readonly alias: boolean
}

/** Lists everything a tool can be called: its id, its name and aliases, alone and after the server. */
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
  /** The piece is the whole query. */
  readonly whole: boolean
  /** The piece is a plain word without separator or mixed case. */
  readonly plain: boolean
}

/** Matches most words of a sentence: lower case or capitalised, with punctuation around them. */
const plainWord = /^["'([]?([A-Za-z][a-z]{0,199})[.,;:!?)\]"']{0,2}$/

/** Lists the whole query, then its words without punctuation, at most `limit`. */
function listCandidates(text: string, limit = 64): Candidate[] {
  const candidates: Candidate[] = []
  const seen = new Set<string>()
  const add = (written: string, whole: boolean): void => {
    // Many clients write this prefix before server and tool.
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

/** Rates how surely a candidate with the same folded name means the tool; 0 if it does not. A higher tier ranks first. */
function findTier(identity: Identity, candidate: Candidate): number {
  let best = 0
  for (const name of listExactNames(identity)) {
    if (name.folded !== candidate.folded) continue
    // A plain word must match the spelling of the name: "getuser" in a sentence is not `get_user`.
    if (candidate.plain && name.raw.toLowerCase() !== candidate.text.toLowerCase()) continue
    const tier = (name.alias ? 2 : name.raw === candidate.text ? 4 : 3) + (candidate.whole ? 3 : 0)
    if (tier > best) best = tier
  }
  return best
}

/** Tier of a misspelt name, below all correct ones. */
const nearMissTier = 1

/** How a query names a tool. */
export type NameMatch = 'exact' | 'other-spelling' | 'alias' | 'near-miss'

/** Describes a tier; undefined if the query does not name the tool. */
export function describeTier(tier: number): NameMatch | undefined {
  if (tier <= nearMissTier) return tier === nearMissTier ? 'near-miss' : undefined
  return (['alias', 'other-spelling', 'exact'] as const)[(tier - 2) % 3]
}

/** Removes quotes, brackets and commas around a word. */
function trimPunctuation(word: string): string {
  return word.replace(/^[^\p{L}\p{N}@_]+/u, '').replace(/[^\p{L}\p{N}\p{M}_]+$/u, '')
}

function hasSeparator(text: string): boolean {
  return /[^\p{L}\p{N}\p{M}]|\p{Ll}\p{Lu}/u.test(text)
}

/**
 * Cost of each name word that the query does not contain, for the score and for coverage. For "a mock server", `createMock` fits
 * better than `deleteMockServerResponse`.
 */
const unaskedCost = { score: 0.15, coverage: 0.04 } as const
const maximumUnasked = 3
/** Most names have one such word, so one does not lower the coverage, and none raises it. */
const usualUnasked = 1
/** Number of cached names. The cache is emptied when it is full. */
const cacheLimit = 10_000
/** In a longer query other name words cost less. In a query of one word they cost nothing. */
const usualWords = 6

/** How well a name fits a query. Words of the server name do not count, because all its tools may have them. */
export interface NameFit {
  /** Share of its score that a tool keeps. */
  readonly share: number
  /** Added to its coverage; negative if the name has many other words. */
  readonly gain: number
}

export function createNameFit(
  index: TermIndex,
  vocabulary: () => Vocabulary,
): (terms: readonly QueryTerm[]) => (slot: number) => NameFit {
  let revision = -1
  /** By slot, because the same tools are the best hits of many queries. For each name word: the number of its hashes, then the hashes. */
  const cache = new Map<number, Int32Array>()

  function readNameHashes(slot: number): Int32Array {
    const known = cache.get(slot)
    if (known) return known
    const words = listOwnWords(index.getIdentity(slot), vocabulary())
    const hashes = Int32Array.from(
      words.flatMap(({ hash, concepts }) => [1 + concepts.length, hash, ...concepts]),
    )
    if (cache.size >= cacheLimit) cache.clear()
    cache.set(slot, hashes)
    return hashes
  }

  return (terms) => {
    if (revision !== index.revision) cache.clear()
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
      const hashes = readNameHashes(slot)
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
  const listTerms = (text: string) =>
    vocabulary
      .readWords(text)
      .flatMap(({ whole, parts, pair }) => (pair ? [] : parts.length > 0 ? parts : [whole]))
  const known = new Set(listTerms(trimServerName(server)).map(({ hash }) => hash))
  const own = listTerms(name).filter(({ hash, isStopWord }) => !isStopWord && !known.has(hash))
  return [...new Map(own.map((term) => [term.hash, term])).values()]
}
