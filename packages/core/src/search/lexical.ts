/**
 * The default searcher: fielded BM25 over typed arrays, all in memory, with exact names above everything else.
 *
 *     const searcher = createLexicalSearcher()
 *     searcher.update({ put: documents })                 documents: `documentOf({ id, tool, serverDescription })` of each tool
 *     searcher.rank({ text, must: [], limit })            the order; hits with a relevance below `defaultCutOff` are no answer
 *     searcher.explain(text, document, learned)           why a hit ranks where it does: name, terms, each term by field, and use
 *     searcher.why(name, { text, limit, cutOff })         what kept a tool out: see `SearchMiss`
 *
 * The index keeps no text but names, so `explain` is given the document again; the rest needs the index alone.
 */

import { runInPieces } from '../base/async.js'
import { createRelevance, weighWords } from './answers.js'
import { type AskedTerms, askedTerms, findSlotsWithWords, namesWritten } from './asked-terms.js'
import { createCoverage, type Held, nothingHeld } from './coverage.js'
import { createPartReader, type IndexPart } from './document.js'
import {
  type Explanation,
  explain,
  explainMiss,
  type SearchMiss,
  type WhyQuery,
  type WhySource,
} from './explain.js'
import { createAnalyser } from './fields.js'
import { createSegmentBuilder, type Segment } from './index/segment.js'
import { bestSlots, identityBit } from './index/tally.js'
import { createTermIndex, noAliases } from './index/term-index.js'
import { createNameFit, createNameMatches, type NameFit, nameOfTier } from './name-matches.js'
import { queryCharacterLimit } from './query.js'
import { createLearned, createScores, type Learned } from './scores.js'
import type { Ranked, RankQuery, SearchDocument, Searcher } from './searcher.js'
import { defaultTuning, type Tuning } from './tuning.js'
import { createLexicon } from './words/lexicon.js'
import { createVocabulary, type Vocabulary } from './words/vocabulary.js'
import { isProduct } from './words/word-lists.js'

/** What is less relevant is no answer at any cut-off worth setting, and looking how sure it is costs. */
const leastRelevance = 0.2
const manyTools = 1000
/** Tools of one segment where an index is filled: building it holds the event loop. */
const filledAtOnce = 1024
/** Rivals of the best, with at least this share of its score, are ordered by how well they fit, too: so many at most. */
const leastRivalShare = 0.65
const mostRivals = 12
/** Above any sum of term scores. */
const exactTierScore = 10_000
/** What a tool accounts for of a request that names a product of which it knows nothing ("post it on LinkedIn"). */
const strangeShare = 0.5
const wholly: Held = { certainty: 1, coverage: 1, ownCoverage: 1 }

export interface LexicalSearcher extends Searcher {
  /**
   * Takes parts that it does not hold yet, each from where it is kept, or made and kept there, and gives the event loop back in
   * between. Ranks as `update` would have it.
   */
  load(parts: readonly IndexPart[]): Promise<void>
  /** Takes documents that it does not hold yet, and gives the event loop back in between. Ranks as `update` would have it. */
  fill(documents: Iterable<SearchDocument>): Promise<void>
  rank(query: RankQuery): readonly Ranked[]
  /** Takes apart what a document scores for a query: by term, and each term by field. */
  explain(text: string, document: SearchDocument, learned?: RankQuery['learned']): Explanation
  /** What became of the tool of that name (or id, or alias) in a search, and what kept it out. Costs a full ranking. */
  why(name: string, query: WhyQuery): SearchMiss
}

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
  const scores = createScores(index, tuning.clause, () => vocabulary())
  const learnedFrom = createLearned(index)
  let lazyVocabulary: Vocabulary | undefined
  const vocabulary = (): Vocabulary => {
    lazyVocabulary ??= createVocabulary(createLexicon(tuning))
    return lazyVocabulary
  }
  const analyser = () => createAnalyser(vocabulary(), tuning)
  const names = createNameMatches(index, vocabulary)
  const nameFit = createNameFit(index, vocabulary)
  const coverageOf = createCoverage(index)
  const isKnown = (hash: number): boolean => index.frequencyOf(hash) > 0
  const isIdentity = (hash: number): boolean => {
    let found = false
    index.forEach(hash, (_, byte) => {
      found ||= (byte & identityBit) !== 0
    })
    return found
  }
  const termsOf = (text: string, isAlone = true): AskedTerms =>
    askedTerms(text.slice(0, queryCharacterLimit), vocabulary(), tuning, isKnown, isAlone)

  function rank(query: RankQuery): readonly Ranked[] {
    const { learned = [], hidden } = query
    // Where learned tools stand is looked up among all, and kept.
    const known = learned.length > 0 ? learnedFrom(learned) : undefined
    return hidden ? index.without(hidden, () => rankSeen(query, known)) : rankSeen(query, known)
  }

  function rankSeen(query: RankQuery, learned: Learned | undefined): readonly Ranked[] {
    const { limit = Number.POSITIVE_INFINITY, accept } = query
    const text = query.text.slice(0, queryCharacterLimit)
    vocabulary().forgetMany()
    const asked = termsOf(text, query.must.length === 0)
    const { tiers: exact, byWord } = names.inQuery(text)
    const allowed = findSlotsWithWords(query.must, index, vocabulary())
    const isSelecting = asked.whole.length === 0 && allowed !== undefined

    const scored = scores.of(asked, learned)
    for (const [slot, tier] of exact) scored[slot] = (scored[slot] as number) + tier * exactTierScore
    if (isSelecting) for (const slot of allowed) scored[slot] = (scored[slot] as number) + 1

    const hasDead = index.segments.some(({ deadCount }) => deadCount > 0)
    const most = exact.size + mostRivals
    const slots = bestSlots(
      scored,
      index.slots,
      Math.max(limit, most),
      (first, second) => compareCodeUnits(index.identityOf(first).id, index.identityOf(second).id),
      (slot) =>
        !(hasDead && index.isDead(slot)) &&
        (!allowed || allowed.has(slot)) &&
        (!accept || accept(index.identityOf(slot).id)),
    )
    const best = withRivals(slots, most, scored, (slot) => isSelecting || exact.has(slot))

    const written = namesWritten(text, vocabulary())
    const words = weighWords(
      asked.whole,
      scores.rarityOf,
      ({ hash }) => isKnown(hash) && !(written.has(hash) && !isIdentity(hash)),
      ({ hash }) => written.has(hash),
    )
    const relevance = createRelevance(words)
    const products = asked.whole
      .filter(({ kind, text }) => kind === 'word' && isProduct(text))
      .map(({ hash }) => index.reader(hash))
    const shareOf = (slot: number) =>
      scores.effectShareOf(slot) * (products.some((byteAt) => byteAt(slot) < 0) ? strangeShare : 1)
    const heldBy = coverageOf(words, scores.rarest, shareOf)
    const fitOf = nameFit(asked.whole)
    const heldAt = (slot: number, likely: number): Held => {
      if (isSelecting || (exact.has(slot) && !byWord.has(slot))) return wholly
      if (likely < leastRelevance) return nothingHeld
      const score = (scored[slot] as number) - (exact.get(slot) ?? 0) * exactTierScore
      return heldBy(slot, score, exact.has(slot) ? 0 : scores.learnedOf(slot))
    }
    /** `share`: what a tool keeps of its score. Rivals are told apart by how well they fit: what they account for, and by their names. */
    const rankedAt = (slot: number, share: number, fit?: NameFit): Ranked => {
      const score = scored[slot] as number
      const isCertain = isSelecting || exact.has(slot)
      const likely = isCertain ? 1 : relevance(score)
      const { certainty, coverage, ownCoverage } = heldAt(slot, likely)
      const hit = {
        id: index.identityOf(slot).id,
        score: score * (fit ? ((1 + coverage) / 2) * fit.share : share),
        relevance: likely,
        certainty,
        coverage: fit ? Math.max(0, Math.min(1, coverage + fit.gain)) : coverage,
      }
      const own = score - (isCertain ? 0 : scores.learnedOf(slot))
      if (own === score) return hit
      const ownScore = own * (fit ? ((1 + ownCoverage) / 2) * fit.share : share)
      return { ...hit, ownRelevance: relevance(own), ownScore }
    }
    const rivals = best.rivals
      .map((slot) => rankedAt(slot, 1, fitOf(slot)))
      .sort((first, second) => second.score - first.score || compareCodeUnits(first.id, second.id))
    // What stands behind them stays there.
    const last = best.rivals.at(-1)
    const share = last === undefined ? 1 : (rivals.at(-1)?.score ?? 0) / (scored[last] as number)
    const room = Math.max(0, limit - best.certain.length - rivals.length)
    return [
      ...best.certain.map((slot) => rankedAt(slot, 1)),
      ...rivals,
      ...best.rest.slice(0, room).map((slot) => rankedAt(slot, share)),
    ].slice(0, limit)
  }

  const whySource: WhySource = {
    called: (asked) => names.called(asked).map((slot) => index.identityOf(slot).id),
    *names() {
      for (const { identities, dead } of index.segments)
        for (const [slot, identity] of identities.entries()) if (dead[slot] === 0) yield identity.name
    },
    asked: (text) => termsOf(text).whole,
    holds: (id, { hash }) => names.called(id).some((slot) => index.reader(hash)(slot) >= 0),
    lacks: (id, must) => {
      const slots = names.called(id)
      return must.filter((entry) => {
        const allowed = findSlotsWithWords([entry], index, vocabulary())
        return allowed !== undefined && !slots.some((slot) => allowed.has(slot))
      })
    },
    rank,
  }

  return {
    async load(parts) {
      const read = createPartReader(analyser)
      const segments: Segment[] = []
      await runInPieces(parts, (part) => segments.push(read(part)))
      index.adopt(segments)
      // Not before: servers use the same words, and each would be looked up for each of them.
      vocabulary().forget()
    },
    async fill(documents) {
      const analyse = analyser()
      const made: Segment[] = []
      let builder = createSegmentBuilder()
      const build = () => {
        if (builder.count > 0) made.push(builder.build())
        builder = createSegmentBuilder()
      }
      await runInPieces(documents, (document) => {
        const { id, name, server, aliases } = document
        const identity = { id, name, server, aliases: aliases.length === 0 ? noAliases : aliases }
        builder.add(identity, analyse(document))
        if (builder.count === filledAtOnce) build()
      })
      build()
      index.adopt(made)
      vocabulary().forget()
    },
    update({ put = [], remove = [] }) {
      const analyse = analyser()
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
    explain(text, document, learned = []) {
      const accept = (id: string) => id === document.id
      const [hit = { score: 0, relevance: 0 }] = rank({ text, must: [], accept, learned })
      const slot = index.slotOf(document.id)
      const use = 'ownScore' in hit ? scores.learnedOf(slot) : 0
      const effect = slot < 0 ? 1 : scores.effectShareOf(slot)
      const server = slot < 0 ? 1 : scores.serverShareOf(slot)
      const tier = Math.floor(hit.score / exactTierScore)
      const score = hit.score - tier * exactTierScore
      // The scores of the ranking just made.
      const whole = slot < 0 ? 0 : (scores.last[slot] as number) - tier * exactTierScore
      return explain(
        document,
        termsOf(text).whole,
        vocabulary(),
        tuning,
        (term) => ({ worth: scores.worthOf(term), tools: index.frequencyOf(term.hash) }),
        {
          name: nameOfTier(tier),
          score,
          relevance: hit.relevance,
          use,
          effect,
          server,
          fit: whole > 0 ? Math.min(1, score / whole) : 1,
        },
      )
    },
    why: (name, query) => explainMiss(name, query, whySource),
  }
}

interface BestSlots {
  /** Named by the query, or selected without words. */
  readonly certain: readonly number[]
  /** The best by its words, and what comes near it. The same however many are asked for. */
  readonly rivals: readonly number[]
  readonly rest: readonly number[]
}

function withRivals(
  slots: readonly number[],
  most: number,
  scores: Float32Array,
  isCertain: (slot: number) => boolean,
): BestSlots {
  const start = slots.filter(isCertain).length
  const scoreAt = (place: number) => scores[slots[place] as number] as number
  let end = start
  while (end < Math.min(slots.length, most) && scoreAt(end) >= leastRivalShare * scoreAt(start)) end += 1
  return { certain: slots.slice(0, start), rivals: slots.slice(start, end), rest: slots.slice(end) }
}

function compareCodeUnits(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0
}
