/** Finds and removes thinking on a wire whose provider binds it to the bytes before it. */

import type { SurfaceView } from '../../surface/project.js'
import type { BoundThinking } from '../../surface/thinking.js'
import type { Placed } from './thread.js'
import type { ThinkingTrait } from './wire.js'

/** Finds the anchors of units with bound thinking, before the current tool loop and inside it. */
export function findThinking(placed: readonly Placed[], { holds }: ThinkingTrait): BoundThinking {
  const start = findLoopStart(placed)
  const anchors = (some: readonly Placed[]) =>
    some.filter(({ unit }) => holds(unit)).map(({ anchor }) => anchor)
  const asked = new Map(placed.map(({ anchor }, index) => [anchor, placed[index - 1]?.anchor ?? '']))
  return { before: anchors(placed.slice(0, start)), inside: anchors(placed.slice(start)), asked }
}

/** The start of the current tool loop: the last user turn that answers no calls. */
function findLoopStart(placed: readonly Placed[]): number {
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

export function removeStripped(
  placed: readonly Placed[],
  { stripped }: SurfaceView,
  { holds, without }: ThinkingTrait,
): readonly Placed[] {
  if (stripped.size === 0) return placed
  return placed.map((each) =>
    stripped.has(each.anchor) && holds(each.unit) ? { ...each, unit: without(each.unit) } : each,
  )
}
