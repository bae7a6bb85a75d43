/**
 * The default searcher: fielded BM25 over typed arrays, all in memory, with exact names above everything else.
 *
 *     const searcher = createLexicalSearcher()
 *     searcher.update({ put: documents })                 documents: `documentOf({ id, tool, serverDescription })` of each tool
 *     searcher.rank({ text, must: [], limit })            the order; hits with a relevance below `defaultCutOff` are no answer
 *     searcher.explain(text, document)                    why a hit ranks where it does: name, terms, each term by field
 *     searcher.why(name, { text, limit, cutOff })         what kept a tool out: see `SearchMiss`
 *
 * The index keeps no text but names, so `explain` is given the document again; the rest needs the index alone.
 */

import type { StoredPart } from '../tool/source.js'
import { type AskedTerm, type AskedTerms, askedTerms } from './asked-terms.js'
import { createCertainty } from './certainty.js'
import { nameOfTier } from './exact-names.js'
import { type Explanation, explain } from './explain.js'
import { createAnalyser } from './fields.js'
import { identityBit, impactTable } from './index/impact.js'
import { createSegmentBuilder, type Identity, positionOf, type Segment } from './index/segment.js'
import { decodeSegment, encodeSegment } from './index/stored-segment.js'
import { createTermIndex } from './index/term-index.js'
import { bestSlots } from './index/top.js'
import { createNameMatches } from './name-matches.js'
import { queryCharacterLimit } from './query.js'
import { createRelevance, weighWords } from './relevance.js'
import type { Ranked, RankQuery, SearchDocument, Searcher } from './searcher.js'
import { defaultTuning, type Tuning } from './tuning.js'
import { type SearchMiss, type WhyQuery, whyNot } from './why.js'
import { createLexicon } from './words/lexicon.js'
import { createVocabulary, type Vocabulary } from './words/vocabulary.js'

/** Words are weighed as if the index were at least this large: few tools say little about which words are rare. */
const leastIndexSize = 3000
/** A concept that more than this share of the tools hold, and this many, decides nothing and is not added up. */
const commonShare = 0.1
const commonLeast = 1000
/** Further down the order nothing is sure, and looking costs. */
const surePlaces = 20
const manyTools = 1000
/** Above any sum of term scores. */
const exactTierScore = 10_000

/** Tools whose index is kept somewhere; their text is read only if it is not. */
export interface IndexPart {
  readonly stored: StoredPart
  readonly identities: readonly Identity[]
  documents(): readonly SearchDocument[]
}

export interface LexicalSearcher extends Searcher {
  /** Takes parts that it does not hold yet, each from where it is kept, or made and kept there. Ranks as `update` would have it. */
  load(parts: readonly IndexPart[]): void
  rank(query: RankQuery): readonly Ranked[]
  /** Takes apart what a document scores for a query: by term, and each term by field. */
  explain(text: string, document: SearchDocument): Explanation
  /** What became of the tool of that name (or id, or alias) in a search, and what kept it out. Costs a full ranking. */
  why(name: string, query: WhyQuery): SearchMiss
}

/** Relevance from which on a hit is an answer. docs/search.md says what it keeps and what it turns away. */
export const defaultCutOff = 0.35
/** Certainty from which on an answer is loaded; below it is offered by its signature. docs/search.md has the trade. */
export const defaultAutoLoad = 0.5

/**
 * `update` applies removals first, then puts; it costs the text it is given. `rank` costs the postings of the query's terms and one
 * pass over the slots.
 *
 * Exact names come first, with relevance 1: the whole query, or a word of it, equals the id, the name, an alias, or one of the latter
 * two behind the server (`server/tool`, `server__tool`, `mcp__server__tool`), regardless of case and separators. Real names precede
 * aliases, so that no alias displaces a name; names with a slip of the pen come after both. A name that is a plain word
 * ("search") counts inside a longer query only while it is no stop word and no common vocabulary of the index.
 *
 * Without any term to rank by, `must` alone selects: everything that passes, relevance 1, by id. With neither: nothing.
 */
export function createLexicalSearcher(): LexicalSearcher {
  return createTunedSearcher(defaultTuning)
}

/** The same with other weights, to measure them. */
export function createTunedSearcher(tuning: Tuning): LexicalSearcher {
  const index = createTermIndex()
  const strengths = impactTable()
  let lazyVocabulary: Vocabulary | undefined
  let scores = new Float32Array(0)
  let clauseScores = new Float32Array(0)
  let clauseBest = new Float32Array(0)

  const vocabulary = (): Vocabulary => {
    lazyVocabulary ??= createVocabulary(createLexicon(tuning))
    return lazyVocabulary
  }
  const names = createNameMatches(index, vocabulary)
  const inverseFrequency = (frequency: number): number =>
    Math.log(1 + (Math.max(index.size, leastIndexSize) - frequency + 0.5) / (frequency + 0.5))

  const termsOf = (text: string): AskedTerms =>
    askedTerms(
      text.slice(0, queryCharacterLimit),
      vocabulary(),
      tuning,
      (hash) => index.frequencyOf(hash) > 0,
    )
  const isCommon = (kind: AskedTerm['kind'], frequency: number): boolean =>
    kind === 'concept' && frequency > Math.max(index.size * commonShare, commonLeast)

  /** Adds what each term is worth to the tools that hold it. */
  function addUp(terms: readonly AskedTerm[], into: Float32Array): void {
    for (const { hash, weight, kind } of terms) {
      const frequency = index.frequencyOf(hash)
      if (frequency === 0 || isCommon(kind, frequency)) continue
      const worth = weight * inverseFrequency(frequency)
      for (const segment of index.segments) {
        const position = positionOf(segment, hash)
        if (position < 0) continue
        const { slots, bytes, base } = segment
        const end = segment.offsets[position + 1] as number
        for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
          const slot = base + (slots[posting] as number)
          into[slot] = (into[slot] as number) + worth * (strengths[bytes[posting] as number] as number)
        }
      }
    }
  }

  /** Half a dozen requests in one: a tool that answers one of them fully should not lose to one that touches all. */
  function blendClauses(clauses: readonly (readonly AskedTerm[])[]): void {
    const count = index.slots
    clauseBest.fill(0, 0, count)
    for (const clause of clauses) {
      clauseScores.fill(0, 0, count)
      addUp(clause, clauseScores)
      const highest = highestOf(clauseScores, count)
      if (highest === 0) continue
      for (let slot = 0; slot < count; slot += 1) {
        const share = (clauseScores[slot] as number) / highest
        if (share > (clauseBest[slot] as number)) clauseBest[slot] = share
      }
    }
    const highest = highestOf(scores, count)
    for (let slot = 0; slot < count; slot += 1)
      scores[slot] =
        (1 - tuning.clause) * (scores[slot] as number) +
        tuning.clause * highest * (clauseBest[slot] as number)
  }

  function identitySlotsOf(term: number): Set<number> {
    const slots = new Set<number>()
    index.forEach(term, (slot, byte) => {
      if ((byte & identityBit) !== 0) slots.add(slot)
    })
    return slots
  }

  /** Where every word of every entry occurs in an identity field; undefined if no entry holds a word. */
  function slotsWith(must: readonly string[]): Set<number> | undefined {
    let allowed: Set<number> | undefined
    for (const entry of must)
      for (const word of vocabulary().wordsOf(entry.slice(0, queryCharacterLimit))) {
        const passed = identitySlotsOf(word.whole.hash)
        if (word.parts.length > 0)
          for (const slot of word.parts.map(({ hash }) => identitySlotsOf(hash)).reduce(intersection))
            passed.add(slot)
        allowed = allowed ? intersection(allowed, passed) : passed
      }
    return allowed
  }

  function rank(query: RankQuery): readonly Ranked[] {
    const { limit = Number.POSITIVE_INFINITY, accept } = query
    const text = query.text.slice(0, queryCharacterLimit)
    const count = index.slots
    if (scores.length < count) {
      scores = new Float32Array(count)
      clauseScores = new Float32Array(count)
      clauseBest = new Float32Array(count)
    }
    const asked = termsOf(text)
    const { tiers: exact, byWord } = names.inQuery(text)
    const allowed = slotsWith(query.must)

    scores.fill(0, 0, count)
    addUp(asked.whole, scores)
    if (asked.clauses.length > 0) blendClauses(asked.clauses)
    const words = weighWords(
      asked.whole,
      ({ hash, weight }) => weight * inverseFrequency(index.frequencyOf(hash)),
      ({ hash }) => index.frequencyOf(hash) > 0,
    )
    const relevance = createRelevance(words)
    const certainty = createCertainty(words, (hash) => {
      const byteAt = index.reader(hash)
      return (slot) => byteAt(slot) >= 0
    })
    for (const [slot, tier] of exact) scores[slot] = (scores[slot] as number) + tier * exactTierScore
    const selecting = asked.whole.length === 0 && allowed !== undefined
    if (selecting) for (const slot of allowed) scores[slot] = (scores[slot] as number) + 1

    const dead = index.segments.some(({ deadCount }) => deadCount > 0)
    const best = bestSlots(
      scores,
      count,
      limit,
      (first, second) => compareCodeUnits(index.identityOf(first).id, index.identityOf(second).id),
      (slot) =>
        !(dead && index.isDead(slot)) &&
        (!allowed || allowed.has(slot)) &&
        (!accept || accept(index.identityOf(slot).id)),
    )
    return best.map((slot, place) => {
      const score = scores[slot] as number
      const certain = selecting || exact.has(slot)
      const sure = place < surePlaces ? certainty(slot) : 0
      return {
        id: index.identityOf(slot).id,
        score,
        relevance: certain ? 1 : relevance(score),
        certainty: certain && !byWord.has(slot) ? 1 : sure,
      }
    })
  }

  return {
    load(parts) {
      const analyse = once(() => createAnalyser(vocabulary(), tuning))
      index.adopt(
        parts.map(({ stored, identities, documents }): Segment => {
          const kept = attempt(() => stored.read())
          const known = kept && decodeSegment(kept, identities)
          if (known) return known
          const builder = createSegmentBuilder()
          for (const [at, document] of documents().entries())
            builder.add(identities[at] ?? document, analyse()(document))
          const made = builder.build()
          attempt(() => stored.write(encodeSegment(made)))
          return made
        }),
      )
      vocabulary().forget()
    },
    update({ put = [], remove = [] }) {
      const analyse = createAnalyser(vocabulary(), tuning)
      index.change(
        remove,
        (function* () {
          for (const document of put) yield [document, analyse(document)] as const
        })(),
      )
      // A whole catalogue brings more words than are worth keeping; one server's are soon asked for again.
      if (put.length >= manyTools) vocabulary().forget()
    },
    rank,
    explain: (text, document) => {
      const [hit] = rank({ text, must: [], accept: (id) => id === document.id })
      const tier = Math.floor((hit?.score ?? 0) / exactTierScore)
      return explain(
        document,
        termsOf(text).whole,
        vocabulary(),
        tuning,
        ({ hash, weight, kind }) => {
          const tools = index.frequencyOf(hash)
          return { worth: isCommon(kind, tools) ? 0 : weight * inverseFrequency(tools), tools }
        },
        {
          name: nameOfTier(tier),
          score: (hit?.score ?? 0) - tier * exactTierScore,
          relevance: hit?.relevance ?? 0,
        },
      )
    },
    why: (name, query) =>
      whyNot(name, query, {
        called: (asked) => names.called(asked).map((slot) => index.identityOf(slot).id),
        names: function* () {
          for (const { identities, dead } of index.segments)
            for (const [slot, identity] of identities.entries()) if (dead[slot] === 0) yield identity.name
        },
        asked: (text) => termsOf(text).whole,
        holds: (id, { hash }) => names.called(id).some((slot) => index.reader(hash)(slot) >= 0),
        lacks: (id, must) => {
          const slots = names.called(id)
          return must.filter((entry) => {
            const allowed = slotsWith([entry])
            return allowed !== undefined && !slots.some((slot) => allowed.has(slot))
          })
        },
        rank,
      }),
  }
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

/** Whoever keeps an index may fail; a search is worth more than its start. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function highestOf(scores: Float32Array, count: number): number {
  let highest = 0
  for (let slot = 0; slot < count; slot += 1)
    if ((scores[slot] as number) > highest) highest = scores[slot] as number
  return highest
}

function intersection(first: ReadonlySet<number>, second: ReadonlySet<number>): Set<number> {
  return new Set([...first].filter((slot) => second.has(slot)))
}

function compareCodeUnits(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0
}
