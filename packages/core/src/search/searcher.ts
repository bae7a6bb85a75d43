/** The ranking seam: a searcher keeps an index of tools and orders them for a query. Policy and loading are not its business. */

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
  /** Descriptions and values of the parameters, bounded (see `documentOf`). */
  readonly parameters: string
  readonly parameterNames?: string
  /** The same for all tools of a server: it may find them and should not decide between them. */
  readonly serverDescription?: string
}

export interface Ranked {
  readonly id: string
  /** Comparable within one answer only. */
  readonly score: number
  /** From 0 to 1: how likely it is that the query asks for this tool. The cut-off is set on this figure. */
  readonly relevance: number
  /** From 0 to 1: how many of the words that were asked for the tool holds; `autoLoad: 'certain'` goes by it. Left out: relevance counts. */
  readonly certainty?: number
  /**
   * From 0 to 1: how much of what was asked for the tool accounts for. Where none of the best four answers reaches 0.52, the model
   * reads that nothing clearly does this. Left out: it does.
   */
  readonly coverage?: number
  /** Relevance by the words alone, without what was learned from use or seems similar: what only these find is offered, never loaded. Left out: the same. */
  readonly ownRelevance?: number
  /** The score by the words alone: others are measured by it, so that use displaces nothing that the words find. Left out: the same. */
  readonly ownScore?: number
}

/** Terms that tools were used by. Nothing to look into: only the built-in ranking reads it. */
export interface LearnedTerms {
  /** Tools that have learned something. */
  readonly size: number
}

export interface RankQuery {
  readonly text: string
  /** Words that have to occur in the name, an alias, the server, the domain or the group. */
  readonly must: readonly string[]
  /** The best this many suffice. Left out: all that match. */
  readonly limit?: number
  /** What was learned from use, where something was, for the built-in ranking. Another searcher may ignore it. */
  readonly learned?: readonly LearnedTerms[]
  /** Tools that may not be seen: the answer is what it would be without them. A searcher may ignore it: the caller checks again. */
  readonly hidden?: (id: string) => boolean
  /** Others need not be returned. A searcher may ignore it: the caller checks again. */
  readonly accept?: (id: string) => boolean
}

export interface Searcher {
  /** Adds or replaces documents, and removes ids. Costs what it is given, not what is indexed. */
  update(change: { readonly put?: readonly SearchDocument[]; readonly remove?: readonly string[] }): void
  /** Documents that match, best first; ties by code unit of the id. Deterministic. */
  rank(query: RankQuery): readonly Ranked[] | Promise<readonly Ranked[]>
}
