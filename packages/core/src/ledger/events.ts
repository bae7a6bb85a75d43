/** What a host can watch: every ledger event as it is stored, and every notice. */
import type { Notice } from '../tool/notice.js'
import type { LedgerEvent } from './event.js'

/** `conversation` is empty where an event belongs to none. */
export type ToolwellEvent = (LedgerEvent | Notice) & { readonly conversation: string }

type Listener = (event: ToolwellEvent) => unknown

/** Tells the host's listeners. One that throws must not undo what was stored; it has no channel but itself to be told by. */
export function createPublisher(listeners: readonly Listener[]): (event: ToolwellEvent) => void {
  return (event) => {
    for (const listener of listeners)
      try {
        const result = listener(event)
        if (result instanceof Promise) result.catch(() => undefined)
      } catch {
        // See above.
      }
  }
}
