/** The searcher interface: indexes tools and ranks them for a query. Policy and loading are not part of it. */

/** The text of one tool that a searcher may index. Missing fields are empty. */
export interface SearchDocument {
  readonly id: string
  readonly name: string
  readonly aliases: readonly string[]
  readonly server: string
  readonly domain: string
  readonly hint: string
  readonly snippet: string
  readonly title: string
  readonly description: string
  /** Descriptions and values of the parameters, limited in length (see `createDocument`). */
  readonly parameters: string
  readonly parameterNames?: string
  /** The same for all tools of a server. It may find them but should not decide between them. */
  readonly serverDescription?: string
}

export interface Ranked {
  readonly id: string
  /** Comparable only within one ranking. */
  readonly score: number
  /** From 0 to 1: how likely the query asks for this tool. The cut-off applies to this figure. */
  readonly relevance: number
  /** From 0 to 1: share of the query words that the tool has. Used by `autoLoad: 'certain'`. Defaults to the relevance. */
  readonly certainty?: number
  /**
   * From 0 to 1: how much of the query the tool covers. If none of the best four hits reaches 0.52, the search answer says that
   * nothing clearly fits. Defaults to 1.
   */
  readonly coverage?: number
  /**
   * Relevance by the words alone, without learned use or similarity. Tools below the cut-off by their words are offered, never loaded.
   * Defaults to the relevance.
   */
  readonly ownRelevance?: number
  /** Score by the words alone. Other hits are compared with it, so learned use displaces no hit that the words find. Defaults to the score. */
  readonly ownScore?: number
  /** The query names the server of the tool. If no hit is clear, the answer shows tools of that server. Defaults to false. */
  readonly isOfNamedServer?: boolean
}

/** Terms learned from use. Opaque: only the built-in ranking reads it. */
export interface LearnedTerms {
  /** Number of tools that have learned something. */
  readonly size: number
}

export interface RankQuery {
  readonly text: string
  /** Words that have to occur in the name, an alias, the server, the domain or the group. */
  readonly must: readonly string[]
  /** Number of hits needed. Defaults to all that match. */
  readonly limit?: number
  /** Terms learned from use, for the built-in ranking. Other searchers may ignore it. */
  readonly learned?: readonly LearnedTerms[]
  /** Tools that may not be seen. The ranking must be as if they did not exist. A searcher may ignore it: the caller checks again. */
  readonly hidden?: (id: string) => boolean
  /** Hits that are needed. A searcher may ignore it: the caller checks again. */
  readonly accept?: (id: string) => boolean
}

export interface Searcher {
  /** Adds or replaces documents and removes ids. Its cost depends on the change, not on the size of the index. */
  update(change: { readonly put?: readonly SearchDocument[]; readonly remove?: readonly string[] }): void
  /** Returns matching documents, best first; ties by code unit of the id. Deterministic. */
  rank(query: RankQuery): readonly Ranked[] | Promise<readonly Ranked[]>
}
