/** Where the definition of a loaded tool stands in a request. */

import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerState } from '../ledger/fold.js'
import type { DeliveryName } from '../tool/reasons.js'
import type { Pin } from '../tool/wire-tool.js'
import type { Context } from './context.js'
import { deliveries, type Place } from './deliveries.js'

/** For a tool that is loaded between two latches. */
export function placeOf(id: string, state: LedgerState, delivery = state.latch?.delivery ?? 'append'): Place {
  // What is unloaded keeps its place, and what changes changes there.
  const known = state.tools.eager.get(id) ?? state.tools.loaded.get(id)?.pin
  if (known?.definition) return known.declaredHidden ? 'hidden' : 'array'
  return deliveries[delivery].defines
}

/**
 * A tool as it is sent until the next latch. What a reference has brought in keeps its bytes, whatever its owner makes of
 * it: the reference stands in the history, and brings in what the name means on this request. Where thinking is bound to
 * the array, so does what stands there. The new definition is told as text.
 */
export function pinOf(entry: Entry, state: LedgerState, context: Context): Pin {
  const pin = context.pin(entry, placeOf(entry.id, state))
  const loaded = state.tools.loaded.get(entry.id)
  const known = state.tools.eager.get(entry.id) ?? loaded?.pin
  const isFixed = known?.declaredHidden ? loaded?.shownAt !== '' : hasFixedArray(state, context)
  const sent = isFixed ? known?.definition : undefined
  if (!sent || JSON.stringify(sent) === JSON.stringify(pin.definition)) return pin
  return { ...pin, definition: sent, outdated: true }
}

/** Anthropic checks what was thought against the tools (page build-with-claude/preserved-thinking). Append rewrites them anyway. */
function hasFixedArray({ latch }: LedgerState, { wire }: Context): boolean {
  return wire === 'anthropic' && latch?.delivery !== 'append'
}

/** For a tool that is loaded already when a latch is made: the bytes before the messages are new anyway. */
export function placeAtLatch(delivery: DeliveryName): Place {
  return deliveries[delivery].metaTools.includes('bridge') ? 'text' : 'array'
}

/** What a search answer says of a found tool, by the delivery and the host's wish. */
export function answerForm(state: LedgerState, { schemas }: { readonly schemas: 'once' | 'twice' }) {
  const { answers } = deliveries[state.latch?.delivery ?? 'append']
  return answers === 'signature' && schemas === 'twice' ? 'schema' : answers
}

/** Declared where the model reads it from the start: its schema need not stand in the history. */
export function isInArray({ definition, declaredHidden }: Pin): boolean {
  return definition !== undefined && !declaredHidden
}
