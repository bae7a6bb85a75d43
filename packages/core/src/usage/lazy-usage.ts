/** What was learned from use, loaded with the first search: it goes by the words of the ranking, which a bundle need not hold at the start. */
import type { Usage, UsageSettings } from './usage.js'

export function createLazyUsage(settings: UsageSettings): Usage {
  let made: Promise<Usage> | undefined
  const load = async () => {
    try {
      return (await import('./usage.js')).createUsage(settings)
    } catch (error) {
      // A piece of a bundle that could not be fetched may be there the next time.
      made = undefined
      throw error
    }
  }
  const loaded = () => {
    made ??= load()
    return made
  }
  const report = (error: unknown) => settings.report(`could not be loaded: ${String(error)}`)
  return {
    learnedBy: (principal) =>
      loaded().then(
        (usage) => usage.learnedBy(principal),
        (error: unknown) => {
          report(error)
          return []
        },
      ),
    // Whoever asks later finds it learned: what waits for one promise goes on in order.
    learn: (principal, query, tools) =>
      void loaded().then((usage) => usage.learn(principal, query, tools), report),
    status: async (filter) => (await loaded()).status(filter),
    forget: async (filter) => (await loaded()).forget(filter),
    export: async () => (await loaded()).export(),
    flush: async () => (await made)?.flush(),
  }
}
