/** A store that never fails: an error in it costs a warning, and the memory of that server. */
import { isRecord } from '@toolwell/core/internal'
import type { WarningListener } from '../../definition/warning.js'
import type { FirstUseStore } from './first-use.js'

export function carefulFirstUse(store: FirstUseStore, warn: WarningListener): FirstUseStore {
  const attempt = <T>(what: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      warn({ code: 'first-use-failed', text: `the store of first use failed to ${what}: ${why}` })
      return undefined
    }
  }
  return {
    read: (server) =>
      attempt(`read ${server.name}`, () => {
        const seen = store.read(server)
        if (seen === undefined || (isRecord(seen.tools) && typeof seen.instructions === 'string')) return seen
        throw new Error('what it returned is not a record of first use')
      }),
    write: (server, seen) => attempt(`remember ${server.name}`, () => store.write(server, seen)),
    stamp: (server) => attempt(`look at ${server.name}`, () => store.stamp(server)) ?? '',
  }
}
