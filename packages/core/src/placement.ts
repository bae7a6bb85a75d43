/** Where the definition of a raised tool stands in a request. */
import { deliveries, type Place } from './delivery/index.js'
import type { LedgerState } from './ledger.js'
import type { DeliveryName, Pin } from './ledger-event.js'

/** For a tool that is raised between two latches. */
export function placeOf(id: string, state: LedgerState, delivery = state.latch?.delivery ?? 'append'): Place {
  // What is unloaded keeps its place, and what changes changes there.
  const held = state.eager.get(id) ?? state.tail.get(id)?.pin
  if (held?.definition) return held.aside ? 'aside' : 'array'
  const { defines, stubs } = deliveries[delivery]
  // Of a stub the schema is missing, so the history shows it; what came after the latch has no stub to be called by.
  return stubs && !state.stubbed.has(id) ? 'array' : defines
}

/** For a tool that is raised already when a latch is made: the bytes before the messages are new anyway. */
export function placeAtLatch(delivery: DeliveryName): Place {
  return deliveries[delivery].metaTools.includes('bridge') ? 'text' : 'array'
}

/** What a search answer says of a found tool, by the delivery and the host's wish. */
export function answerForm(state: LedgerState, { schemas }: { readonly schemas: 'once' | 'twice' }) {
  const { answers } = deliveries[state.latch?.delivery ?? 'append']
  return answers === 'signature' && schemas === 'twice' ? 'schema' : answers
}

/** Declared where the model reads it from the start: its schema need not stand in the history. */
export function isInArray({ definition, aside }: Pin): boolean {
  return definition !== undefined && !aside
}
