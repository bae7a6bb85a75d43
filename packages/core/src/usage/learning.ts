/** Joins what was learned to both ends of a search: the ranking reads it, and the ledger, as it is written, teaches it. */
import type { LedgerEvent } from '../ledger/event.js'
import type { Ranking } from '../search/ranking.js'
import type { Ranked, RankQuery } from '../search/searcher.js'
import type { Notice } from '../tool/notice.js'
import { observeUsage } from './observe.js'
import type { Usage } from './usage.js'

export interface Learning {
  rank(query: RankQuery, notify: (notice: Notice) => void, principal: string): Promise<readonly Ranked[]>
  observe(principal: string): (fresh: readonly LedgerEvent[]) => void
}

export function learningFrom(usage: Usage, ranking: Ranking): Learning {
  return {
    rank: async (query, notify, principal) =>
      ranking({ ...query, learned: await usage.learnedBy(principal) }, notify),
    observe: (principal) => observeUsage(usage, principal),
  }
}
