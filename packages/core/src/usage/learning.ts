/** Connects learning with the search: the ranking reads what was learned, and new ledger events teach it. */

import { lazily } from '../base/async.js'
import type { Catalogue } from '../catalogue/catalogue.js'
import type { LedgerEvent } from '../ledger/event.js'
import type { Ranking } from '../search/ranking.js'
import type { Ranked, RankQuery, Searcher } from '../search/searcher.js'
import type { Notice } from '../tool/notice.js'
import type { Usage, UsageSettings } from './usage.js'

export interface Learning {
  rank(query: RankQuery, notify: (notice: Notice) => void, principal: string): Promise<readonly Ranked[]>
  observe(principal: string): (fresh: readonly LedgerEvent[]) => void
}

export function connectLearning(usage: Usage, ranking: Ranking): Learning {
  return {
    rank: async (query, notify, principal) =>
      ranking({ ...query, learned: await usage.getLearnedTerms(principal) }, notify),
    observe: (principal) => observeUsage(usage, principal),
  }
}

/** Loads the ranking with the first search. Its words and its index code are a fifth of a bundle. */
export function createLazyRanking(catalogue: Catalogue, custom: Searcher | undefined): Ranking {
  const ranking = lazily(async () => (await import('../search/ranking.js')).createRanking(catalogue, custom))
  return async (query, notify) => (await ranking())(query, notify)
}

/** Loads the usage module with the first search. It needs the word lists of the ranking, which a bundle should not load at the start. */
export function createLazyUsage(settings: UsageSettings): Usage {
  let isUsed = false
  const load = lazily(async () => (await import('./usage.js')).createUsage(settings))
  const loaded = () => {
    isUsed = true
    return load()
  }
  const report = (error: unknown) => settings.report(`could not be loaded: ${String(error)}`)
  return {
    getLearnedTerms: (principal) =>
      loaded().then(
        (usage) => usage.getLearnedTerms(principal),
        (error: unknown) => {
          report(error)
          return []
        },
      ),
    // Callbacks of one promise run in order, so a later search sees this lesson.
    learn: (principal, query, tools) =>
      void loaded().then((usage) => usage.learn(principal, query, tools), report),
    status: async (filter) => (await loaded()).status(filter),
    forget: async (filter) => (await loaded()).forget(filter),
    export: async () => (await loaded()).export(),
    flush: async () => (isUsed ? (await loaded()).flush() : undefined),
  }
}

interface OpenSearch {
  readonly query: string
  readonly shown: ReadonlySet<string>
  readonly credited: Set<string>
}

/** Number of searches remembered per turn. */
const MOST_SEARCHES = 20

/**
 * Learns from new ledger events: a tool that a search showed and that was then called with success in the same turn.
 *
 * A turn ends with a reply without calls: two requests follow each other with nothing in between. Only new events are observed, so a
 * replayed ledger teaches nothing twice.
 */
function observeUsage(usage: Usage, principal: string): (fresh: readonly LedgerEvent[]) => void {
  let searches: OpenSearch[] = []
  let hasCalled = false
  return (fresh) => {
    for (const event of fresh)
      if (event.kind === 'requested') {
        if (!hasCalled) searches = []
        hasCalled = false
      } else if (event.kind === 'searched') {
        hasCalled = true
        const open = { query: event.query, shown: new Set(event.shown ?? []), credited: new Set<string>() }
        if (open.shown.size > 0) searches = [...searches, open].slice(-MOST_SEARCHES)
      } else if (event.kind === 'call-succeeded') {
        hasCalled = true
        for (const { query, shown, credited } of searches) {
          if (!shown.has(event.tool) || credited.has(event.tool)) continue
          credited.add(event.tool)
          usage.learn(principal, query, [event.tool])
        }
      } else if (event.kind === 'call-failed') hasCalled = true
      else if (event.kind === 'cleared' || event.kind === 'compacted') searches = []
  }
}
