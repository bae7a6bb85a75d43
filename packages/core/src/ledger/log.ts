/** The ledger of one conversation in memory and in the store: one step at a time, the store first, memory after. */
import { ToolwellError } from '../base/errors.js'
import type { LedgerEvent, LedgerFact } from './event.js'
import { fold, type LedgerState, replay } from './fold.js'
import { assertEvents } from './shape.js'
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
  /** A step that only writes: where someone else wrote first, it is taken again from what is true now. */
  retried<T>(step: () => Promise<T>): Promise<T>
  /** All or nothing. Only inside a step. Without facts it only makes sure that nobody else has written. */
  append(facts: readonly Anchored[]): Promise<void>
  /** Someone else wrote to this ledger: read it again, so that the next step starts from the truth. */
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
    retried: (step) =>
      log.exclusive(async () => {
        try {
          return await step()
        } catch (error) {
          if (!isConflict(error)) throw error
          await log.reload()
          return step()
        }
      }),
    async append(facts) {
      const fresh = facts.map(
        ([anchor, fact], index) => ({ id: events.length + index, anchor, ...fact }) as LedgerEvent,
      )
      await store.append(id, events.length, fresh)
      for (const event of fresh) {
        events.push(event)
        state = fold(state, event)
      }
      if (fresh.length > 0) onAppend(fresh)
    },
    async reload() {
      const found = readEvents(id, await store.read(id))
      events.length = 0
      // Not by spreading: a long ledger has more events than a call may have arguments.
      for (const event of found) events.push(event)
      state = replay(events)
    },
  }
  return log
}

/** Stored events in the present format. Throws where one could not be folded. */
function readEvents(id: string, stored: readonly LedgerEvent[]): LedgerEvent[] {
  const events = stored.map(upgradeEvent) as LedgerEvent[]
  assertEvents(id, events)
  return events
}

export function isConflict(error: unknown): boolean {
  return ToolwellError.is(error) && error.code === 'ledger-conflict'
}
