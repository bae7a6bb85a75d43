/** How a loaded tool reaches the model: the four ways, as data. */

import type { LedgerState } from '../ledger/fold.js'
import type { DeliveryName } from '../tool/notice.js'
import type { Pin } from '../tool/wire-tool.js'

/**
 * Where the definition of a loaded tool stands: in the tools array, after everything that was there before; declared
 * there but hidden from the model until the history refers to it; or as text in the history alone.
 */
export type Place = 'array' | 'hidden' | 'text'

export interface Delivery {
  readonly name: DeliveryName
  /** Which meta-tools the request declares. */
  readonly metaTools: readonly ('loader' | 'bridge')[]
  /** Where the definition of a tool goes that is loaded between two latches. */
  readonly defines: Place
  /** What a search answer says of a tool it loads: everything, a reference, or its name alone, as the next request says the rest. */
  readonly answers: 'schema' | 'reference' | 'name'
  /** Tokens of definitions that one search loads, unless the host says otherwise. docs/concepts/how-search-ranks.md has the trade. */
  readonly loads: number
}

export const deliveries: Readonly<Record<DeliveryName, Delivery>> = {
  /** Everything is sent, always: what remains when the loader may not be used. Late arrivals join at the end. */
  eager: { name: 'eager', metaTools: [], defines: 'array', answers: 'name', loads: 1000 },
  /**
   * Loaded tools are declared at the end of the tools array. Models get native argument constraints; on wires that render
   * tools before messages, each load makes the provider read the messages again (accounting charges them).
   */
  append: { name: 'append', metaTools: ['loader'], defines: 'array', answers: 'name', loads: 1000 },
  /**
   * The tools array never changes: schemas arrive in search answers, and calls go through one wrapper that checks the
   * arguments. No load touches a byte before the last message. An offered tool can be called by its signature, so few are loaded.
   */
  bridge: { name: 'bridge', metaTools: ['loader', 'bridge'], defines: 'text', answers: 'schema', loads: 300 },
  /**
   * The provider's own way: a search answer refers to a tool, and the provider puts the definition there. Tools are called
   * by their names with the provider's argument constraints, and no load touches a byte before the last message.
   */
  native: { name: 'native', metaTools: ['loader'], defines: 'hidden', answers: 'reference', loads: 1000 },
}

// Where the definition of a loaded tool stands in a request.

/** For a tool that is loaded between two latches. */
export function findPlace(
  id: string,
  state: LedgerState,
  delivery = state.frozen?.delivery ?? 'append',
): Place {
  // What is unloaded keeps its place, and what changes changes there.
  const known = state.tools.eager.get(id) ?? state.tools.loaded.get(id)?.pin
  if (known?.definition) return known.declaredHidden ? 'hidden' : 'array'
  return deliveries[delivery].defines
}

/** For a tool that is loaded already when a latch is made: the bytes before the messages are new anyway. */
export function placeWhenFreezing(delivery: DeliveryName): Place {
  return deliveries[delivery].metaTools.includes('bridge') ? 'text' : 'array'
}

/** What a search answer says of a tool it loads, by the delivery and the host's wish. */
export function answerForm(state: LedgerState, { schemas }: { readonly schemas: 'once' | 'twice' }) {
  const { answers } = deliveries[state.frozen?.delivery ?? 'append']
  return answers === 'name' && schemas === 'twice' ? 'schema' : answers
}

/** Declared where the model reads it from the start: its schema need not stand in the history. */
export function isInArray({ definition, declaredHidden }: Pin): boolean {
  return definition !== undefined && !declaredHidden
}
