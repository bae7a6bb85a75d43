/** Whether the latch of a wire that the thread comes back to still holds, and what joins it. */

import type { LedgerEvent, LedgerFact } from '../ledger/event.js'
import { fold, type LedgerState } from '../ledger/fold.js'
import type { LeftPrefix } from '../ledger/state.js'
import type { WireSupport } from './auto.js'
import type { Context } from './context.js'
import { deliveries, isInArray } from './deliveries.js'
import type { BoundThinking } from './thinking.js'

type Returned = Extract<LedgerFact, { kind: 'returned' }>

/**
 * The old bytes are worth more than a fresh list only where something was thought behind them: the provider takes it back
 * behind those bytes alone. They hold while every declared tool is there as it was, and policy denies nothing they name.
 */
export function planReturn(
  state: LedgerState,
  context: Context,
  support: WireSupport,
  thinking: BoundThinking | undefined,
): Returned | undefined {
  const left = state.freezing.left.get(context.wire)
  const { stripped } = state.history.thinking
  const isWorth = thinking?.before.concat(thinking.inside).some((anchor) => !stripped.has(anchor))
  if (!left || !isWorth || state.freezing.due || !isPossible(left, state, context, support)) return undefined
  const { catalogue, gate } = context
  const declared = [...left.eager.values(), ...[...left.loaded.values()].map(({ pin }) => pin)]
  const isAsItWas = declared.every(({ id, fingerprint }) => {
    const entry = catalogue.get(id)
    return entry?.fingerprint === fingerprint && gate.availability(entry, 'see') === 'ready'
  })
  const isDenied = left.frozen.shown.some((id) => gate.availability(catalogue.get(id), 'see') === 'denied')
  if (!isAsItWas || isDenied) return undefined
  const live = [...state.tools.suspendedLoads, ...[...state.tools.loaded].filter(([, { live }]) => live)]
  const loaded = live.flatMap(([id]) => {
    const entry = left.loaded.has(id) || left.eager.has(id) ? undefined : catalogue.get(id)
    if (!entry || gate.availability(entry, 'see') !== 'ready') return []
    return [context.pin(entry, deliveries[left.frozen.delivery].defines)]
  })
  // What was loaded meanwhile must not change the array either.
  return loaded.some(isInArray) ? undefined : { kind: 'returned', wire: context.wire, loaded }
}

/** The host still wants this delivery, and the wire can still do it. */
function isPossible(
  { frozen }: LeftPrefix,
  { freezing }: LedgerState,
  { settings }: Context,
  { native }: WireSupport,
): boolean {
  const { mode, delivery } = settings
  if (mode === 'off' || freezing.withheld.has(frozen.delivery)) return false
  if (delivery !== 'auto' && delivery !== frozen.delivery) return false
  if (frozen.delivery !== 'native') return true
  const changes = native === 'changes' || native === 'additions'
  return (
    native !== undefined &&
    changes === (frozen.changes === true) &&
    (native === 'changes') === (frozen.removals === true)
  )
}

/** The state as it is once the thread is back, and what else is to be written. The state itself stays as it is. */
export function applyReturn(
  state: LedgerState,
  facts: readonly LedgerFact[],
): { readonly state: LedgerState; readonly facts: readonly LedgerFact[] } {
  const returned = facts.find((fact) => fact.kind === 'returned')
  if (!returned) return { state, facts }
  const event: LedgerEvent = { ...returned, id: state.length, anchor: '' }
  return { state: fold(structuredClone(state), event), facts: facts.filter((fact) => fact !== returned) }
}
