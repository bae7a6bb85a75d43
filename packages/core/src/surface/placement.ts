/** Where the definition of a loaded tool stands in a request. */

import type { LedgerState } from '../ledger/fold.js'
import type { DeliveryName } from '../tool/reasons.js'
import type { Pin } from '../tool/wire-tool.js'
import { deliveries, type Place } from './deliveries.js'

/** For a tool that is loaded between two latches. */
export function placeOf(id: string, state: LedgerState, delivery = state.latch?.delivery ?? 'append'): Place {
  // What is unloaded keeps its place, and what changes changes there.
  const known = state.tools.eager.get(id) ?? state.tools.loaded.get(id)?.pin
  if (known?.definition) return known.declaredHidden ? 'hidden' : 'array'
  return deliveries[delivery].defines
}

/** For a tool that is loaded already when a latch is made: the bytes before the messages are new anyway. */
export function placeAtLatch(delivery: DeliveryName): Place {
  return deliveries[delivery].metaTools.includes('bridge') ? 'text' : 'array'
}

/** What a search answer says of a tool it loads, by the delivery and the host's wish. */
export function answerForm(state: LedgerState, { schemas }: { readonly schemas: 'once' | 'twice' }) {
  const { answers } = deliveries[state.latch?.delivery ?? 'append']
  return answers === 'name' && schemas === 'twice' ? 'schema' : answers
}

/** Declared where the model reads it from the start: its schema need not stand in the history. */
export function isInArray({ definition, declaredHidden }: Pin): boolean {
  return definition !== undefined && !declaredHidden
}
