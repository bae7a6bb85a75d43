/** Keeps a searcher in step with the catalogue, and falls back to the built-in one where the host's fails. */
import type { Catalogue } from '../catalogue.js'
import type { Notice } from '../events.js'
import { documentOf } from './document.js'
import { createLexicalSearcher } from './lexical.js'
import type { Ranked, RankQuery, Searcher } from './searcher.js'

export type Ranking = (query: RankQuery, notify: (notice: Notice) => void) => Promise<readonly Ranked[]>

/** Nothing is indexed before the first search; after that, what changed. */
export function createRanking(catalogue: Catalogue, custom: Searcher | undefined): Ranking {
  const lexical = follow(catalogue, createLexicalSearcher())
  const chosen = custom ? follow(catalogue, custom) : lexical
  return async (query, notify) => {
    try {
      const ranked = await chosen().rank(query)
      if (Array.isArray(ranked) && ranked.every(isRanked)) return ranked
      throw new Error('its answer is not a list of { id, score, relevance }')
    } catch (error) {
      notify({ kind: 'searcher-failed', query: query.text, detail: String(error) })
      return lexical().rank(query)
    }
  }
}

function follow(catalogue: Catalogue, searcher: Searcher): () => Searcher {
  let revision = -1
  return () => {
    if (revision === catalogue.revision) return searcher
    const ids =
      revision < 0 ? [...catalogue.entries()].map((entry) => entry.id) : [...catalogue.changesSince(revision)]
    const put = []
    const remove = []
    for (const id of ids) {
      const entry = catalogue.get(id)
      if (!entry) {
        remove.push(id)
        continue
      }
      const serverDescription = catalogue.sources.get(entry.source)?.description ?? ''
      put.push(
        documentOf({
          id,
          tool: { ...entry.tool, source: entry.source, aliases: catalogue.aliasesOf(id) },
          serverDescription,
        }),
      )
    }
    searcher.update({ put, remove })
    revision = catalogue.revision
    return searcher
  }
}

function isRanked(value: unknown): value is Ranked {
  const { id, score, relevance } = (value ?? {}) as Partial<Ranked>
  return typeof id === 'string' && Number.isFinite(score) && Number.isFinite(relevance)
}
