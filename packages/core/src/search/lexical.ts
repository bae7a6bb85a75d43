/**
 * The default searcher: BM25 over several fields, in memory, with exact names first.
 *
 *     const searcher = createLexicalSearcher()
 *     searcher.update({ put: documents })                   one `createDocument({ id, tool, serverDescription })` per tool
 *     searcher.rank({ text, must: [], limit })              best first; hits below `defaultCutOff` are not answers
 *     searcher.explain(text, document, learned)             the score by name, term, field and use
 *     searcher.explainMiss(name, { text, limit, cutOff })   why a tool was not found, see `SearchMiss`
 *
 * The index stores no text except names, so `explain` needs the document again.
 */

import { runInPieces } from '../base/async.js'
import { type Coverage, createCoverage, createRelevance, noCoverage, weighWords } from './coverage.js'
import { createPartReader, type IndexPart } from './document.js'
import {
  type Explanation,
  explain,
  explainMiss,
  type MissQuery,
  type MissSource,
  type SearchMiss,
} from './explain.js'
import { createAnalyser } from './fields.js'
import { createSegmentBuilder, type Segment } from './index/segment.js'
import { selectBestSlots } from './index/tally.js'
import { createTermIndex, noAliases } from './index/term-index.js'
import { createNameFit, createNameMatches, describeTier, type NameFit } from './name-matches.js'
import { queryCharacterLimit } from './query.js'
import { extractQueryTerms, findSlotsWithWords, type QueryTerms } from './query-terms.js'
import { createLearnedReader, createScores, type LearnedPostings } from './scores.js'
import type { Ranked, RankQuery, SearchDocument, Searcher } from './searcher.js'

import { createSpellingRepair } from './spelling-repair.js'
import {
  coverageShare,
  defaultTuning,
  maximumRivals,
  minimumRelevance,
  minimumRivalShare,
  unknownProductShare,
} from './tuning.js'
import { createLexicon } from './words/lexicon.js'
import { createVocabulary, type Vocabulary } from './words/vocabulary.js'
import { isProduct } from './words/word-lists.js'

const manyTools = 1000
/** Tools per segment while an index is filled. Building a segment blocks the event loop. */
const fillSegmentSize = 1024
/** Higher than any sum of term scores. */
const exactTierScore = 10_000
const fullCoverage: Coverage = { certainty: 1, coverage: 1, ownCoverage: 1 }

export interface LexicalSearcher extends Searcher {
  /** Adds parts that are not indexed yet, from storage or newly built. Yields to the event loop in between. Ranks the same as `update`. */
  load(parts: readonly IndexPart[]): Promise<void>
  /** Adds documents that are not indexed yet. Yields to the event loop in between. Ranks the same as `update`. */
  fill(documents: Iterable<SearchDocument>): Promise<void>
  rank(query: RankQuery): readonly Ranked[]
  /** Explains the score of a document for a query by term and field. */
  explain(text: string, document: SearchDocument, learned?: RankQuery['learned']): Explanation
  /** Explains why a search did not find the tool with this name, id or alias. Costs a full ranking. */
  explainMiss(name: string, query: MissQuery): SearchMiss
}

/**
 * Creates the default searcher.
 *
 * `update` applies removals first, then puts; its cost depends on the given text. `rank` reads the postings of the query terms
 * and passes once over all slots.
 *
 * Exact names come first, with relevance 1: the whole query or one of its words equals the id, the name or an alias, alone or after
 * the server (`server/tool`, `server__tool`, `mcp__server__tool`). Case and separators do not matter. Real names precede aliases, so
 * an alias cannot displace a name. A plain word ("search") is a name only if it is the whole query.
 *
 * If the query has no terms, `must` alone selects: all tools that match it, relevance 1, by id. Without `must`, nothing matches.
 */
export function createLexicalSearcher(): LexicalSearcher {
  const tuning = defaultTuning
  const index = createTermIndex()
  const scores = createScores(index, tuning.clause, () => vocabulary())
  const readLearned = createLearnedReader(index)
  let lazyVocabulary: Vocabulary | undefined
  const vocabulary = (): Vocabulary => {
    lazyVocabulary ??= createVocabulary(createLexicon(tuning))
    return lazyVocabulary
  }
  const analyser = () => createAnalyser(vocabulary(), tuning)
  const names = createNameMatches(index)
  const createQueryNameFit = createNameFit(index, vocabulary)
  const createQueryCoverage = createCoverage(index)
  const isKnown = (hash: number): boolean => index.countTools(hash) > 0
  const repair = createSpellingRepair(index, vocabulary)
  const extractTerms = (text: string, isAlone = true): QueryTerms =>
    extractQueryTerms(text.slice(0, queryCharacterLimit), vocabulary(), tuning, isKnown, repair, isAlone)

  function rank(query: RankQuery): readonly Ranked[] {
    const { learned = [], hidden } = query
    // Learned tools are looked up among all tools and cached, so this comes before hiding tools.
    const known = learned.length > 0 ? readLearned(learned) : undefined
    return hidden ? index.withHidden(hidden, () => rankVisible(query, known)) : rankVisible(query, known)
  }

  function rankVisible(query: RankQuery, learned: LearnedPostings | undefined): readonly Ranked[] {
    const { limit = Number.POSITIVE_INFINITY, accept } = query
    const text = query.text.slice(0, queryCharacterLimit)
    vocabulary().forgetIfLarge()
    const asked = extractTerms(text, query.must.length === 0)
    const exact = names.findInQuery(text)
    const allowed = findSlotsWithWords(query.must, index, vocabulary())
    const isSelecting = asked.whole.length === 0 && allowed !== undefined

    const scored = scores.compute(asked, learned)
    for (const [slot, tier] of exact) scored[slot] = (scored[slot] as number) + tier * exactTierScore
    if (isSelecting) for (const slot of allowed) scored[slot] = (scored[slot] as number) + 1

    const hasDead = index.segments.some(({ deadCount }) => deadCount > 0)
    const rivalEnd = exact.size + maximumRivals
    const slots = selectBestSlots(
      scored,
      index.slots,
      Math.max(limit, rivalEnd),
      (first, second) => compareCodeUnits(index.getIdentity(first).id, index.getIdentity(second).id),
      (slot) =>
        !(hasDead && index.isDead(slot)) &&
        (!allowed || allowed.has(slot)) &&
        (!accept || accept(index.getIdentity(slot).id)),
    )
    const best = groupBest(slots, rivalEnd, scored, (slot) => isSelecting || exact.has(slot))

    const words = weighWords(asked.whole, scores.weighByRarity, isKnown)
    const computeRelevance = createRelevance(words)
    const products = asked.whole
      .filter(({ kind, text }) => kind === 'word' && isProduct(text))
      .map(({ hash }) => index.createReader(hash))
    const getShare = (slot: number) =>
      scores.getEffectShare(slot) *
      (products.some((readByte) => readByte(slot) < 0) ? unknownProductShare : 1)
    const measureCoverage = createQueryCoverage(words, scores.highestRarity, getShare)
    const measureNameFit = createQueryNameFit(asked.whole)
    const findCoverage = (slot: number, relevance: number): Coverage => {
      if (isSelecting || exact.has(slot)) return fullCoverage
      if (relevance < minimumRelevance) return noCoverage
      return measureCoverage(slot, scored[slot] as number, scores.getLearnedScore(slot))
    }
    /** Builds a hit. A rival's score depends on how well it fits; other scores are multiplied by `share`. */
    const toHit = (slot: number, share: number, fit?: NameFit): Ranked => {
      const score = scored[slot] as number
      const isCertain = isSelecting || exact.has(slot)
      const relevance = isCertain ? 1 : computeRelevance(score)
      const { certainty, coverage, ownCoverage } = findCoverage(slot, relevance)
      const hit = {
        id: index.getIdentity(slot).id,
        score: score * (fit ? applyFit(coverage, fit) : share),
        relevance,
        certainty,
        coverage: fit ? Math.max(0, Math.min(1, coverage + fit.gain)) : coverage,
        ...(scores.isOfNamedServer(slot) ? { isOfNamedServer: true } : {}),
      }
      const own = score - (isCertain ? 0 : scores.getLearnedScore(slot))
      if (own === score) return hit
      const ownScore = own * (fit ? applyFit(ownCoverage, fit) : share)
      return { ...hit, ownRelevance: computeRelevance(own), ownScore }
    }
    const rivals = best.rivals
      .map((slot) => toHit(slot, 1, measureNameFit(slot)))
      .sort((first, second) => second.score - first.score || compareCodeUnits(first.id, second.id))
    // The remaining hits keep their place after the rivals.
    const last = best.rivals.at(-1)
    const share = last === undefined ? 1 : (rivals.at(-1)?.score ?? 0) / (scored[last] as number)
    const room = Math.max(0, limit - best.certain.length - rivals.length)
    return [
      ...best.certain.map((slot) => toHit(slot, 1)),
      ...rivals,
      ...best.rest.slice(0, room).map((slot) => toHit(slot, share)),
    ].slice(0, limit)
  }

  const missSource: MissSource = {
    findByName: (asked) => names.findByName(asked).map((slot) => index.getIdentity(slot).id),
    *listNames() {
      for (const { identities, dead } of index.segments)
        for (const [slot, identity] of identities.entries()) if (dead[slot] === 0) yield identity.name
    },
    extractTerms: (text) => extractTerms(text).whole,
    hasTerm: (id, { hash }) => names.findByName(id).some((slot) => index.createReader(hash)(slot) >= 0),
    listMissing: (id, must) => {
      const slots = names.findByName(id)
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
      index.addSegments(segments)
      // Only now: servers share words, which would otherwise be looked up again for each server.
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
        if (builder.count === fillSegmentSize) build()
      })
      build()
      index.addSegments(made)
      vocabulary().forget()
    },
    update({ put = [], remove = [] }) {
      const analyse = analyser()
      index.update(
        remove,
        (function* () {
          for (const document of put) yield [document, analyse(document)] as const
        })(),
      )
      // A whole catalogue has too many words to cache; words of a single server are soon needed again.
      if (put.length >= manyTools) vocabulary().forget()
    },
    rank,
    explain(text, document, learned = []) {
      const accept = (id: string) => id === document.id
      const [hit = { score: 0, relevance: 0 }] = rank({ text, must: [], accept, learned })
      const slot = index.findSlot(document.id)
      const use = 'ownScore' in hit ? scores.getLearnedScore(slot) : 0
      const effect = slot < 0 ? 1 : scores.getEffectShare(slot)
      const server = slot < 0 ? 1 : scores.getServerShare(slot)
      const tier = Math.floor(hit.score / exactTierScore)
      const score = hit.score - tier * exactTierScore
      // The scores of the ranking above.
      const whole = slot < 0 ? 0 : (scores.last[slot] as number) - tier * exactTierScore
      return explain(
        document,
        extractTerms(text).whole,
        vocabulary(),
        tuning,
        (term) => ({ weight: scores.weighTerm(term), tools: index.countTools(term.hash) }),
        {
          name: describeTier(tier),
          score,
          relevance: hit.relevance,
          use,
          effect,
          server,
          fit: whole > 0 ? Math.min(1, score / whole) : 1,
        },
      )
    },
    explainMiss: (name, query) => explainMiss(name, query, missSource),
  }
}

interface BestSlots {
  /** Tools named by the query, or selected by `must` alone. */
  readonly certain: readonly number[]
  /** The best hit and those with a similar score. Does not depend on `limit`. */
  readonly rivals: readonly number[]
  readonly rest: readonly number[]
}

function groupBest(
  slots: readonly number[],
  rivalEnd: number,
  scores: Float32Array,
  isCertain: (slot: number) => boolean,
): BestSlots {
  const start = slots.filter(isCertain).length
  const scoreAt = (place: number) => scores[slots[place] as number] as number
  let end = start
  while (end < Math.min(slots.length, rivalEnd) && scoreAt(end) >= minimumRivalShare * scoreAt(start))
    end += 1
  return { certain: slots.slice(0, start), rivals: slots.slice(start, end), rest: slots.slice(end) }
}

function applyFit(coverage: number, fit: NameFit): number {
  return (1 - coverageShare + coverageShare * coverage) * fit.share
}

function compareCodeUnits(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0
}
