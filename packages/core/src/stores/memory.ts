/** The default place for ledgers: this process's memory, gone when it ends. Also the reference for what every store checks. */
import { ToolwellError } from '../errors.js'
import type { LedgerEvent } from '../ledger-event.js'
import type { LedgerStore } from './store.js'

const LONGEST_LEDGER_ID = 200

interface StoredLedger {
  count: number
  /** The events of each append as JSON, without the brackets around them. */
  readonly batches: string[]
}

/**
 * Keeps text rather than objects: nobody can change a stored event through a reference, one parse is cheaper than a
 * structured clone, and an event comes back exactly as it would from a file.
 */
export function memoryStore(): LedgerStore {
  const ledgers = new Map<string, StoredLedger>()
  return {
    async read(ledger) {
      assertLedgerId(ledger)
      return JSON.parse(`[${ledgers.get(ledger)?.batches.join(',') ?? ''}]`) as LedgerEvent[]
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
  }
}

/** Every string is a legal id except an empty one and one longer than 200 UTF-16 code units. */
export function assertLedgerId(ledger: string): void {
  if (typeof ledger === 'string' && ledger !== '' && ledger.length <= LONGEST_LEDGER_ID) return
  const problem =
    typeof ledger !== 'string'
      ? `is ${ledger === null ? 'null' : typeof ledger}, not a string`
      : ledger === ''
        ? 'is empty'
        : `has ${ledger.length} characters`
  throw new ToolwellError(
    'invalid-ledger-id',
    `The ledger id ${problem}. Give a string of 1 to ${LONGEST_LEDGER_ID} characters.`,
    { ledger },
  )
}

/**
 * The events as a JSON array. Throws when their ids do not continue at `expected`, because a ledger with a gap
 * could never be read again, and when an event holds something that JSON cannot.
 */
export function eventsToJson(ledger: string, expected: number, events: readonly LedgerEvent[]): string {
  for (const [index, event] of events.entries()) {
    if (event.id === expected + index) continue
    throw new ToolwellError(
      'invalid-option',
      `Event ${index} of an append to ledger ${JSON.stringify(ledger)} has id ${event.id} where ${expected + index} is next. Number events from the count of events already in the ledger.`,
      { path: `events[${index}].id`, ledger },
    )
  }
  try {
    return JSON.stringify(events)
  } catch (cause) {
    throw new ToolwellError(
      'store-failed',
      `An event for ledger ${JSON.stringify(ledger)} cannot be written as JSON. Nothing was changed.`,
      { ledger },
      { cause },
    )
  }
}

export function conflict(ledger: string, expected: number, found: number): ToolwellError {
  return new ToolwellError(
    'ledger-conflict',
    `Ledger ${JSON.stringify(ledger)} holds ${found} events where ${expected} were expected: someone else wrote to it. Nothing was changed. Reopen the ledger and try again.`,
    { ledger, expected, found },
  )
}
