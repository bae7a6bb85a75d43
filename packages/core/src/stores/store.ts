/** The storage seam: where ledgers live. Two methods; `storeContract` in the testing door is the full definition. */
import type { LedgerEvent } from '../ledger-event.js'

export interface LedgerStore {
  /** Every event of the ledger in order; an empty list for a ledger nobody wrote to. */
  read(ledger: string): Promise<LedgerEvent[]>
  /**
   * Appends all events or none. `expected` is the number of events the caller has seen: when the ledger holds
   * another number, rejects with `ledger-conflict` and writes nothing. Resolves only when the events survive a
   * crash of this process.
   */
  append(ledger: string, expected: number, events: readonly LedgerEvent[]): Promise<void>
}
