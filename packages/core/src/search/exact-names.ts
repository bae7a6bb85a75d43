/** Names inside a query: written exactly, with other separators, or nearly so. They go before everything the words find. */
import type { Identity } from './index/segment.js'
import { fold } from './index/spelling.js'

export interface ExactName {
  readonly raw: string
  readonly folded: string
  readonly alias: boolean
}

/** Everything a tool may be called by: its id, its name and aliases, and those behind the server. */
export function namesOf(document: Identity): ExactName[] {
  const names: ExactName[] = []
  const add = (raw: string, alias: boolean): void => {
    const folded = fold(raw)
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
export interface Candidate {
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
export function candidatesOf(text: string, limit = 64): Candidate[] {
  const candidates: Candidate[] = []
  const seen = new Set<string>()
  const add = (written: string, whole: boolean): void => {
    // Many clients put this in front of server and tool.
    const piece = written.startsWith('mcp__') ? written.replace(/^mcp__(?=.*__)/, '') : written
    const folded = fold(piece)
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
      if (word.length <= 200) add(withoutPunctuation(word), false)
    } else if (plain.length >= 3 && !seen.has(plain)) {
      seen.add(plain)
      candidates.push({ text: plain, folded: plain.toLowerCase(), whole: false, plain: true })
    }
  }
  return candidates
}

/** How surely a tool is meant by a candidate with the same folded name; 0 if it is not. A higher tier goes first. */
export function tierOf(identity: Identity, candidate: Candidate): number {
  let best = 0
  for (const name of namesOf(identity)) {
    if (name.folded !== candidate.folded) continue
    // A plain word has to be the name as it is written: "getuser" in a sentence is not `get_user`.
    if (candidate.plain && name.raw.toLowerCase() !== candidate.text.toLowerCase()) continue
    const tier = (name.alias ? 2 : name.raw === candidate.text ? 4 : 3) + (candidate.whole ? 3 : 0)
    if (tier > best) best = tier
  }
  return best
}

/** Tier of a name that is spelt wrongly, below all that are spelt right. */
export const nearMissTier = 1

/** How a query names a tool. */
export type NameMatch = 'exact' | 'other-spelling' | 'alias' | 'near-miss'

/** A tier in words; undefined where the tool is not named. */
export function nameOfTier(tier: number): NameMatch | undefined {
  if (tier <= nearMissTier) return tier === nearMissTier ? 'near-miss' : undefined
  return (['alias', 'other-spelling', 'exact'] as const)[(tier - 2) % 3]
}

/** A word as it stands in a sentence, without the quotes, brackets and commas around it. */
function withoutPunctuation(word: string): string {
  return word.replace(/^[^\p{L}\p{N}@_]+/u, '').replace(/[^\p{L}\p{N}\p{M}_]+$/u, '')
}

function hasSeparator(text: string): boolean {
  return /[^\p{L}\p{N}\p{M}]|\p{Ll}\p{Lu}/u.test(text)
}
