/** How the ledger of a fork begins: by a reference to its origin. */
import type { LedgerEvent } from './event.js'
import { anchorBehind, numbered } from './open-ledger.js'
import type { Origin } from './snapshot.js'

/**
 * `at`: the ledger it is forked from, and how many events of it count. `before`: what that one was forked from itself: a fork within
 * that part goes on from there, so that references do not grow longer than they have to be.
 */
export function forkOf(
  at: Origin,
  before: Origin | undefined,
  ledger: string,
  events: readonly LedgerEvent[],
): { readonly own: readonly LedgerEvent[]; readonly events: readonly LedgerEvent[] } {
  const seen = events.slice(0, at.events)
  const last = seen.at(-1)
  // Nothing to go on from: it is a ledger like any new one.
  if (!last) return { own: [], events: [] }
  const origin = before && at.events <= before.events ? { ...before, events: at.events } : at
  const forked: LedgerEvent = { id: 0, anchor: anchorBehind(last), kind: 'forked', ledger, origin }
  return { own: [forked], events: [...seen, numbered(forked, seen.length)] }
}
