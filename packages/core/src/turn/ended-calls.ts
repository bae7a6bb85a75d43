/** What came of calls, as far as the ledger knows: for a history in which their answers are missing. */
import { isRecord } from '../base/data.js'
import type { LedgerEvent } from '../ledger/event.js'
import { BRIDGE_NAME } from '../surface/meta-tools.js'
import { createCallKey } from './settle.js'
import { type ModelCall, readArguments } from './verdict.js'

export type CallOutcome = 'succeeded' | 'failed' | undefined

export interface CallOutcomes {
  /** Takes up the events behind those that it has. */
  add(events: readonly LedgerEvent[]): void
  /** `since`: the event with which the history begins. */
  find(call: Pick<ModelCall, 'anchor' | 'name' | 'input'>, since: number): CallOutcome
}

interface StartedCall {
  readonly id: number
  readonly tool: string
  readonly key: string | undefined
  outcome: CallOutcome
}

/** Made of all events, so that every process says the same. */
export function createCallOutcomes(): CallOutcomes {
  const calls = new Map<string, StartedCall>()
  /** Those of the last reply. The next request has told what was known of them, and that stays. */
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
    find({ anchor, name, input }, since) {
      const call = calls.get(anchor)
      if (!call || call.id < since || !('value' in input)) return undefined
      const { value } = input
      const given = name === BRIDGE_NAME && isRecord(value) ? readArguments(value.arguments) : value
      // An id may come again, for another call.
      return call.key === createCallKey(call.tool, given) ? call.outcome : undefined
    },
  }
}
