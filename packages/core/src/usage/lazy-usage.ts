/** What was learned from use, loaded with the first search: it goes by the words of the ranking, which a bundle need not hold at the start. */
import { lazily } from '../base/lazily.js'
import type { Usage, UsageSettings } from './usage.js'

export function createLazyUsage(settings: UsageSettings): Usage {
  let isUsed = false
  const load = lazily(async () => (await import('./usage.js')).createUsage(settings))
  const loaded = () => {
    isUsed = true
    return load()
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
    flush: async () => (isUsed ? (await loaded()).flush() : undefined),
  }
}
