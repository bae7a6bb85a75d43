/** The ranking of a catalogue, loaded with the first search: its words and its index are a fifth of what a bundle would hold. */
import type { Catalogue } from '../catalogue/catalogue.js'
import type { Ranking } from './ranking.js'
import type { Searcher } from './searcher.js'

export function createLazyRanking(catalogue: Catalogue, custom: Searcher | undefined): Ranking {
  let made: Promise<Ranking> | undefined
  const load = async () => {
    try {
      return (await import('./ranking.js')).createRanking(catalogue, custom)
    } catch (error) {
      // A piece of a bundle that could not be fetched may be there the next time.
      made = undefined
      throw error
    }
  }
  return async (query, notify) => {
    made ??= load()
    return (await made)(query, notify)
  }
}
