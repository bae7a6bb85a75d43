/** Words and meaning together: the lexical ranking with the similarity that a host's embedding function finds. */

import { withTimeout } from '../base/async.js'
import { shortHash } from '../base/hash.js'
import { assertFunction, invalid } from '../base/options.js'
import { createLexicalSearcher } from './lexical.js'
import type { Ranked, RankQuery, SearchDocument, Searcher } from './searcher.js'

export interface HybridOptions {
  /** One vector per text, all of one length. Called for documents that are new or changed, and for each query. */
  readonly embed: (texts: readonly string[]) => Promise<readonly ArrayLike<number>[]>
  /** How much similarity counts beside the words, whose best score is 1. Default 0.2; a large model is worth more, up to 1. */
  readonly weight?: number
  /** Texts per call of `embed`. Default 64. */
  readonly batch?: number
  /** Milliseconds after which a search gives `embed` up, and the words alone answer. Default 5,000. */
  readonly timeout?: number
}

/** Of what the words find, so many are ordered by similarity too: further down it finds look-alikes more often than answers. */
const reordered = 50
/** Where the words find fewer tools than this, the most similar are added. */
const added = 20
/** A tool is said in its first sentence; a vector of a long text is one of many things. */
const textLimit = 300
/** Vectors that say what similarity is usual. */
const sampled = 500
/** Few vectors say little about what is usual: as if so many more were not similar at all. */
const saidByFew = 2
/** Similarities below this are noise, however they compare with each other. */
const leastSimilarity = 0.2
/** A long request is about several things; its vector says less of each. */
const fullWords = 15
/** After `embed` did not answer in time, it is not asked again for so many times that long. */
const pause = 10
/** Certainty is for exact names. */
const mostLikely = 0.99

/**
 * Scores are added, not ranks: the best word score is 1, and so is the best similarity, times `weight`. Exact names keep their place.
 * A document is embedded once per text, remembered by its hash while it is indexed; what was embedded before a search gave up is
 * there for the next. Where `embed` fails, or does not answer in time, `rank` fails, and a `Toolwell` falls back to the words alone.
 */
export function createHybridSearcher({
  embed,
  weight = 0.2,
  batch = 64,
  timeout = 5000,
}: HybridOptions): Searcher {
  assertFunction('embed', embed, true)
  assertAtLeast('batch', batch, 1)
  assertAtLeast('timeout', timeout, 1)
  assertAtLeast('weight', weight, 0)
  const lexical = createLexicalSearcher()
  const texts = new Map<string, { readonly key: string; readonly text: string }>()
  const vectors = new Map<string, Float32Array>()
  const late = new Error(`embed did not answer within ${timeout} ms`)
  const embedded = (given: readonly string[]) => withTimeout(embed(given), timeout, late)
  let settling: Promise<void> = Promise.resolve()
  let pausedUntil = 0

  async function settle(): Promise<void> {
    const missing = new Map<string, string>()
    for (const { key, text } of texts.values()) if (!vectors.has(key)) missing.set(key, text)
    const entries = [...missing]
    for (let start = 0; start < entries.length; start += batch) {
      const part = entries.slice(start, start + batch)
      const found = await embedded(part.map(([, text]) => text))
      if (found.length !== part.length)
        throw new Error(`embed was given ${part.length} texts and answered with ${found.length} vectors`)
      assertLengths(found)
      part.forEach(([key], index) => {
        vectors.set(key, unit(found[index] as ArrayLike<number>))
      })
    }
  }

  /** Of the query, once every document has its own. */
  async function vectorOf(text: string): Promise<ArrayLike<number> | undefined> {
    if (Date.now() < pausedUntil)
      throw new Error('embed did not answer in time before, and is not asked for a while')
    const work = async () => {
      // One after the other, and on in the background where a search does not wait for it any longer.
      settling = settling
        .catch(() => undefined)
        .then(settle)
        .then(() => {
          pausedUntil = 0
        })
      await settling
      return embed([text])
    }
    try {
      return (await withTimeout(work(), timeout, late))[0]
    } catch (error) {
      if (error === late) pausedUntil = Date.now() + pause * timeout
      throw error
    }
  }

  /** Vectors of several lengths come from several models, and have nothing to do with each other. */
  function assertLengths(found: readonly (ArrayLike<number> | undefined)[]): void {
    const [known = found[0]] = vectors.values()
    for (const vector of found) {
      const length = vector?.length ?? 0
      if (length === 0 || length !== known?.length)
        throw new Error(`embed gave a vector of ${length} numbers, and another of ${known?.length ?? 0}`)
    }
  }

  function vectorsWithout(hidden: (id: string) => boolean): Float32Array[] {
    const keys = new Set([...texts].filter(([id]) => !hidden(id)).map(([, { key }]) => key))
    return [...vectors].filter(([key]) => keys.has(key)).map(([, vector]) => vector)
  }

  async function rank(query: RankQuery): Promise<readonly Ranked[]> {
    const { limit = Number.POSITIVE_INFINITY, accept, hidden } = query
    const { limit: _, ...unlimited } = query
    const words = (await lexical.rank(unlimited)) as readonly Ranked[]
    if (query.text.trim() === '') return words.slice(0, limit)
    const found = await vectorOf(query.text)
    assertLengths([found])
    const target = unit(found ?? [])
    const similarity = (id: string): number => {
      const vector = vectors.get(texts.get(id)?.key ?? '')
      return vector ? Math.max(0, dot(target, vector)) : 0
    }
    const certain = words.filter(({ relevance }) => relevance === 1)
    const likely = words.filter(({ relevance }) => relevance < 1)
    const spoken = new Set(words.map(({ id }) => id))
    const more =
      query.must.length > 0 || spoken.size >= added
        ? []
        : [...texts.keys()]
            .filter((id) => !spoken.has(id) && (!accept || accept(id)) && !hidden?.(id))
            .map((id): Ranked => ({ id, score: 0, relevance: 0, certainty: 0, coverage: 0 }))
            .sort(
              (first, second) => similarity(second.id) - similarity(first.id) || compare(first.id, second.id),
            )
            .slice(0, added - spoken.size)
    const usual = meanSimilarity(hidden ? vectorsWithout(hidden) : [...vectors.values()], target)
    const best = likely[0]?.score ?? 1
    const candidates = [...likely.slice(0, reordered), ...more].map((hit) => ({
      ...hit,
      likeness: similarity(hit.id),
    }))
    const most = Math.max(leastSimilarity, ...candidates.map(({ likeness }) => likeness))
    const share = weight * Math.min(1, fullWords / Math.max(1, query.text.trim().split(/\s+/).length))
    const fused = candidates.map(({ likeness, ...hit }) => {
      const distinct = Math.max(0, likeness - usual) / Math.max(leastSimilarity, 1 - usual)
      return {
        ...hit,
        score: hit.score / best + share * (likeness / most),
        ownScore: (hit.ownScore ?? hit.score) / best,
        relevance: Math.min(mostLikely, Math.max(hit.relevance, distinct)),
        coverage: Math.max(hit.coverage ?? 0, distinct),
        // What the words do not find is offered, not loaded.
        ownRelevance: hit.ownRelevance ?? hit.relevance,
      }
    })
    fused.sort((first, second) => second.score - first.score || compare(first.id, second.id))
    const rest = likely.slice(reordered).map(({ ownScore: _, ...hit }) => ({
      ...hit,
      score: Math.min(hit.score / best, fused.at(-1)?.score ?? 1),
    }))
    return [...certain, ...fused, ...rest].slice(0, limit)
  }

  return {
    update(change) {
      lexical.update(change)
      for (const id of change.remove ?? []) texts.delete(id)
      for (const document of change.put ?? []) {
        const text = textOf(document)
        texts.set(document.id, { key: shortHash(text, 32), text })
      }
      const used = new Set([...texts.values()].map(({ key }) => key))
      for (const key of vectors.keys()) if (!used.has(key)) vectors.delete(key)
    },
    rank,
  }
}

/**
 * What counts as similar differs from model to model: to some all texts are 0.7 alike, to others 0.1. So a tool is as relevant as it
 * stands out from the usual, of which some vectors give an idea.
 */
function meanSimilarity(vectors: readonly Float32Array[], target: Float32Array): number {
  const step = Math.max(1, Math.floor(vectors.length / sampled))
  const some = vectors.filter((_, place) => place % step === 0)
  return some.reduce((sum, vector) => sum + Math.max(0, dot(target, vector)), 0) / (some.length + saidByFew)
}

/** As a person would say it: the name in words, then what the tool does. The server is left to the words. */
function textOf({ name, title, description, hint }: SearchDocument): string {
  const words = name.replace(/([\p{Ll}\p{N}])(?=\p{Lu})/gu, '$1 ').replace(/[_\-./:]+/g, ' ')
  return [words, title, hint, description]
    .filter((part) => part !== '')
    .join('. ')
    .slice(0, textLimit)
}

function assertAtLeast(name: string, value: number, least: number): void {
  if (!(typeof value === 'number' && value >= least && Number.isFinite(value)))
    throw invalid(
      name,
      `${name} of createHybridSearcher must be a number of at least ${least}, not ${String(value)}.`,
    )
}

function unit(vector: ArrayLike<number>): Float32Array {
  const copy = Float32Array.from(vector)
  const length = Math.sqrt(dot(copy, copy)) || 1
  return copy.map((value) => value / length)
}

function dot(first: Float32Array, second: Float32Array): number {
  let sum = 0
  for (let index = 0; index < first.length; index += 1) sum += (first[index] as number) * (second[index] ?? 0)
  return sum
}

function compare(first: string, second: string): number {
  return first < second ? -1 : first > second ? 1 : 0
}
