/** The interface of ledger stores, and the checks that every store makes. `storeContract` of `@toolwell/testing` tests all rules. */
import { ToolwellError } from '../base/errors.js'
import type { LedgerEvent } from './event.js'

export interface LedgerStore {
  /**
   * Reads every event of the ledger in order, beginning with number `from` (default 0). A ledger that does not exist is an empty list.
   * Rejects with `ledger-conflict` if the ledger holds fewer events than `from`.
   */
  read(ledger: string, from?: number): Promise<LedgerEvent[]>
  /**
   * Appends all events or none. `expected` is the number of events that the caller has seen: if the ledger holds another number,
   * rejects with `ledger-conflict` and writes nothing. Resolves only when the events survive a crash of this process.
   */
  append(ledger: string, expected: number, events: readonly LedgerEvent[]): Promise<void>
  /** Lists the ids of all ledgers that hold an event, in any order. */
  list?(): Promise<string[]>
  /**
   * Deletes a ledger. Does nothing if it does not exist. Should refuse if a fork continues this ledger (the first event of the fork
   * is `forked`): the fork could not be read without it.
   */
  delete?(ledger: string): Promise<void>
}

const LONGEST_LEDGER_ID = 200

/** Throws unless the id is a string of 1 to 200 UTF-16 code units. */
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
    `The id of a conversation ${problem}. Give { id }, a string of 1 to ${LONGEST_LEDGER_ID} characters.`,
    { ledger },
  )
}

/**
 * Gives the events as a JSON array. Throws if their ids do not continue at `expected`, because a ledger with a gap could never be read
 * again, and if JSON cannot hold an event.
 */
export function eventsToJson(ledger: string, expected: number, events: readonly LedgerEvent[]): string {
  for (const [index, event] of events.entries()) {
    if (event.id === expected + index) continue
    throw new ToolwellError(
      'invalid-option',
      `Event ${index} of an append to ledger ${JSON.stringify(ledger)} has id ${event.id}, but ${expected + index} is next. Number events from the count of events already in the ledger.`,
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
    `Ledger ${JSON.stringify(ledger)} holds ${found} events, not ${expected}: someone else wrote to it. Nothing was changed. Reopen the ledger and try again.`,
    { ledger, expected, found },
  )
}

/** The error for deleting a ledger that a fork continues. */
export function stillNeeded(ledger: string, fork: string): ToolwellError {
  return new ToolwellError(
    'store-failed',
    `Ledger ${JSON.stringify(ledger)} is not deleted, because ${JSON.stringify(fork)} was forked from it and continues its events. Nothing was changed. Delete ${JSON.stringify(fork)} first.`,
    { ledger, fork },
  )
}

/** Gives the events that `read` was asked for. */
export function eventsFrom(ledger: string, events: LedgerEvent[], from = 0): LedgerEvent[] {
  if (from > events.length) throw conflict(ledger, from, events.length)
  return from === 0 ? events : events.slice(from)
}
