/** Reads a ledger from its store: from a snapshot and what follows it where there is one, and all of it where all is asked for. */

import { lazily } from '../base/async.js'
import { ToolwellError } from '../base/errors.js'
import { isConflict } from './conflict.js'
import type { LedgerEvent } from './event.js'
import { createState, fold } from './fold.js'
import { loadSnapshots } from './lazy-snapshot.js'
import type { Origin, Sum } from './snapshot.js'
import { createStartedCalls } from './started-calls.js'
import type { LedgerStore } from './store.js'

/** A ledger as far as it was read. */
export interface OpenedLedger extends Sum {
  /** The number of its first event that was read; those before are only summed up. */
  readonly from: number
  readonly events: readonly LedgerEvent[]
}

export async function openLedger(store: LedgerStore, ledger: string): Promise<OpenedLedger> {
  return (await fromSnapshot(store, ledger)) ?? sumUp(ledger, await readLedger(store, ledger))
}

async function fromSnapshot(store: LedgerStore, ledger: string): Promise<OpenedLedger | undefined> {
  if (!store.snapshot) return undefined
  const { readSnapshot } = await loadSnapshots()
  // It is only derived: whatever is wrong with it, the log is there.
  const found = await store.snapshot.read(ledger).catch(() => undefined)
  if (!found || !(found.count > 0)) return undefined
  const tail = await tailOf(store, ledger, found.count - 1)
  const sum = readSnapshot(found.text, tail?.[0])
  if (!tail || !sum) return undefined
  const before = sum.origin?.events ?? 0
  const from = before + found.count
  const fresh = await readEvents(ledger, tail.slice(1), found.count)
  const events = fresh.map((event) => numbered(event, before))
  return { ...addUp(sum, events), from, events }
}

/**
 * Every event, in the present format, numbered from 0: of a fork also those of its origin. Throws where one could not be folded.
 */
export async function readLedger(store: LedgerStore, ledger: string): Promise<LedgerEvent[]> {
  const own = await readEvents(ledger, await store.read(ledger))
  const origin = originIn(own)
  if (!origin) return own
  const before = (await readLedger(store, origin.ledger)).slice(0, origin.events)
  if (before.length < origin.events)
    throw new ToolwellError(
      'ledger-corrupt',
      `Ledger ${JSON.stringify(ledger)} goes on from the first ${origin.events} events of ledger ${JSON.stringify(origin.ledger)}, which has ${before.length} now. Restore that one from a backup.`,
      { ledger, origin: origin.ledger, event: 0 },
    )
  for (const event of own) before.push(numbered(event, origin.events))
  return before
}

export function sumUp(ledger: string, events: readonly LedgerEvent[]): OpenedLedger {
  const own = events.find((event) => event.kind === 'forked' && event.ledger === ledger)
  const first = events[0]
  return {
    ...addUp(
      {
        state: createState(),
        started: createStartedCalls(),
        lastAnchor: '',
        parent: first?.kind === 'inherited' ? first.parent : undefined,
        origin: own?.kind === 'forked' ? own.origin : undefined,
      },
      events,
    ),
    from: 0,
    events,
  }
}

/** Uses up what it is given. */
function addUp(sum: Sum, events: readonly LedgerEvent[]): Sum {
  let { state, lastAnchor } = sum
  const { started } = sum
  for (const event of events) {
    state = fold(state, event)
    started.note(event)
    lastAnchor = anchorBehind(event)
  }
  return { ...sum, state, lastAnchor }
}

/** Where a step of the host's own belongs that follows this event. */
export function anchorBehind(event: LedgerEvent): string {
  // Nothing of the new history stands yet.
  return event.kind === 'cleared' ? '' : event.anchor
}

function originIn(own: readonly LedgerEvent[]): Origin | undefined {
  const [first] = own
  return first?.kind === 'forked' ? first.origin : undefined
}

/** Events of a fork are numbered behind those of its origin. In the store they are numbered from 0. */
export function numbered(event: LedgerEvent, before: number): LedgerEvent {
  return before === 0 ? event : { ...event, id: event.id + before }
}

const present = lazily(() => import('./stored-events.js'))

/** Stored events in the present format. Throws where one could not be folded. */
export async function readEvents(
  ledger: string,
  stored: readonly LedgerEvent[],
  from = 0,
): Promise<LedgerEvent[]> {
  return stored.length === 0 ? [] : (await present()).presentEvents(ledger, stored, from)
}

/** Undefined where the store holds fewer events than that. */
export async function tailOf(
  store: LedgerStore,
  ledger: string,
  from: number,
): Promise<LedgerEvent[] | undefined> {
  try {
    const found = await store.read(ledger, from)
    // A store that knows of no `from` gives everything.
    return from > 0 && found[0]?.id === 0 ? found.slice(from) : found
  } catch (error) {
    if (isConflict(error)) return undefined
    throw error
  }
}
