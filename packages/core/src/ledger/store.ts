/** The storage seam: where ledgers live, and what every store checks (these helpers are exported for stores of your own). `storeContract` in the testing door is the full definition. */
import { ToolwellError } from '../base/errors.js'
import type { LedgerEvent } from './event.js'

export interface LedgerStore {
  /**
   * Every event of the ledger in order, from the one with number `from` on (default 0); an empty list for a ledger nobody wrote to.
   * Rejects with `ledger-conflict` where it holds fewer events than `from`.
   */
  read(ledger: string, from?: number): Promise<LedgerEvent[]>
  /**
   * Appends all events or none. `expected` is the number of events the caller has seen: when the ledger holds
   * another number, rejects with `ledger-conflict` and writes nothing. Resolves only when the events survive a
   * crash of this process.
   */
  append(ledger: string, expected: number, events: readonly LedgerEvent[]): Promise<void>
  /** The id of every ledger that holds an event, in any order. */
  list?(): Promise<string[]>
  /**
   * Removes a ledger, with its snapshot: it is then one that nobody wrote to. One that is not there is no mistake. One that a fork
   * goes on from (whose first event is `forked`) should be refused: the fork could not be read without it.
   */
  delete?(ledger: string): Promise<void>
  /** A place for snapshots. Without one, a ledger is read whole when it is opened. */
  readonly snapshot?: SnapshotStore
  /**
   * Calls back after events were appended to the ledger, by whomever; once for several appends is enough, and once too often does
   * no harm. Gives a function that ends it.
   */
  watch?(ledger: string, onAppend: () => void): () => void
}

/** What the first events of a ledger add up to, in words that only the ledger itself reads. */
export interface Snapshot {
  /** How many events it stands for. */
  readonly count: number
  readonly text: string
}

/** Derived data: it may be lost at any time, and a ledger without it is the same. */
export interface SnapshotStore {
  /** What was last written, whole or not at all; undefined where there is none, and where the ledger was deleted since. */
  read(ledger: string): Promise<Snapshot | undefined>
  write(ledger: string, snapshot: Snapshot): Promise<void>
}

const LONGEST_LEDGER_ID = 200

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
    `The id of a conversation ${problem}. Give { id }, a string of 1 to ${LONGEST_LEDGER_ID} characters.`,
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

/** A ledger that a fork goes on from cannot be deleted before the fork. */
export function stillNeeded(ledger: string, fork: string): ToolwellError {
  return new ToolwellError(
    'store-failed',
    `Ledger ${JSON.stringify(ledger)} is not deleted: ${JSON.stringify(fork)} was forked from it and goes on from its events. Nothing was changed. Delete ${JSON.stringify(fork)} first.`,
    { ledger, fork },
  )
}

/** The tail that `read` was asked for, of a ledger that holds these events. */
export function eventsFrom(ledger: string, events: LedgerEvent[], from = 0): LedgerEvent[] {
  if (from > events.length) throw conflict(ledger, from, events.length)
  return from === 0 ? events : events.slice(from)
}
