/** The ledger of one conversation in memory and in the store: one step at a time, the store first, memory after. */
import { ToolwellError } from '../base/errors.js'
import type { LedgerEvent, LedgerFact } from './event.js'
import { fold, type LedgerState, replay } from './fold.js'
import { assertEvents } from './shape.js'
import { createStartedCalls, type StartedCalls } from './started-calls.js'
import type { LedgerStore } from './store.js'
import { upgradeEvent } from './upgrade.js'

/** A fact and the call or message it holds after. */
export type Anchored = readonly [anchor: string, fact: LedgerFact]

export interface LedgerLog {
  readonly id: string
  readonly events: readonly LedgerEvent[]
  readonly state: LedgerState
  /** The anchor of the newest event: where a step of the host's own belongs. */
  readonly lastAnchor: string
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

export function createLog(
  id: string,
  stored: readonly LedgerEvent[],
  store: LedgerStore,
  onAppend: (fresh: readonly LedgerEvent[]) => void,
): LedgerLog {
  const events = readEvents(id, stored)
  let state = replay(events)
  let queue: Promise<unknown> = Promise.resolve()
  const started = createStartedCalls()
  for (const event of events) started.note(event)

  const add = (event: LedgerEvent) => {
    events.push(event)
    state = fold(state, event)
    started.note(event)
  }

  const log: LedgerLog = {
    id,
    events,
    get state() {
      return state
    },
    get lastAnchor() {
      const last = events.at(-1)
      // Nothing of the new history stands yet.
      return last === undefined || last.kind === 'cleared' ? '' : last.anchor
    },
    exclusive(step) {
      const next = queue.then(step, step)
      queue = next.catch(() => undefined)
      return next
    },
    started,
    retried: (step) => log.exclusive(() => log.untilDone(step)),
    async untilDone(step) {
      for (let attempt = 0, inVain = 0; ; attempt++) {
        try {
          return await step()
        } catch (error) {
          if (!isConflict(error) || inVain === MOST_IN_VAIN) throw error
          const { length } = events
          if (attempt > 0) await pause(attempt)
          await log.reload()
          // Others who write are no reason to give up. A store that says so and has nothing new is.
          inVain = events.length === length ? inVain + 1 : 0
        }
      }
    },
    async append(facts) {
      const fresh = facts.map(
        ([anchor, fact], index) => ({ id: events.length + index, anchor, ...fact }) as LedgerEvent,
      )
      await store.append(id, events.length, fresh)
      for (const event of fresh) add(event)
      if (fresh.length > 0) onAppend(fresh)
    },
    async reload() {
      const tail = await tailOf(store, id, events.length)
      if (tail) {
        for (const event of readEvents(id, tail, events.length)) add(event)
        return
      }
      // It holds less than was seen: somebody has put it back to an earlier state.
      const found = readEvents(id, await store.read(id))
      events.length = 0
      started.clear()
      state = replay([])
      // Not by spreading: a long ledger has more events than a call may have arguments.
      for (const event of found) add(event)
    },
  }
  return log
}

/** Stored events in the present format. Throws where one could not be folded. */
export function readEvents(id: string, stored: readonly LedgerEvent[], from = 0): LedgerEvent[] {
  const events = stored.map(upgradeEvent) as LedgerEvent[]
  assertEvents(id, events, from)
  return events
}

/** Undefined where the store holds fewer events than that. */
async function tailOf(store: LedgerStore, id: string, from: number): Promise<LedgerEvent[] | undefined> {
  try {
    const found = await store.read(id, from)
    // A store that knows of no `from` gives everything.
    return from > 0 && found[0]?.id === 0 ? found.slice(from) : found
  } catch (error) {
    if (isConflict(error)) return undefined
    throw error
  }
}

/** Conflicts in a row after which nothing new was to be read. */
const MOST_IN_VAIN = 5
const LONGEST_PAUSE = 50

/** Of random length, so that those who met once do not meet again. */
function pause(attempt: number): Promise<void> {
  const most = Math.min(LONGEST_PAUSE, 2 ** Math.min(attempt, 6))
  return new Promise((resolve) => setTimeout(resolve, Math.random() * most))
}

export function isConflict(error: unknown): boolean {
  return ToolwellError.is(error) && error.code === 'ledger-conflict'
}
