/** Tools whose name stands in a query, exactly or nearly, and how surely each is meant. */
import { editDistance } from '../base/nearest.js'
import { type Candidate, candidatesOf, nearMissTier, tierOf } from './exact-names.js'
import { hashOf, nameSeed } from './index/hash.js'
import { type Identity, positionOf } from './index/segment.js'
import { bitsIn, fold, lettersOf, slipsAllowed } from './index/spelling.js'
import type { TermIndex } from './index/term-index.js'
import { isStopWord, stem } from './words/tokenize.js'
import type { Term, Vocabulary } from './words/vocabulary.js'

/**
 * A word used by the tools of more servers than this is common vocabulary. Servers, so that one alone cannot make it so; a tool
 * without one stands for itself.
 */
const vocabularyServers = 3
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
  inQuery(text: string): NamesInQuery
  /** Tools that go by this very name; in any spelling of case and separators if there is none. */
  called(name: string): number[]
  /** Tools whose name differs in a slip or two: the nearest only. */
  nearly(name: string): number[]
}

export function createNameMatches(index: TermIndex, vocabulary: () => Vocabulary): NameMatches {
  /** `own`: the server of the tool that is called so. */
  function isVocabulary(word: string, own: string): boolean {
    const servers = new Set<string>()
    const term = hashOf(stem(word.toLowerCase()))
    for (const segment of index.segments) {
      const position = positionOf(segment, term)
      if (position < 0) continue
      const end = segment.offsets[position + 1] as number
      for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
        const slot = segment.slots[posting] as number
        if (segment.dead[slot] === 1) continue
        const { server = '', id = '' } = segment.identities[slot] ?? {}
        if (servers.has(server || id)) continue
        servers.add(server || id)
        // "Incidents in datadog" means the server of that name, not another one's tool.
        if (server !== own && isCalled(server, word)) return true
        if (servers.size > vocabularyServers) return true
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
    for (const candidate of candidatesOf(text)) {
      let known = false
      index.forEach(hashOf(candidate.folded, nameSeed), (slot) => {
        const tier = tierOf(index.identityOf(slot), candidate)
        if (tier === 0) return
        if (
          candidate.plain &&
          !known &&
          (isStopWord(candidate.text) || isVocabulary(candidate.text, index.identityOf(slot).server))
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
    let furthest = slipsAllowed(wanted)
    const letters = lettersOf(wanted)
    let found: number[] = []
    for (const segment of index.segments) {
      const { lengths, letters: known } = segment
      for (let at = 0; at < lengths.length; at += 1) {
        if (Math.abs((lengths[at] as number) - wanted.length) > furthest) continue
        if (bitsIn((known[at] as number) ^ letters) > 2 * furthest || segment.dead[at >> 1] === 1) continue
        const { name, server } = segment.identities[at >> 1] as Identity
        const folded = (at & 1) === 0 ? fold(name) : fold(server) + fold(name)
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
    if (plain || slipsAllowed(folded) === 0 || folded.length > 80 || index.size === 0) return false
    // A date, a number.
    if (!lettersInRow.test(folded)) return false
    const words = vocabulary().wordsOf(text)
    const isUnknown = ({ hash, empty }: Term) => !empty && index.frequencyOf(hash) === 0
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
    for (const candidate of candidatesOf(name).filter(({ whole }) => whole))
      index.forEach(hashOf(candidate.folded, nameSeed), (slot) => {
        const tier = tierOf(index.identityOf(slot), candidate)
        if (tier > 0) tiers.set(slot, tier)
      })
    const best = Math.max(...tiers.values())
    return [...tiers].filter(([, tier]) => tier === best).map(([slot]) => slot)
  }

  return { inQuery, called, nearly: (name) => nearMisses(fold(name)) }
}

function isCalled(server: string, word: string): boolean {
  return server
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .includes(word.toLowerCase())
}
