/** The ranking seam: a searcher keeps an index of tools and orders them for a query. Policy and activation are not its business. */

/** What a searcher may index of one tool. Every field is plain text; missing ones are empty. */
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
  /** Names and descriptions of the parameters, bounded (see `documentOf`). */
  readonly parameters: string
}

export interface Ranked {
  readonly id: string
  /** Comparable within one answer only. */
  readonly score: number
  /** From 0 to 1: how much of what the query asks for this tool accounts for. The cut-off is set on this figure. */
  readonly relevance: number
}

export interface Searcher {
  /** Adds or replaces documents, and removes ids. Costs what it is given, not what is indexed. */
  update(change: { readonly put?: readonly SearchDocument[]; readonly remove?: readonly string[] }): void
  /**
   * All documents that match, best first; ties by code unit of the id. Deterministic.
   * `must` holds words that have to occur in the name, an alias, the server or the domain.
   */
  rank(query: {
    readonly text: string
    readonly must: readonly string[]
  }): readonly Ranked[] | Promise<readonly Ranked[]>
}
