/** The default place for kept results: this process's memory, bounded, and gone when it ends. */
import type { KeptContent, ResultStore, ResultStoreLimits } from './store.js'
import { sizeOf } from './store.js'

const MAX_BYTES = 64 * 1024 * 1024
const MAX_AGE = 24 * 60 * 60 * 1000

export function memoryResults({
  maxBytes = MAX_BYTES,
  maxAge = MAX_AGE,
}: ResultStoreLimits = {}): ResultStore {
  /** Oldest first. */
  const kept = new Map<
    string,
    { readonly content: KeptContent; readonly size: number; readonly until: number }
  >()
  let total = 0
  const drop = (key: string) => {
    total -= kept.get(key)?.size ?? 0
    kept.delete(key)
  }
  const dropExpired = () => {
    for (const [key, { until }] of kept) {
      if (until > Date.now()) break
      drop(key)
    }
  }
  return {
    async write(ledger, handle, content) {
      const size = sizeOf(content)
      if (size > maxBytes) return false
      const key = JSON.stringify([ledger, handle])
      drop(key)
      dropExpired()
      for (const oldest of kept.keys()) {
        if (total + size <= maxBytes) break
        drop(oldest)
      }
      kept.set(key, { content, size, until: Date.now() + maxAge })
      total += size
      return true
    },
    async read(ledger, handle) {
      dropExpired()
      return kept.get(JSON.stringify([ledger, handle]))?.content
    },
    async delete(ledger) {
      const start = `${JSON.stringify([ledger]).slice(0, -1)},`
      for (const key of [...kept.keys()]) if (key.startsWith(start)) drop(key)
    },
  }
}
