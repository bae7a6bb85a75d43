/** The ledger of one conversation, in memory and in the store. One step at a time writes to the store first, then to memory. */

import { lazily } from '../base/async.js'
import { ToolwellError } from '../base/errors.js'
import type { LedgerEvent, LedgerFact } from './event.js'
import { createState, fold, type LedgerState } from './fold.js'
import type { LedgerStore } from './store.js'

/** A fact and the call or message that it follows. */
export type Anchored = readonly [anchor: string, fact: LedgerFact]

/** Ledger that a fork continues, and how many of its events count. */
export interface Origin {
  readonly ledger: string
  readonly events: number
}

export interface LedgerLog {
  readonly id: string
  /** All events in order; for a fork, the events of its origin come first. */
  readonly events: readonly LedgerEvent[]
  readonly state: LedgerState
  /** Where this ledger was forked from. */
  readonly origin: Origin | undefined
  /** Anchor of the newest event. A step of the host belongs there. */
  readonly lastAnchor: string
  /** Runs steps one after the other. A failed step does not stop the next one. */
  runExclusive<T>(step: () => Promise<T>): Promise<T>
  /** Calls that any process has started. */
  readonly started: Pick<StartedCalls, 'has' | 'since'>
  /** Runs a step that only writes. On a conflict, reads the new events and runs the step again. */
  runWithRetry<T>(step: () => Promise<T>): Promise<T>
  /** Does the same inside a step. After `signal`, a conflict is thrown. */
  retryOnConflict<T>(step: () => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Appends all facts or none. Call it only inside a step. Without facts, it checks that nobody else has written. */
  append(facts: readonly Anchored[]): Promise<void>
  /** Reads the events that others have written. */
  reload(): Promise<void>
}

/** A ledger as it was read from its store. */
export interface OpenedLedger {
  readonly events: readonly LedgerEvent[]
  readonly state: LedgerState
  readonly started: StartedCalls
  readonly lastAnchor: string
  /** The conversation whose child this is. */
  readonly parent: string | undefined
  readonly origin: Origin | undefined
}

export function createLog(
  id: string,
  opened: OpenedLedger,
  store: LedgerStore,
  onAppend: (fresh: readonly LedgerEvent[]) => void,
): LedgerLog {
  let { state, started, lastAnchor, origin } = opened
  const events = [...opened.events]
  let queue: Promise<unknown> = Promise.resolve()
  const before = () => origin?.events ?? 0
  /** Events in the store. It numbers them from 0, without the events of the origin. */
  const stored = () => state.length - before()

  const add = (event: LedgerEvent) => {
    events.push(event)
    state = fold(state, event)
    started.note(event)
    lastAnchor = getAnchorAfter(event)
  }

  const log: LedgerLog = {
    id,
    events,
    get state() {
      return state
    },
    get origin() {
      return origin
    },
    get lastAnchor() {
      return lastAnchor
    },
    runExclusive(step) {
      const next = queue.then(step, step)
      queue = next.catch(() => undefined)
      return next
    },
    get started() {
      return started
    },
    runWithRetry: (step) => log.runExclusive(() => log.retryOnConflict(step)),
    async retryOnConflict(step, signal) {
      for (let attempt = 0, inVain = 0; ; attempt++) {
        try {
          return await step()
        } catch (error) {
          if (!isConflict(error) || inVain === MOST_IN_VAIN || signal?.aborted) throw error
          const { length } = state
          if (attempt > 0) await pause(attempt)
          await log.reload()
          // Continue while others write. Give up if the store reports conflicts but has nothing new.
          inVain = state.length === length ? inVain + 1 : 0
        }
      }
    },
    async append(facts) {
      const fresh = facts.map(
        ([anchor, fact], index) => ({ id: state.length + index, anchor, ...fact }) as LedgerEvent,
      )
      await store.append(
        id,
        stored(),
        fresh.map((event) => renumber(event, -before())),
      )
      for (const event of fresh) add(event)
      if (fresh.length > 0) onAppend(fresh)
    },
    async reload() {
      const count = stored()
      const tail = await readTail(store, id, count)
      if (tail) {
        for (const event of await checkEvents(id, tail, count)) add(renumber(event, before()))
        return
      }
      // Somebody restored an earlier state of the ledger.
      const found = await openLedger(store, id)
      events.length = 0
      // Not by spreading: a long ledger has more events than a call may have arguments.
      for (const event of found.events) events.push(event)
      ;({ state, started, lastAnchor, origin } = found)
    },
  }
  return log
}

/** Conflicts in a row without a new event after which a step gives up. */
const MOST_IN_VAIN = 5
const LONGEST_PAUSE = 50

/** Waits for a random time, so that two writers do not meet again and again. */
function pause(attempt: number): Promise<void> {
  const most = Math.min(LONGEST_PAUSE, 2 ** Math.min(attempt, 6))
  return new Promise((resolve) => setTimeout(resolve, Math.random() * most))
}

export async function openLedger(store: LedgerStore, ledger: string): Promise<OpenedLedger> {
  return sumUp(ledger, await readLedger(store, ledger))
}

/** Reads every event, numbered from 0; for a fork, also the events of its origin. Throws if an event cannot be folded. */
export async function readLedger(store: LedgerStore, ledger: string): Promise<LedgerEvent[]> {
  const own = await checkEvents(ledger, await store.read(ledger))
  const [first] = own
  if (first?.kind !== 'forked') return own
  const { origin } = first
  const before = (await readLedger(store, origin.ledger)).slice(0, origin.events)
  if (before.length < origin.events)
    throw new ToolwellError(
      'ledger-corrupt',
      `Ledger ${JSON.stringify(ledger)} continues the first ${origin.events} events of ledger ${JSON.stringify(origin.ledger)}, which has ${before.length} now. Restore that ledger from a backup.`,
      { ledger, origin: origin.ledger, event: 0 },
    )
  for (const event of own) before.push(renumber(event, origin.events))
  return before
}

export function sumUp(ledger: string, events: readonly LedgerEvent[]): OpenedLedger {
  const [first] = events
  const own = events.find((event) => event.kind === 'forked' && event.ledger === ledger)
  const started = createStartedCalls()
  let state = createState()
  for (const event of events) {
    state = fold(state, event)
    started.note(event)
  }
  const last = events.at(-1)
  return {
    events,
    state,
    started,
    lastAnchor: last ? getAnchorAfter(last) : '',
    parent: first?.kind === 'inherited' ? first.parent : undefined,
    origin: own?.kind === 'forked' ? own.origin : undefined,
  }
}

/**
 * Begins the ledger of a fork with a reference to its origin. `at` is the ledger that is forked, and the number of its events that
 * count. `before` is the origin of that ledger: if the fork lies within it, the new reference leads there directly.
 */
export function startFork(
  at: Origin,
  before: Origin | undefined,
  ledger: string,
  events: readonly LedgerEvent[],
): { readonly own: readonly LedgerEvent[]; readonly events: readonly LedgerEvent[] } {
  const seen = events.slice(0, at.events)
  const last = seen.at(-1)
  // A fork before the first event is a new ledger.
  if (!last) return { own: [], events: [] }
  const origin = before && at.events <= before.events ? { ...before, events: at.events } : at
  const forked: LedgerEvent = { id: 0, anchor: getAnchorAfter(last), kind: 'forked', ledger, origin }
  return { own: [forked], events: [...seen, renumber(forked, seen.length)] }
}

/** Anchor for a step of the host that follows this event. */
function getAnchorAfter(event: LedgerEvent): string {
  // After a clear, the history has no message yet.
  return event.kind === 'cleared' ? '' : event.anchor
}

/** Numbers an event of a fork after those of its origin, or back. The store numbers the events of each ledger from 0. */
export function renumber(event: LedgerEvent, before: number): LedgerEvent {
  return before === 0 ? event : { ...event, id: event.id + before }
}

const shape = lazily(() => import('./shape.js'))

/** Throws if a stored event cannot be folded. `from` is the number of the first one. */
async function checkEvents(ledger: string, stored: LedgerEvent[], from = 0): Promise<LedgerEvent[]> {
  if (stored.length > 0) (await shape()).assertEvents(ledger, stored, from)
  return stored
}

/** Recognises a conflict by its code, which also works across two installs of this package. */
function isConflict(error: unknown): boolean {
  return ToolwellError.is(error) && error.code === 'ledger-conflict'
}

/** Undefined if the store holds fewer events. */
async function readTail(
  store: LedgerStore,
  ledger: string,
  from: number,
): Promise<LedgerEvent[] | undefined> {
  try {
    const found = await store.read(ledger, from)
    // A store that ignores `from` gives every event.
    return from > 0 && found[0]?.id === 0 ? found.slice(from) : found
  } catch (error) {
    if (isConflict(error)) return undefined
    throw error
  }
}

/** Calls that were started, so that none runs twice. Derived from the events alone: every process has the same answer. */
export interface StartedCalls {
  note(event: LedgerEvent): void
  /** Event with which the history with these anchors begins: its last compaction, or 0. */
  since(present: { has(anchor: string): boolean }): number
  /** Whether this call was started at this anchor, at or after an event. It may have run in any process. */
  has(anchor: string, key: string, from?: number): boolean
}

/**
 * Anchors are unique within a history, and a clear starts a new one. After a compaction, a server that counts its ids from the start
 * reuses the ids of removed calls; a process that missed the compaction may still hold a reply from before it, which must not run again.
 * After a lost reply, the next reply may reuse its ids for other calls.
 */
function createStartedCalls(): StartedCalls {
  /** Event that last started the call, by anchor and key. */
  const started = new Map<string, number>()
  const compactions: { readonly anchor: string; readonly at: number }[] = []
  const nameCall = (anchor: string, key: string) => `${key}\n${anchor}`
  return {
    note(event) {
      if (event.kind === 'cleared') {
        started.clear()
        compactions.length = 0
      }
      if (event.kind === 'compacted') compactions.push({ anchor: event.anchor, at: event.id })
      if (event.kind === 'call-started') started.set(nameCall(event.anchor, event.key), event.id)
    },
    since: (present) => compactions.findLast(({ anchor }) => present.has(anchor))?.at ?? 0,
    has: (anchor, key, from = 0) => (started.get(nameCall(anchor, key)) ?? -1) >= from,
  }
}
