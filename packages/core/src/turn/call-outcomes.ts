/** Finds the outcomes of calls in the ledger, for histories in which the answers are missing. */
import { isRecord } from '../base/data.js'
import type { LedgerEvent } from '../ledger/event.js'
import { BRIDGE_NAME } from '../surface/meta-tools.js'
import { createCallKey, readArguments } from './read-call.js'
import type { ModelCall } from './verdict.js'

export type CallOutcome = 'succeeded' | 'failed' | undefined

export interface CallOutcomes {
  /** Adds events. Known events are skipped. */
  add(events: readonly LedgerEvent[]): void
  /** Finds the outcome of a call. `historyStart` is the id of the first event of the history. */
  find(call: Pick<ModelCall, 'anchor' | 'name' | 'input'>, historyStart: number): CallOutcome
}

interface StartedCall {
  readonly id: number
  readonly tool: string
  readonly key: string | undefined
  outcome: CallOutcome
}

/** Reads all events of the ledger, so that every process finds the same outcomes. */
export function createCallOutcomes(): CallOutcomes {
  const calls = new Map<string, StartedCall>()
  /** Calls of the last reply. Older outcomes are fixed, because a request has already used them. */
  let open = new Map<string, StartedCall>()
  let noted = -1
  const note = (event: LedgerEvent) => {
    const { id, anchor } = event
    if (event.kind === 'cleared') calls.clear()
    if (event.kind === 'cleared' || event.kind === 'requested') open = new Map()
    if (event.kind === 'call-started') {
      const call: StartedCall = { id, tool: event.tool, key: event.key, outcome: undefined }
      calls.set(anchor, call)
      open.set(anchor, call)
    }
    const call = open.get(anchor)
    if (call && event.kind === 'call-succeeded') call.outcome = 'succeeded'
    if (call && event.kind === 'call-failed' && event.reason === 'error') call.outcome = 'failed'
  }
  return {
    add(events) {
      for (const event of events) if (event.id > noted) note(event)
      noted = Math.max(noted, events.at(-1)?.id ?? -1)
    },
    find({ anchor, name, input }, historyStart) {
      const call = calls.get(anchor)
      if (!call || call.id < historyStart || !('value' in input)) return undefined
      const { value } = input
      const given = name === BRIDGE_NAME && isRecord(value) ? readArguments(value.arguments) : value
      // A provider may use an id again for another call.
      return call.key === createCallKey(call.tool, given) ? call.outcome : undefined
    },
  }
}
