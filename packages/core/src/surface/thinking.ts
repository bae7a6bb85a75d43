/**
 * Thinking that a provider binds to the bytes before it (Anthropic, page build-with-claude/preserved-thinking). Those
 * bytes are fixed between two freezes. If they change, the thinking after them is no longer sent.
 */

import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import { prefixName } from '../ledger/state.js'
import type { Pin } from '../tool/wire-tool.js'
import { isInArray } from './deliveries.js'

/** Messages of a history that contain such thinking, by anchor. */
export interface BoundThinking {
  /** Before the tool loop at the end of the history. */
  readonly before: readonly string[]
  /** Within that loop. A change that can wait waits for its end, because this thinking is still needed. */
  readonly inside: readonly string[]
}

/**
 * Removes all of it at once, even within a tool loop: a changed byte invalidates every block after it (page
 * preserved-thinking/prefix-checks), and the models that check this accept a loop without thinking. `facts`: other
 * facts written for this request.
 */
export function stripThinking(
  state: LedgerState,
  facts: readonly LedgerFact[],
  wire: string,
  thinking: BoundThinking | undefined,
): LedgerFact[] {
  if (!thinking) return []
  const { stripped } = state.history.thinking
  const messages = [...thinking.before, ...thinking.inside].filter((anchor) => !stripped.has(anchor))
  if (messages.length === 0 || !isRewritten(state, facts, wire)) return []
  return [{ kind: 'thinking-stripped', messages }]
}

/** True if the bytes before the messages differ from the last request on this wire. */
function isRewritten(state: LedgerState, facts: readonly LedgerFact[], wire: string): boolean {
  const last = state.history.thinking.behind.get(wire)
  const refrozen = facts.find((fact) => fact.kind === 'frozen')
  // If deferral is off, the host owns the array and the thinking after it.
  if (refrozen) return last !== undefined || refrozen.mode === 'on'
  if (last === undefined) return state.frozen?.mode === 'on'
  return last !== prefixName(state) || facts.some((fact) => writesArray(state, fact))
}

function writesArray(state: LedgerState, fact: LedgerFact): boolean {
  const pin =
    fact.kind === 'restored'
      ? fact.pin
      : 'tool' in fact && typeof fact.tool === 'object'
        ? fact.tool
        : undefined
  if (!pin || !isInArray(pin)) return false
  const known: Pin | undefined = state.tools.eager.get(pin.id) ?? state.tools.loaded.get(pin.id)?.pin
  return JSON.stringify(known?.definition) !== JSON.stringify(pin.definition)
}
