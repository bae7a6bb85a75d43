/** Events as a store gives them, in any format that can be read. Loaded with the first ledger that is not new. */
import type { LedgerEvent } from './event.js'
import { assertEvents } from './shape.js'
import { upgradeEvent } from './upgrade.js'

/** In the present format. Throws where one could not be folded. `from`: the number of the first. */
export function presentEvents(ledger: string, stored: readonly LedgerEvent[], from = 0): LedgerEvent[] {
  const events = stored.map(upgradeEvent) as LedgerEvent[]
  assertEvents(ledger, events, from)
  return events
}
