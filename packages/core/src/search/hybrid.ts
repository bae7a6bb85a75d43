/** Hybrid search: combines the lexical ranking with similarity from an embedding function of the host. */

import { withTimeout } from '../base/async.js'
import { shortHash } from '../base/hash.js'
import { assertFunction, invalid } from '../base/options.js'
import { createLexicalSearcher } from './lexical.js'
import type { Ranked, RankQuery, SearchDocument, Searcher } from './searcher.js'
import {
  defaultSimilarityWeight,
  fullSimilarityWords,
  maximumRelevance,
  minimumHits,
  minimumSimilarity,
  priorVectors,
  rerankLimit,
} from './tuning.js'

export interface HybridOptions {
  /** Returns one vector per text, all of the same length. Called for each query, and for new or changed documents. */
  readonly embed: (texts: readonly string[]) => Promise<readonly ArrayLike<number>[]>
  /** Weight of similarity; the best lexical score is 1. Default 0.8, for a sentence encoder such as MiniLM. Use 0.2 for word vectors. */
  readonly weight?: number
  /** Texts per call of `embed`. Default 64. */
  readonly batch?: number
  /** Milliseconds that a search waits for `embed` before it uses the lexical ranking alone. Default 5,000. */
  readonly timeout?: number
}

/** Characters of a tool that are embedded. The first sentence describes the tool; a vector of a long text mixes many subjects. */
const textLimit = 300
/** Number of vectors used to estimate the usual similarity. */
const sampleSize = 500
/** After a timeout, `embed` is not called for this many timeouts. */
const pauseFactor = 10

/**
 * Adds lexical scores and similarities: the best lexical score is 1, the best similarity is `weight`. Exact names stay first.
 *
 * Each document text is embedded once and cached by its hash while it is indexed. Embedding continues in the background after a
 * timeout. If `embed` fails or times out, `rank` throws, and a `Toolwell` falls back to the lexical ranking.
 */
export function createHybridSearcher({
  embed,
  weight = defaultSimilarityWeight,
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
  const embedWithTimeout = (given: readonly string[]) => withTimeout(embed(given), timeout, late)
  let embedding: Promise<void> = Promise.resolve()
  let pausedUntil = 0

  async function embedMissing(): Promise<void> {
    const missing = new Map<string, string>()
    for (const { key, text } of texts.values()) if (!vectors.has(key)) missing.set(key, text)
    const entries = [...missing]
    for (let start = 0; start < entries.length; start += batch) {
      const part = entries.slice(start, start + batch)
      const found = await embedWithTimeout(part.map(([, text]) => text))
      if (found.length !== part.length)
        throw new Error(`embed got ${part.length} texts and returned ${found.length} vectors`)
      assertLengths(found)
      part.forEach(([key], index) => {
        vectors.set(key, normalise(found[index] as ArrayLike<number>))
      })
    }
  }

  /** Embeds the query, after all missing documents. */
  async function embedQuery(text: string): Promise<ArrayLike<number> | undefined> {
    if (Date.now() < pausedUntil) throw new Error('embed did not answer in time and is paused for a while')
    const work = async () => {
      // One run at a time. It continues in the background if the search stops waiting.
      embedding = embedding
        .catch(() => undefined)
        .then(embedMissing)
        .then(() => {
          pausedUntil = 0
        })
      await embedding
      return embed([text])
    }
    try {
      return (await withTimeout(work(), timeout, late))[0]
    } catch (error) {
      if (error === late) pausedUntil = Date.now() + pauseFactor * timeout
      throw error
    }
  }

  /** Checks that all vectors have the same length. Different lengths mean different models, which cannot be compared. */
  function assertLengths(found: readonly (ArrayLike<number> | undefined)[]): void {
    const [known = found[0]] = vectors.values()
    for (const vector of found) {
      const length = vector?.length ?? 0
      if (length === 0 || length !== known?.length)
        throw new Error(
          `embed returned vectors of different lengths: ${length} and ${known?.length ?? 0} numbers`,
        )
    }
  }

  function listVisibleVectors(hidden: (id: string) => boolean): Float32Array[] {
    const keys = new Set([...texts].filter(([id]) => !hidden(id)).map(([, { key }]) => key))
    return [...vectors].filter(([key]) => keys.has(key)).map(([, vector]) => vector)
  }

  async function rank(query: RankQuery): Promise<readonly Ranked[]> {
    const { limit = Number.POSITIVE_INFINITY, accept, hidden } = query
    const { limit: _, ...unlimited } = query
    const words = (await lexical.rank(unlimited)) as readonly Ranked[]
    if (query.text.trim() === '') return words.slice(0, limit)
    const found = await embedQuery(query.text)
    assertLengths([found])
    const target = normalise(found ?? [])
    const similarity = (id: string): number => {
      const vector = vectors.get(texts.get(id)?.key ?? '')
      return vector ? Math.max(0, dot(target, vector)) : 0
    }
    const certain = words.filter(({ relevance }) => relevance === 1)
    const likely = words.filter(({ relevance }) => relevance < 1)
    const foundByWords = new Set(words.map(({ id }) => id))
    const more =
      query.must.length > 0 || foundByWords.size >= minimumHits
        ? []
        : [...texts.keys()]
            .filter((id) => !foundByWords.has(id) && (!accept || accept(id)) && !hidden?.(id))
            .map((id): Ranked => ({ id, score: 0, relevance: 0, certainty: 0, coverage: 0 }))
            .sort(
              (first, second) => similarity(second.id) - similarity(first.id) || compare(first.id, second.id),
            )
            .slice(0, minimumHits - foundByWords.size)
    const usual = meanSimilarity(hidden ? listVisibleVectors(hidden) : [...vectors.values()], target)
    const best = likely[0]?.score ?? 1
    const candidates = [...likely.slice(0, rerankLimit), ...more].map((hit) => ({
      ...hit,
      likeness: similarity(hit.id),
    }))
    const most = Math.max(minimumSimilarity, ...candidates.map(({ likeness }) => likeness))
    const share =
      weight * Math.min(1, fullSimilarityWords / Math.max(1, query.text.trim().split(/\s+/).length))
    const fused = candidates.map(({ likeness, ...hit }) => {
      const distinct = Math.max(0, likeness - usual) / Math.max(minimumSimilarity, 1 - usual)
      return {
        ...hit,
        score: hit.score / best + share * (likeness / most),
        ownScore: (hit.ownScore ?? hit.score) / best,
        relevance: Math.min(maximumRelevance, Math.max(hit.relevance, distinct)),
        coverage: Math.max(hit.coverage ?? 0, distinct),
        // Tools found only by similarity are offered, not loaded.
        ownRelevance: hit.ownRelevance ?? hit.relevance,
      }
    })
    fused.sort((first, second) => second.score - first.score || compare(first.id, second.id))
    const rest = likely.slice(rerankLimit).map(({ ownScore: _, ...hit }) => ({
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
        const text = toEmbeddingText(document)
        texts.set(document.id, { key: shortHash(text, 32), text })
      }
      const used = new Set([...texts.values()].map(({ key }) => key))
      for (const key of vectors.keys()) if (!used.has(key)) vectors.delete(key)
    },
    rank,
  }
}

/**
 * Estimates the usual similarity from a sample of vectors. Some models rate all texts 0.7 alike, others 0.1, so relevance
 * measures how much more similar a tool is than usual.
 */
function meanSimilarity(vectors: readonly Float32Array[], target: Float32Array): number {
  const step = Math.max(1, Math.floor(vectors.length / sampleSize))
  const some = vectors.filter((_, place) => place % step === 0)
  return (
    some.reduce((sum, vector) => sum + Math.max(0, dot(target, vector)), 0) / (some.length + priorVectors)
  )
}

/** Writes the tool as plain text: the name as words, then what the tool does. The server name is left to the lexical ranking. */
function toEmbeddingText({ name, title, description, hint }: SearchDocument): string {
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

function normalise(vector: ArrayLike<number>): Float32Array {
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
