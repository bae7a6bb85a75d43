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
  /** The message before each of these, which ends the request that it answers. */
  readonly asked: ReadonlyMap<string, string>
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
  const all = [...thinking.before, ...thinking.inside]
  if (all.length === 0) return []
  const end = isRewritten(state, facts, wire) ? all.length : findEndOfOld(state, wire, all, thinking)
  const messages = all.slice(0, end).filter((anchor) => !stripped.has(anchor))
  return messages.length === 0 ? [] : [{ kind: 'thinking-stripped', messages }]
}

/**
 * The end of the messages that were perhaps written behind another prefix: the host regenerated an earlier reply, or went
 * back to a history that it had left. Nothing before a removed block is kept, because the provider refuses a gap.
 */
function findEndOfOld(
  state: LedgerState,
  wire: string,
  messages: readonly string[],
  { asked }: BoundThinking,
): number {
  const { stripped } = state.history.thinking
  const requests = new Map<string, { readonly epoch: number; readonly isOld: boolean }>()
  for (const { anchor, epoch, wire: at, frozen, toolsVersion } of state.requests.byId.values()) {
    if (at !== wire) continue
    // After a compaction, anchors name other messages.
    const before = requests.get(anchor)
    const wasOld = before?.epoch === epoch && before.isOld
    const isOld = wasOld || frozen !== state.freezing.count || toolsVersion !== state.array.version
    requests.set(anchor, { epoch, isOld })
  }
  const isOld = (anchor: string) => stripped.has(anchor) || requests.get(asked.get(anchor) ?? '')?.isOld
  return messages.findLastIndex(isOld) + 1
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
