/** The default store: ledgers in the memory of this process. */
import type { LedgerEvent } from '../event.js'
import {
  assertLedgerId,
  conflict,
  eventsFrom,
  eventsToJson,
  type LedgerStore,
  stillNeeded,
} from '../store.js'

interface StoredLedger {
  count: number
  /** The events of each append as JSON, without the brackets around them. */
  readonly batches: string[]
}

/**
 * Keeps text, not objects: nobody can change a stored event through a reference, one parse is cheaper than a structured clone, and an
 * event comes back exactly as it would from a file.
 */
export function memoryStore(): LedgerStore {
  const ledgers = new Map<string, StoredLedger>()
  return {
    async read(ledger, from) {
      assertLedgerId(ledger)
      const events = JSON.parse(`[${ledgers.get(ledger)?.batches.join(',') ?? ''}]`) as LedgerEvent[]
      return eventsFrom(ledger, events, from)
    },
    async append(ledger, expected, events) {
      assertLedgerId(ledger)
      const text = eventsToJson(ledger, expected, events)
      const stored = ledgers.get(ledger) ?? { count: 0, batches: [] }
      if (stored.count !== expected) throw conflict(ledger, expected, stored.count)
      if (events.length === 0) return
      stored.batches.push(text.slice(1, -1))
      stored.count += events.length
      ledgers.set(ledger, stored)
    },
    async list() {
      return [...ledgers.keys()]
    },
    async delete(ledger) {
      assertLedgerId(ledger)
      for (const [other, { batches }] of ledgers) {
        const [first] = JSON.parse(`[${batches[0] ?? ''}]`) as LedgerEvent[]
        if (first?.kind === 'forked' && first.origin.ledger === ledger) throw stillNeeded(ledger, other)
      }
      ledgers.delete(ledger)
    },
  }
}
