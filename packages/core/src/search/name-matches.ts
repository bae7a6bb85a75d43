/** Finds tools whose name is written in a query, and measures how well a name fits. */

import type { Identity } from './index/segment.js'
import { foldSpelling, hashTerm, nameSeed, trimServerName } from './index/spelling.js'
import type { TermIndex } from './index/term-index.js'
import type { QueryTerm } from './query-terms.js'
import { maximumUnasked, unaskedCost, usualQueryWords, usualUnasked } from './tuning.js'
import type { Term, Vocabulary } from './words/vocabulary.js'

export interface NameMatches {
  /** Finds the tools that a query names, with their tiers. A higher tier ranks first. */
  findInQuery(text: string): ReadonlyMap<number, number>
  /** Finds tools with exactly this name; if there are none, ignores case and separators. */
  findByName(name: string): number[]
}

export function createNameMatches(index: TermIndex): NameMatches {
  function findInQuery(text: string): ReadonlyMap<number, number> {
    const tiers = new Map<number, number>()
    for (const candidate of listCandidates(text)) {
      index.forEachPosting(hashTerm(candidate.folded, nameSeed), (slot) => {
        const tier = findTier(index.getIdentity(slot), candidate)
        if (tier > 0) tiers.set(slot, Math.max(tier, tiers.get(slot) ?? 0))
      })
    }
    return tiers
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
}

/**
 * Lists the whole query, then its words that are written like a name, with a separator or in mixed case, at most `limit`. A plain
 * word of a sentence ("search") is rarely meant as a name.
 */
function listCandidates(text: string, limit = 64): Candidate[] {
  const candidates: Candidate[] = []
  const seen = new Set<string>()
  const add = (written: string, whole: boolean): void => {
    // Many clients write this prefix before server and tool.
    const piece = written.startsWith('mcp__') ? written.replace(/^mcp__(?=.*__)/, '') : written
    const folded = foldSpelling(piece)
    if (folded === '' || (!whole && folded.length < 3) || seen.has(piece)) return
    seen.add(piece)
    candidates.push({ text: piece, folded, whole })
  }
  const trimmed = text.trim()
  if (trimmed.length <= 200) add(trimmed, true)
  for (const word of trimmed.split(/\s+/)) {
    if (candidates.length >= limit) break
    const piece = word.length <= 200 ? trimPunctuation(word) : ''
    if (hasSeparator(piece)) add(piece, false)
  }
  return candidates
}

/** Rates how surely a candidate with the same folded name means the tool; 0 if it does not. A higher tier ranks first. */
function findTier(identity: Identity, candidate: Candidate): number {
  let best = 0
  for (const name of listExactNames(identity)) {
    if (name.folded !== candidate.folded) continue
    const tier = (name.alias ? 1 : name.raw === candidate.text ? 3 : 2) + (candidate.whole ? 3 : 0)
    if (tier > best) best = tier
  }
  return best
}

/** How a query names a tool. */
export type NameMatch = 'exact' | 'other-spelling' | 'alias'

/** Describes a tier; undefined if the query does not name the tool. */
export function describeTier(tier: number): NameMatch | undefined {
  return tier === 0 ? undefined : (['alias', 'other-spelling', 'exact'] as const)[(tier - 1) % 3]
}

/** Removes quotes, brackets and commas around a word. */
function trimPunctuation(word: string): string {
  return word.replace(/^[^\p{L}\p{N}@_]+/u, '').replace(/[^\p{L}\p{N}\p{M}_]+$/u, '')
}

function hasSeparator(text: string): boolean {
  return /[^\p{L}\p{N}\p{M}]|\p{Ll}\p{Lu}/u.test(text)
}

/** Number of cached names. The cache is emptied when it is full. */
const cacheLimit = 10_000

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
    const weight = words < 2 ? 0 : Math.min(1, usualQueryWords / words)
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
