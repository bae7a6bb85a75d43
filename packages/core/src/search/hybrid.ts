/** Words and meaning together: the lexical ranking with the similarity that a host's embedding function finds. */

import { shortHash } from '../base/hash.js'
import { createLexicalSearcher } from './lexical.js'
import type { Ranked, RankQuery, SearchDocument, Searcher } from './searcher.js'

export interface HybridOptions {
  /** One vector per text, all of one length. Called for documents that are new or changed, and for each query. */
  readonly embed: (texts: readonly string[]) => Promise<readonly ArrayLike<number>[]>
  /** How much similarity counts beside the words, whose best score is 1. Default 0.5. */
  readonly weight?: number
  /** Texts per call of `embed`. Default 64. */
  readonly batch?: number
}

/** Similar tools that no word finds are added up to this many. */
const added = 20
const textLimit = 1000

/**
 * Scores are added, not ranks: the best word score is 1, and similarity counts from 0 to `weight`. Exact names keep their place.
 * A document is embedded once per text, remembered by its hash while it is indexed. Where `embed` fails, so does `rank`, and a
 * `Toolwell` falls back to the words alone.
 */
export function createHybridSearcher({ embed, weight = 0.5, batch = 64 }: HybridOptions): Searcher {
  const lexical = createLexicalSearcher()
  const texts = new Map<string, { readonly key: string; readonly text: string }>()
  const vectors = new Map<string, Float32Array>()

  async function settle(): Promise<void> {
    const missing = new Map<string, string>()
    for (const { key, text } of texts.values()) if (!vectors.has(key)) missing.set(key, text)
    const entries = [...missing]
    for (let start = 0; start < entries.length; start += batch) {
      const part = entries.slice(start, start + batch)
      const found = await embed(part.map(([, text]) => text))
      if (found.length !== part.length)
        throw new Error(`embed was given ${part.length} texts and answered with ${found.length} vectors`)
      part.forEach(([key], index) => {
        vectors.set(key, unit(found[index] as ArrayLike<number>))
      })
    }
  }

  async function rank(query: RankQuery): Promise<readonly Ranked[]> {
    const { limit = Number.POSITIVE_INFINITY, accept } = query
    const { limit: _, ...unlimited } = query
    const words = (await lexical.rank(unlimited)) as readonly Ranked[]
    if (query.text.trim() === '') return words.slice(0, limit)
    await settle()
    const [asked] = await embed([query.text])
    const target = unit(asked ?? [])
    const similarity = (id: string): number => {
      const vector = vectors.get(texts.get(id)?.key ?? '')
      return vector ? Math.max(0, dot(target, vector)) : 0
    }
    const certain = words.filter(({ relevance }) => relevance === 1)
    const likely = words.filter(({ relevance }) => relevance < 1)
    const best = likely[0]?.score ?? 1
    const found = new Set(words.map(({ id }) => id))
    const more =
      query.must.length > 0
        ? []
        : [...texts.keys()]
            .filter((id) => !found.has(id) && (!accept || accept(id)))
            .map((id) => ({ id, likeness: similarity(id) }))
            .sort((first, second) => second.likeness - first.likeness || compare(first.id, second.id))
            .slice(0, added)
    const fused = [
      ...likely.map(({ id, score, relevance, certainty = 0 }) => {
        const likeness = similarity(id)
        return {
          id,
          score: score / best + weight * likeness,
          relevance: Math.max(relevance, likeness ** 2),
          certainty,
        }
      }),
      ...more.map(({ id, likeness }) => ({
        id,
        score: weight * likeness,
        relevance: likeness ** 2,
        certainty: 0,
      })),
    ]
    fused.sort((first, second) => second.score - first.score || compare(first.id, second.id))
    return [...certain, ...fused].slice(0, limit)
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

function textOf({ name, server, title, description, hint }: SearchDocument): string {
  return [server, name, title, hint, description]
    .filter((part) => part !== '')
    .join('\n')
    .slice(0, textLimit)
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
