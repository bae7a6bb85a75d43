/** The search lab: asks as an agent does, and explains the ranking. Records nothing. */
import { homedir } from 'node:os'
import { createLexicalSearcher, estimate } from '@toolwell/core'
import { createDocument, parseQuery } from '@toolwell/core/internal'
import { memoryResults } from '@toolwell/core/result'
import { callTool } from '../../answer/call-tool.js'
import { SEARCH_NAME } from '../../bridge/protocol.js'
import type { View } from '../../servers/view.js'
import type { SearchLabAnswer, SearchMatch, SearchReason } from './api-types.js'

type Searcher = ReturnType<typeof createLexicalSearcher>

interface Index {
  readonly view: View
  readonly revision: number
  readonly searcher: Searcher
}

/** Milliseconds without a search after which the index of the lab is dropped. */
const KEEP = 5 * 60_000
const MOST_OTHERS = 20
const MOST_REASONS = 12

export class SearchLab {
  #index: Index | undefined
  #dropping: NodeJS.Timeout | undefined

  /** `client`: the name of the client, which decides how the answer names the tools of the gateway. */
  async ask(
    view: View,
    {
      query,
      limit,
      client = '',
    }: { readonly query: string; readonly limit?: number; readonly client?: string },
  ): Promise<SearchLabAnswer> {
    const input = { query, ...(limit === undefined ? {} : { limit }) }
    const { content } = await callTool(
      view,
      {
        name: SEARCH_NAME,
        input,
        caller: { client, era: 'modern', workspace: homedir() },
        results: { store: memoryResults(), principal: '', client },
        workspace: undefined,
        optionsFor: () => ({}),
        currentView: () => view,
        take: () => ({ release: () => undefined }),
        searchTurn: async () => undefined,
        refused: new Set(),
      },
      () => undefined,
    )
    const [part] = content
    const answer = part?.type === 'text' ? part.text : ''
    const { outcome } = await view.direct.search(input)
    const { matches, unclear } = outcome.kind === 'search' ? outcome.result : { matches: [], unclear: false }
    const { searcher } = this.#indexOf(view)
    const entries = new Map(view.direct.tools().map((entry) => [entry.id, entry]))
    const byName = new Map([...entries.values()].map((entry) => [entry.wireName, entry]))
    const { text, must } = parseQuery(query)
    const ranked = searcher.rank({ text, must, limit: matches.length + MOST_OTHERS })
    const places = new Map(ranked.map((hit, at) => [hit.id, { ...hit, rank: at + 1 }]))
    const describe = (id: string, isLoaded: boolean): SearchMatch[] => {
      const entry = entries.get(id)
      if (!entry) return []
      const { score, relevance, reasons } = explain(searcher, text, entry)
      const { rank = 0 } = places.get(id) ?? {}
      return [
        {
          server: entry.source,
          tool: entry.tool.name,
          name: entry.wireName,
          rank,
          score,
          relevance: places.get(id)?.relevance ?? relevance,
          isLoaded,
          tokens: view.direct.cost(entry),
          reasons,
        },
      ]
    }
    const shown = matches.flatMap(({ canonicalName, fresh, status }) => {
      const id = byName.get(canonicalName)?.id
      return id === undefined ? [] : describe(id, fresh || status === 'loaded')
    })
    const isShown = new Set(matches.map(({ canonicalName }) => byName.get(canonicalName)?.id))
    return {
      query,
      answer,
      tokens: estimate.count(answer),
      isUnclear: unclear,
      matches: shown,
      others: ranked
        .filter(({ id }) => !isShown.has(id))
        .slice(0, MOST_OTHERS)
        .flatMap(({ id }) => describe(id, false)),
    }
  }

  #indexOf(view: View): Index {
    const { revision } = view.catalogue
    const known = this.#index
    clearTimeout(this.#dropping)
    this.#dropping = setTimeout(() => {
      this.#index = undefined
    }, KEEP)
    this.#dropping.unref()
    if (known?.view === view && known.revision === revision) return known
    const searcher = createLexicalSearcher()
    searcher.update({ put: view.direct.tools().map(({ id, tool }) => createDocument({ id, tool })) })
    this.#index = { view, revision, searcher }
    return this.#index
  }

  close(): void {
    clearTimeout(this.#dropping)
  }
}

function explain(
  searcher: Searcher,
  text: string,
  { id, tool }: ReturnType<View['direct']['tools']>[number],
): { readonly score: number; readonly relevance: number; readonly reasons: readonly SearchReason[] } {
  const { name, terms, score, relevance } = searcher.explain(text, createDocument({ id, tool }))
  const reasons = terms.flatMap(({ term, kind, fields }) =>
    Object.entries(fields).map(([field, part]): SearchReason => ({ term, kind, field, score: part })),
  )
  const byScore = reasons.filter((reason) => reason.score > 0).sort((a, b) => b.score - a.score)
  const named: SearchReason[] = name
    ? [{ term: text, kind: 'literal', field: `name (${name})`, score: 0 }]
    : []
  return { score, relevance, reasons: [...named, ...byScore].slice(0, MOST_REASONS) }
}
