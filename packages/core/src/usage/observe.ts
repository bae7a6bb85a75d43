/** Learns from a ledger as it is written: a search, what it showed, and which of that was then called with success in the same turn. */
import type { LedgerEvent } from '../ledger/event.js'
import type { Usage } from './usage.js'

interface OpenSearch {
  readonly query: string
  readonly shown: ReadonlySet<string>
  readonly credited: Set<string>
}

/** Searches of one turn that are remembered. */
const MOST_SEARCHES = 20

/**
 * A turn ends with a reply that calls nothing: then the next request follows the one before with nothing between them. Only fresh
 * events are observed, so a ledger that is replayed teaches nothing twice.
 */
export function observeUsage(usage: Usage, principal: string): (fresh: readonly LedgerEvent[]) => void {
  let searches: OpenSearch[] = []
  let hasCalled = false
  return (fresh) => {
    for (const event of fresh)
      if (event.kind === 'requested') {
        if (!hasCalled) searches = []
        hasCalled = false
      } else if (event.kind === 'searched') {
        hasCalled = true
        const open = { query: event.query, shown: new Set(event.shown ?? []), credited: new Set<string>() }
        if (open.shown.size > 0) searches = [...searches, open].slice(-MOST_SEARCHES)
      } else if (event.kind === 'call-succeeded') {
        hasCalled = true
        for (const { query, shown, credited } of searches) {
          if (!shown.has(event.tool) || credited.has(event.tool)) continue
          credited.add(event.tool)
          usage.learn(principal, query, [event.tool])
        }
      } else if (event.kind === 'call-failed') hasCalled = true
      else if (event.kind === 'cleared' || event.kind === 'compacted') searches = []
  }
}
