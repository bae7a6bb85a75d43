/**
 * Thinking that a provider binds to the bytes before it (Anthropic, page build-with-claude/preserved-thinking). Between two
 * latches those bytes stay; where they change, what was thought behind them is sent no more.
 */

import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import { prefixName } from '../ledger/state.js'
import type { Pin } from '../tool/wire-tool.js'
import { isInArray } from './deliveries.js'

/** Messages of a history that hold such thinking, by anchor. */
export interface BoundThinking {
  /** Before the tool loop that the history ends in. */
  readonly before: readonly string[]
  /** Within that loop. A change that can wait, waits for its end: what is thought there is still needed. */
  readonly inside: readonly string[]
}

/**
 * All of it goes at once, within a tool loop too: a changed byte makes every block behind it invalid (page
 * preserved-thinking/prefix-checks), and the models that check take a loop without thinking. `facts`: what else is written
 * down for this request.
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

/** Whether what stands before the messages is not what the last request on this wire had there. */
function isRewritten(state: LedgerState, facts: readonly LedgerFact[], wire: string): boolean {
  const last = state.history.thinking.behind.get(wire)
  const refrozen = facts.find((fact) => fact.kind === 'frozen')
  // Off, the array is the host's own, and so is what was thought behind it.
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
