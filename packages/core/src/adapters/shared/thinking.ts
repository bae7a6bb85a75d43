/**
 * Thinking on a wire whose provider binds it to what stands before it: where it stands in a history, and the history
 * without what the ledger says is sent no more.
 */

import type { SurfaceView } from '../../surface/project.js'
import type { BoundThinking } from '../../surface/thinking.js'
import type { Placed, Unit } from './thread.js'

/** How a wire tells such thinking from the rest of a message. */
export interface ThinkingTrait {
  /** Whether the unit holds some. */
  holds(unit: Unit): boolean
  /** The unit without it. */
  without(unit: Unit): Unit
}

/** Finds the anchors of messages with such thinking, before the current tool loop and inside it. */
export function findThinking(placed: readonly Placed[], { holds }: ThinkingTrait): BoundThinking {
  const start = loopStart(placed)
  const anchors = (some: readonly Placed[]) =>
    some.filter(({ unit }) => holds(unit)).map(({ anchor }) => anchor)
  return { before: anchors(placed.slice(0, start)), inside: anchors(placed.slice(start)) }
}

/** The last turn of the user's that answers no calls: what follows is one tool loop. */
function loopStart(placed: readonly Placed[]): number {
  for (let end = placed.length; end > 0; ) {
    let start = end
    while (start > 0 && placed[start - 1]?.unit.kind !== 'assistant') start--
    const before = placed[start - 1]?.unit
    const answers = before?.kind === 'assistant' && before.calls.length > 0
    if (start < end && !answers) return start
    end = start - 1
  }
  return 0
}

export function withoutStripped(
  placed: readonly Placed[],
  { stripped }: SurfaceView,
  { holds, without }: ThinkingTrait,
): readonly Placed[] {
  if (stripped.size === 0) return placed
  return placed.map((each) =>
    stripped.has(each.anchor) && holds(each.unit) ? { ...each, unit: without(each.unit) } : each,
  )
}
