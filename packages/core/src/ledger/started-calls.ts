/** Which calls were started: the fence before a tool. Made of the events alone, so that every process has the same one. */
import type { LedgerEvent } from './event.js'

export interface StartedCalls {
  note(event: LedgerEvent): void
  /** Where the history with these anchors begins in the ledger: at its last compaction, where it has that in it. */
  since(present: { has(anchor: string): boolean }): number
  /** Whether this very call was written down as started at this anchor, from an event on: it may have run, whoever it was. */
  has(anchor: string, key: string, from?: number): boolean
  /** All of it, to be made anew from. */
  written(): WrittenCalls
}

export interface WrittenCalls {
  /** Names of calls, each with the event that started it last. */
  readonly calls: readonly (string | number)[]
  readonly compactions: readonly { readonly anchor: string; readonly at: number }[]
}

/** Older events do not say what the call was. */
const UNKNOWN = ''

const nameOf = (anchor: string, key: string) => `${key}\n${anchor}`

/**
 * Anchors are unique within a history. After a clear it begins anew. Behind a compaction, a server that counts its ids anew gives those
 * of calls that are gone to new ones; a process that does not know of the compaction may still have a reply from before, which
 * must not run again. Where a reply was lost, the next one may use its ids again for other calls.
 */
export function createStartedCalls(written: WrittenCalls = { calls: [], compactions: [] }): StartedCalls {
  /** By anchor and call, the event that started it last. */
  const started = new Map<string, number>()
  for (let index = 0; index < written.calls.length; index += 2)
    started.set(written.calls[index] as string, written.calls[index + 1] as number)
  const compactions = [...written.compactions]
  return {
    note(event) {
      if (event.kind === 'cleared') {
        started.clear()
        compactions.length = 0
      }
      if (event.kind === 'compacted') compactions.push({ anchor: event.anchor, at: event.id })
      if (event.kind === 'call-started') started.set(nameOf(event.anchor, event.key ?? UNKNOWN), event.id)
    },
    since: (present) => compactions.findLast(({ anchor }) => present.has(anchor))?.at ?? 0,
    has: (anchor, key, from = 0) =>
      [key, UNKNOWN].some((each) => (started.get(nameOf(anchor, each)) ?? -1) >= from),
    written() {
      const calls: (string | number)[] = []
      for (const [name, at] of started) calls.push(name, at)
      return { calls, compactions }
    },
  }
}
