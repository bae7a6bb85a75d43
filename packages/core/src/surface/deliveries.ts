/** The four deliveries as data: how a loaded tool reaches the model. */

import type { LedgerState } from '../ledger/fold.js'
import type { DeliveryName } from '../tool/notice.js'
import type { Pin } from '../tool/wire-tool.js'

/**
 * Place of a loaded tool's definition: at the end of the tools array; in the array but hidden until the history refers
 * to it; or only as text in the history.
 */
export type Place = 'array' | 'hidden' | 'text'

export interface Delivery {
  readonly name: DeliveryName
  /** Meta-tools that the request declares. */
  readonly metaTools: readonly ('loader' | 'bridge')[]
  /** Place of a tool that is loaded between two freezes. */
  readonly defines: Place
  /**
   * What a search answer shows of a loaded tool: the schema, a reference, or only the name, because the next request
   * declares the rest.
   */
  readonly answers: 'schema' | 'reference' | 'name'
  /**
   * Default number of definition tokens that one search loads. docs/concepts/how-search-ranks.md explains the
   * trade-off.
   */
  readonly loads: number
}

export const deliveries: Readonly<Record<DeliveryName, Delivery>> = {
  /** Sends every tool. Used if the loader is denied. Late tools are appended. */
  eager: { name: 'eager', metaTools: [], defines: 'array', answers: 'name', loads: 1000 },
  /**
   * Declares loaded tools at the end of the tools array, so models get native argument constraints. On wires that
   * render tools before messages, each load makes the provider read the messages again (accounting includes that).
   */
  append: { name: 'append', metaTools: ['loader'], defines: 'array', answers: 'name', loads: 1000 },
  /**
   * The tools array never changes. Search answers carry schemas, and calls go through one wrapper that checks the
   * arguments. A load changes no byte before the last message. An offered tool can be called by its signature, so few
   * are loaded.
   */
  bridge: { name: 'bridge', metaTools: ['loader', 'bridge'], defines: 'text', answers: 'schema', loads: 300 },
  /**
   * The provider's own mechanism: a search answer refers to a tool, and the provider inserts its definition there.
   * Tools are called by name with the provider's argument constraints. A load changes no byte before the last message.
   */
  native: { name: 'native', metaTools: ['loader'], defines: 'hidden', answers: 'reference', loads: 1000 },
}

/** Place of a tool that is loaded between two freezes. */
export function findPlace(
  id: string,
  state: LedgerState,
  delivery = state.frozen?.delivery ?? 'append',
): Place {
  // An unloaded tool keeps its place, and a changed tool changes in its place.
  const known = state.tools.eager.get(id) ?? state.tools.loaded.get(id)?.pin
  if (known?.definition) return known.declaredHidden ? 'hidden' : 'array'
  return deliveries[delivery].defines
}

/**
 * Place of a tool that is already loaded when the prefix is frozen. The bytes before the messages are new in any case.
 */
export function placeWhenFreezing(delivery: DeliveryName): Place {
  return deliveries[delivery].metaTools.includes('bridge') ? 'text' : 'array'
}

/** How a search answer shows a loaded tool, by delivery and setting. */
export function answerForm(state: LedgerState, { schemas }: { readonly schemas: 'once' | 'twice' }) {
  const { answers } = deliveries[state.frozen?.delivery ?? 'append']
  return answers === 'name' && schemas === 'twice' ? 'schema' : answers
}

/** True if the model reads the declaration from the start, so that the history need not contain the schema. */
export function isInArray({ definition, declaredHidden }: Pin): boolean {
  return definition !== undefined && !declaredHidden
}
