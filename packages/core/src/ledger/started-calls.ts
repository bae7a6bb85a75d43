/** Which calls were started: the fence before a tool. Made of the events alone, so that every process has the same one. */
import type { LedgerEvent } from './event.js'

export interface StartedCalls {
  note(event: LedgerEvent): void
  /** Where the history with these anchors begins in the ledger: at its last compaction, where it has that in it. */
  since(present: ReadonlySet<string>): number
  /** Whether this very call was written down as started at this anchor, from an event on: it may have run, whoever it was. */
  has(anchor: string, key: string, from?: number): boolean
  clear(): void
}

/** Older events do not say what the call was. */
const UNKNOWN = ''

/**
 * Anchors are unique within a history. After a clear it begins anew. Behind a compaction, a server that counts its ids anew gives those
 * of calls that are gone to new ones; a process that does not know of the compaction may still have a reply from before, which
 * must not run again. Where a reply was lost, the next one may use its ids again for other calls.
 */
export function createStartedCalls(): StartedCalls {
  /** By anchor and call, the event that started it last. */
  const started = new Map<string, Map<string, number>>()
  const compactions: { readonly anchor: string; readonly at: number }[] = []
  const clear = () => {
    started.clear()
    compactions.length = 0
  }
  return {
    note(event) {
      if (event.kind === 'cleared') clear()
      if (event.kind === 'compacted') compactions.push({ anchor: event.anchor, at: event.id })
      if (event.kind !== 'call-started') return
      const { anchor, key = UNKNOWN, id } = event
      started.set(anchor, (started.get(anchor) ?? new Map<string, number>()).set(key, id))
    },
    since: (present) => compactions.findLast(({ anchor }) => present.has(anchor))?.at ?? 0,
    has(anchor, key, from = 0) {
      const keys = started.get(anchor)
      return [key, UNKNOWN].some((each) => (keys?.get(each) ?? -1) >= from)
    },
    clear,
  }
}
