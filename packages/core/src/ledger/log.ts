/** The ledger of one conversation in memory and in the store: one step at a time, the store first, memory after. */
import { isConflict } from './conflict.js'
import type { LedgerEvent, LedgerFact } from './event.js'
import { fold, type LedgerState } from './fold.js'
import { loadedSnapshots } from './lazy-snapshot.js'
import {
  anchorBehind,
  numbered,
  type OpenedLedger,
  openLedger,
  readEvents,
  readLedger,
  tailOf,
} from './open-ledger.js'
import type { Origin } from './snapshot.js'
import type { StartedCalls } from './started-calls.js'
import type { LedgerStore } from './store.js'

/** A fact and the call or message it holds after. */
export type Anchored = readonly [anchor: string, fact: LedgerFact]

export interface LedgerLog {
  readonly id: string
  /** Those that were read or written here, in order: where it was opened from a snapshot, those that follow it. */
  readonly events: readonly LedgerEvent[]
  readonly state: LedgerState
  /** What it was forked from. */
  readonly origin: Origin | undefined
  /** The anchor of the newest event: where a step of the host's own belongs. */
  readonly lastAnchor: string
  /** Every event, read again where they are not here. */
  all(): Promise<readonly LedgerEvent[]>
  /** Runs one step after the other; a failed step does not stop the next. */
  exclusive<T>(step: () => Promise<T>): Promise<T>
  /** Which calls someone has started. */
  readonly started: Pick<StartedCalls, 'has' | 'since'>
  /** A step that only writes: where someone else wrote first, it is taken again from what is true now, until it is done. */
  retried<T>(step: () => Promise<T>): Promise<T>
  /** The same within a step. */
  untilDone<T>(step: () => Promise<T>): Promise<T>
  /** All or nothing. Only inside a step. Without facts it only makes sure that nobody else has written. */
  append(facts: readonly Anchored[]): Promise<void>
  /** Someone else wrote to this ledger: read what is new, so that the next step starts from the truth. */
  reload(): Promise<void>
}

/** A snapshot is written when so many events have followed the last one. */
const SNAPSHOT_EVERY = 1000

export function createLog(
  id: string,
  opened: OpenedLedger,
  store: LedgerStore,
  onAppend: (fresh: readonly LedgerEvent[]) => void,
): LedgerLog {
  let { state, started, lastAnchor, from, parent, origin } = opened
  const events = [...opened.events]
  let queue: Promise<unknown> = Promise.resolve()
  /** Where the last snapshot was taken, or tried. */
  let snapshotAt = from
  /** How many events of this ledger's own are in the store. Those of its origin are numbered before them. */
  const stored = () => state.length - before()
  const before = () => origin?.events ?? 0

  const add = (event: LedgerEvent) => {
    events.push(event)
    state = fold(state, event)
    started.note(event)
    lastAnchor = anchorBehind(event)
  }

  /** Derived data: nobody waits for it, and where it cannot be written nothing is lost. */
  const takeSnapshot = () => {
    const last = events.at(-1)
    const snapshots = loadedSnapshots()
    if (!store.snapshot || !snapshots || !last || state.length - snapshotAt < SNAPSHOT_EVERY) return
    snapshotAt = state.length
    const sum = { state, started, lastAnchor, parent, origin }
    const text = snapshots.writeSnapshot(sum, numbered(last, -before()))
    store.snapshot.write(id, { count: stored(), text }).catch(() => undefined)
  }
  takeSnapshot()

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
    all: async () => (from === 0 ? events : readLedger(store, id)),
    exclusive(step) {
      const next = queue.then(step, step)
      queue = next.catch(() => undefined)
      return next
    },
    get started() {
      return started
    },
    retried: (step) => log.exclusive(() => log.untilDone(step)),
    async untilDone(step) {
      for (let attempt = 0, inVain = 0; ; attempt++) {
        try {
          return await step()
        } catch (error) {
          if (!isConflict(error) || inVain === MOST_IN_VAIN) throw error
          const { length } = state
          if (attempt > 0) await pause(attempt)
          await log.reload()
          // Others who write are no reason to give up. A store that says so and has nothing new is.
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
        fresh.map((event) => numbered(event, -before())),
      )
      for (const event of fresh) add(event)
      if (fresh.length > 0) onAppend(fresh)
      takeSnapshot()
    },
    async reload() {
      const count = stored()
      const tail = await tailOf(store, id, count)
      if (tail) {
        for (const event of await readEvents(id, tail, count)) add(numbered(event, before()))
        return
      }
      // It holds less than was seen: somebody has put it back to an earlier state.
      const found = await openLedger(store, id)
      events.length = 0
      // Not by spreading: a long ledger has more events than a call may have arguments.
      for (const event of found.events) events.push(event)
      ;({ state, started, lastAnchor, from, parent, origin } = found)
      snapshotAt = from
    },
  }
  return log
}

/** Conflicts in a row after which nothing new was to be read. */
const MOST_IN_VAIN = 5
const LONGEST_PAUSE = 50

/** Of random length, so that those who met once do not meet again. */
function pause(attempt: number): Promise<void> {
  const most = Math.min(LONGEST_PAUSE, 2 ** Math.min(attempt, 6))
  return new Promise((resolve) => setTimeout(resolve, Math.random() * most))
}
