/** The repair of a history, where it needs one: what stands for itself and is in order is left alone. */

import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import { withoutStripped } from './bound-thinking.js'
import { type EndOf, repair, settleForView, settleOrder } from './repair.js'
import { settleIds } from './settle-ids.js'
import type { Reading } from './stretches.js'
import type { Placed } from './thread.js'
import type { Warn } from './warning.js'
import type { WireTraits } from './wire.js'

/** `callable`: every name that a call in this history may have on this request. */
export function repairStretches(
  wire: { readonly name: string; readonly traits?: Omit<WireTraits, 'prompt'> },
  { stretches, placed: all, sum }: Pick<Reading, 'stretches' | 'placed' | 'sum'>,
  view: SurfaceView,
  callable: ReadonlySet<string>,
  prompts: Prompts,
  warn: Warn,
  endOf?: EndOf,
): readonly Placed[] {
  const { ids, thinking, answersAnywhere } = wire.traits ?? {}
  const bound = (placed: readonly Placed[]) => (thinking ? withoutStripped(placed, view, thinking) : placed)
  if (sum.isEntangled) {
    const whole = bound(all)
    const settled = ids ? settleIds(whole, wire.name, ids, warn) : whole
    return repair(settled, view, callable, prompts, warn, wire.traits, endOf)
  }
  const ordered = sum.isOrderly
    ? bound(all)
    : ([] as Placed[]).concat(
        ...stretches.map(({ placed, isOrderly }) =>
          isOrderly ? bound(placed) : settleOrder(bound(placed), prompts, warn, answersAnywhere, endOf),
        ),
      )
  const isKnown = [...sum.called].every((name) => callable.has(name))
  // Where the provider itself shows tools, what may be called depends on the place.
  if (isKnown && view.delivery !== 'native') return ordered
  return settleForView(ordered, view, callable, prompts, warn, wire.traits)
}
