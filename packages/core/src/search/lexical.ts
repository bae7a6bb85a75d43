/** The default searcher: fielded BM25 over an inverted index, all in memory, with exact names above everything else. */
import { queryCharacterLimit } from './query.js'
import type { Ranked, SearchDocument, Searcher } from './searcher.js'
import { isStopWord, queryWords, stem, tokenize, wordsOf } from './tokenize.js'

/** Distinct terms of a query that count; the rest is ignored. */
const queryTermLimit = 64
/** Characters of each field that are indexed. */
const fieldCharacterLimit = 2000
/** A term counts at most this often per field, so that stuffing gains nothing. Fits the two bits below. */
const frequencyLimit = 3
/** k1 and b of BM25. */
const saturation = 1.2
const lengthNormalisation = 0.7

/** The order matters: the masks below count from the first field. */
const fields: readonly { readonly weight: number; readonly textOf: (document: SearchDocument) => string }[] =
  [
    { weight: 3, textOf: (document) => document.name },
    { weight: 3, textOf: (document) => document.aliases.join('\n') },
    { weight: 2, textOf: (document) => document.server },
    { weight: 1, textOf: (document) => document.domain },
    { weight: 1.5, textOf: (document) => document.title },
    { weight: 1.5, textOf: (document) => document.hint },
    { weight: 1, textOf: (document) => document.snippet },
    { weight: 1, textOf: (document) => document.description },
    { weight: 0.4, textOf: (document) => document.parameters },
  ]

/** How often a term occurs in each field of a document: two bits per field, the first field lowest. */
type Frequencies = number
/** Name, aliases, server, domain: where a `must` word has to occur. */
const identityMask = 0b1111_1111
/** Those, title and hint: a match here counts fully towards relevance. */
const strongMask = 0b1111_1111_1111
/** Those, snippet and description. What remains is the parameters. */
const proseMask = 0b1111_1111_1111_1111
const proseRelevance = 0.8
const parametersRelevance = 0.5

/**
 * Relevance asks for the three weightiest terms of the query only: long requests are mostly circumstance, and no tool
 * could account for all of it.
 */
const decisiveTerms = 3
/** Relevance weighs terms as if the index were at least this large: few tools say little about which words are rare. */
const relevanceIndexSize = 3000
/** A word used by the tools of more servers than this is common vocabulary. Servers, so that one alone cannot make it so. */
const vocabularyServers = 3
/** Above any sum of term scores: 64 terms of at most idf × (k1 + 1) each. */
const exactTierScore = 10_000

/** The documents that hold a term, as parallel arrays in no particular order. */
interface Postings {
  readonly term: string
  readonly slots: number[]
  readonly frequencies: Frequencies[]
  /** Index of each posting in its document's own list, which makes removal constant per term. */
  readonly backlinks: number[]
  /** Scores without idf, computed when first asked for after a change. */
  impacts: readonly number[]
  impactsVersion: number
}

interface Entry {
  readonly id: string
  readonly server: string
  readonly lengths: readonly number[]
  readonly names: readonly ExactName[]
  readonly postings: Postings[]
  /** Where the document stands in each of its `postings`. */
  readonly positions: number[]
}

interface ExactName {
  readonly raw: string
  readonly folded: string
  readonly alias: boolean
}

/**
 * `update` applies removals first, then puts in order; it costs the terms of the documents it is given and of those it
 * replaces or removes. `rank` costs the postings of the query's terms and sorting what matched.
 *
 * Relevance is the share of the query's three weightiest terms (by inverse document frequency; a term no document
 * holds weighs most) that a document accounts for, discounted where it only occurs in prose or in the parameters.
 * At a cut-off of 0.35 one matching word out of three is not enough; one out of two usually is.
 *
 * Exact names come first, with relevance 1: the whole query, or a word of it, equals the id, the name, an alias, or
 * one of the latter two behind the server (`server/tool`, `server__tool`, `mcp__server__tool`), regardless of case and
 * separators. Real names precede aliases, so that nobody's alias displaces a name. A name that is a plain word
 * ("search") counts inside a longer query only while it is no stop word and no common vocabulary of the index.
 *
 * Without any term to rank by, `must` alone selects: everything that passes, relevance 1, by id. With neither: nothing.
 */
export function createLexicalSearcher(): Searcher {
  const slotOf = new Map<string, number>()
  const entries: (Entry | undefined)[] = []
  const freeSlots: number[] = []
  const index = new Map<string, Postings>()
  const slotsByName = new Map<string, Set<number>>()
  const totalLengths = fields.map(() => 0)
  const filledFields = fields.map(() => 0)
  let version = 0

  function put(document: SearchDocument): void {
    remove(document.id)
    const slot = freeSlots.pop() ?? entries.length
    const { frequencies, lengths } = analyse(document)
    const names = exactNamesOf(document)
    const entry: Entry = {
      id: document.id,
      server: document.server,
      lengths,
      names,
      postings: [],
      positions: [],
    }
    for (const [term, packed] of frequencies) {
      let postings = index.get(term)
      if (!postings) {
        postings = { term, slots: [], frequencies: [], backlinks: [], impacts: [], impactsVersion: -1 }
        index.set(term, postings)
      }
      entry.positions.push(postings.slots.length)
      postings.backlinks.push(entry.postings.length)
      postings.slots.push(slot)
      postings.frequencies.push(packed)
      entry.postings.push(postings)
    }
    for (const { folded } of names) {
      const slots = slotsByName.get(folded)
      if (slots) slots.add(slot)
      else slotsByName.set(folded, new Set([slot]))
    }
    countLengths(lengths, 1)
    entries[slot] = entry
    slotOf.set(document.id, slot)
  }

  function remove(id: string): void {
    const slot = slotOf.get(id)
    const entry = slot === undefined ? undefined : entries[slot]
    if (slot === undefined || !entry) return
    entry.postings.forEach((postings, own) => {
      // The last posting takes the place of the removed one.
      const position = entry.positions[own] as number
      const lastSlot = postings.slots.pop() as number
      const lastFrequencies = postings.frequencies.pop() as number
      const lastBacklink = postings.backlinks.pop() as number
      if (position < postings.slots.length) {
        postings.slots[position] = lastSlot
        postings.frequencies[position] = lastFrequencies
        postings.backlinks[position] = lastBacklink
        const moved = entries[lastSlot]
        if (moved) moved.positions[lastBacklink] = position
      }
      if (postings.slots.length === 0) index.delete(postings.term)
    })
    for (const { folded } of entry.names) {
      const slots = slotsByName.get(folded)
      slots?.delete(slot)
      if (slots?.size === 0) slotsByName.delete(folded)
    }
    countLengths(entry.lengths, -1)
    entries[slot] = undefined
    slotOf.delete(id)
    freeSlots.push(slot)
  }

  function countLengths(lengths: readonly number[], sign: 1 | -1): void {
    lengths.forEach((length, field) => {
      totalLengths[field] = (totalLengths[field] ?? 0) + sign * length
      if (length > 0) filledFields[field] = (filledFields[field] ?? 0) + sign
    })
  }

  /** BM25F: weighted, length-normalised frequencies are added up over the fields and saturated once. */
  function impactsOf(postings: Postings): readonly number[] {
    if (postings.impactsVersion === version) return postings.impacts
    // Averages over the documents that have the field, else the few with an alias would count as very long.
    const averages = totalLengths.map((total, field) => total / Math.max(1, filledFields[field] ?? 1))
    postings.impacts = postings.slots.map((slot, posting) => {
      const lengths = entries[slot]?.lengths ?? []
      let rest = postings.frequencies[posting] as Frequencies
      let weighted = 0
      for (let field = 0; rest !== 0; field += 1, rest >>= 2) {
        const frequency = rest & 3
        if (frequency === 0) continue
        const relativeLength = (lengths[field] ?? 0) / (averages[field] || 1)
        const normalisation = 1 - lengthNormalisation + lengthNormalisation * relativeLength
        weighted += ((fields[field]?.weight ?? 0) * frequency) / normalisation
      }
      return ((saturation + 1) * weighted) / (saturation + weighted)
    })
    postings.impactsVersion = version
    return postings.impacts
  }

  /** The terms to look for, each with true for a character pair. A mixed-case word counts whole if the index knows it. */
  function termsOf(text: string): Map<string, boolean> {
    const terms = new Map<string, boolean>()
    for (const word of queryWords(text)) {
      const chosen = word.parts.length === 0 || index.has(word.whole) ? [word.whole] : word.parts
      for (const term of chosen) if (terms.size < queryTermLimit) terms.set(term, word.pair)
    }
    return terms
  }

  function identitySlotsOf(term: string): Set<number> {
    const postings = index.get(term)
    const slots = postings?.slots.filter(
      (_, posting) => ((postings.frequencies[posting] as Frequencies) & identityMask) !== 0,
    )
    return new Set(slots)
  }

  /** Where every word of every entry occurs in an identity field; undefined if no entry holds a word. */
  function slotsWith(must: readonly string[]): Set<number> | undefined {
    let allowed: Set<number> | undefined
    for (const word of must.flatMap((entry) => wordsOf(entry.slice(0, queryCharacterLimit)))) {
      const passed = identitySlotsOf(word.whole)
      if (word.parts.length > 0)
        for (const slot of word.parts.map(identitySlotsOf).reduce(intersection)) passed.add(slot)
      allowed = allowed ? intersection(allowed, passed) : passed
    }
    return allowed
  }

  function isVocabulary(word: string): boolean {
    const servers = new Set<string>()
    for (const slot of index.get(stem(word.toLowerCase()))?.slots ?? []) {
      servers.add(entries[slot]?.server ?? '')
      if (servers.size > vocabularyServers) return true
    }
    return false
  }

  /** Slot → tier of the exact match; a higher tier goes first. */
  function exactMatches(text: string): Map<number, number> {
    const tiers = new Map<number, number>()
    const look = (candidate: string, whole: boolean): void => {
      const folded = fold(candidate)
      const slots = slotsByName.get(folded)
      if (!slots || folded === '' || (!whole && folded.length < 3)) return
      const plain = !whole && !hasSeparator(candidate)
      if (plain && (isStopWord(candidate) || isVocabulary(candidate))) return
      for (const slot of slots) {
        for (const name of entries[slot]?.names ?? []) {
          // A plain word has to be the name as it is written: "getuser" in a sentence is not `get_user`.
          if (name.folded !== folded || (plain && name.raw.toLowerCase() !== candidate.toLowerCase()))
            continue
          const tier = (name.alias ? 1 : name.raw === candidate ? 3 : 2) + (whole ? 3 : 0)
          if (tier > (tiers.get(slot) ?? 0)) tiers.set(slot, tier)
        }
      }
    }
    look(text.trim(), true)
    for (const word of new Set(text.split(/\s+/))) look(withoutPunctuation(word), false)
    return tiers
  }

  function rank(query: { readonly text: string; readonly must: readonly string[] }): readonly Ranked[] {
    const text = query.text.slice(0, queryCharacterLimit)
    const terms = termsOf(text)
    const exact = exactMatches(text)
    const allowed = slotsWith(query.must)

    const scores = new Float64Array(entries.length)
    const accounted = new Float64Array(entries.length)
    const seen = new Uint8Array(entries.length)
    const found: number[] = []
    const find = (slot: number): void => {
      if (seen[slot] === 1) return
      seen[slot] = 1
      if (!allowed || allowed.has(slot)) found.push(slot)
    }

    const asked: number[] = []
    for (const [term, pair] of terms) {
      const postings = index.get(term)
      const frequency = postings?.slots.length ?? 0
      const weight = inverseFrequency(frequency, Math.max(slotOf.size, relevanceIndexSize))
      // Half of the pairs of an unspaced script straddle two words and are in no document for that reason alone.
      asked.push(!postings && pair ? weight / 2 : weight)
      if (!postings) continue
      const idf = inverseFrequency(frequency, slotOf.size)
      const impacts = impactsOf(postings)
      for (let posting = 0; posting < frequency; posting += 1) {
        const slot = postings.slots[posting] as number
        find(slot)
        scores[slot] = (scores[slot] as number) + idf * (impacts[posting] as number)
        const share = relevanceShare(postings.frequencies[posting] as Frequencies)
        accounted[slot] = (accounted[slot] as number) + weight * share
      }
    }
    for (const [slot, tier] of exact) {
      find(slot)
      scores[slot] = (scores[slot] as number) + tier * exactTierScore
    }
    if (terms.size === 0 && allowed) for (const slot of allowed) find(slot)

    asked.sort((first, second) => second - first)
    const decisive = asked.slice(0, decisiveTerms).reduce((sum, weight) => sum + weight, 0)
    const idOf = (slot: number): string => entries[slot]?.id ?? ''
    found.sort(
      (first, second) =>
        (scores[second] as number) - (scores[first] as number) || compareCodeUnits(idOf(first), idOf(second)),
    )
    return found.map((slot) => {
      const certain = exact.has(slot) || terms.size === 0
      const relevance = certain ? 1 : Math.min(1, (accounted[slot] as number) / decisive)
      return { id: idOf(slot), score: scores[slot] as number, relevance }
    })
  }

  return {
    update({ put: documents = [], remove: ids = [] }) {
      for (const id of ids) remove(id)
      for (const document of documents) put(document)
      version += 1
    },
    rank,
  }
}

function analyse(document: SearchDocument): { frequencies: Map<string, Frequencies>; lengths: number[] } {
  const frequencies = new Map<string, Frequencies>()
  const lengths = fields.map((field, position) => {
    const terms = tokenize(field.textOf(document).slice(0, fieldCharacterLimit))
    for (const term of terms) {
      const known = frequencies.get(term) ?? 0
      if (((known >> (2 * position)) & 3) < frequencyLimit)
        frequencies.set(term, known + (1 << (2 * position)))
    }
    return terms.length
  })
  return { frequencies, lengths }
}

function exactNamesOf(document: SearchDocument): ExactName[] {
  const names: ExactName[] = []
  const add = (raw: string, alias: boolean): void => {
    names.push({ raw, folded: fold(raw), alias })
  }
  const addWithServer = (name: string, alias: boolean): void => {
    add(name, alias)
    if (document.server === '') return
    add(`${document.server}/${name}`, alias)
    add(`mcp__${document.server}__${name}`, alias)
  }
  add(document.id, false)
  addWithServer(document.name, false)
  for (const alias of document.aliases) addWithServer(alias, true)
  return names
}

function intersection(first: ReadonlySet<number>, second: ReadonlySet<number>): Set<number> {
  return new Set([...first].filter((slot) => second.has(slot)))
}

function inverseFrequency(frequency: number, size: number): number {
  return Math.log(1 + (size - frequency + 0.5) / (frequency + 0.5))
}

function relevanceShare(frequencies: Frequencies): number {
  if ((frequencies & strongMask) !== 0) return 1
  return (frequencies & proseMask) !== 0 ? proseRelevance : parametersRelevance
}

/** Lower case without separators; what consists of nothing else keeps them. */
function fold(text: string): string {
  const lower = text.normalize('NFKC').toLowerCase()
  return lower.replace(/[^\p{L}\p{N}\p{M}]+/gu, '') || lower.trim()
}

/** A word as it stands in a sentence, without the quotes, brackets and commas around it. */
function withoutPunctuation(word: string): string {
  return word.replace(/^[^\p{L}\p{N}@_]+/u, '').replace(/[^\p{L}\p{N}\p{M}_]+$/u, '')
}

function hasSeparator(text: string): boolean {
  return /[^\p{L}\p{N}\p{M}]|\p{Ll}\p{Lu}/u.test(text)
}

function compareCodeUnits(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0
}
