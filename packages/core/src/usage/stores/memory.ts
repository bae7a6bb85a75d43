/** What was learned, in this process's memory: gone when it ends. The usage itself holds the examples; nothing has to be kept beside it. */
import type { UsageStore } from '../usage-store.js'

export function memoryUsage(): UsageStore {
  return {
    read: async () => [],
    append: async () => undefined,
    forget: async () => undefined,
  }
}
