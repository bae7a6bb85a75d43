/** The ranking of a catalogue, loaded with the first search: its words and its index are a fifth of what a bundle would hold. */
import { lazily } from '../base/async.js'
import type { Catalogue } from '../catalogue/catalogue.js'
import type { Ranking } from './ranking.js'
import type { Searcher } from './searcher.js'

export function createLazyRanking(catalogue: Catalogue, custom: Searcher | undefined): Ranking {
  const ranking = lazily(async () => (await import('./ranking.js')).createRanking(catalogue, custom))
  return async (query, notify) => (await ranking())(query, notify)
}
