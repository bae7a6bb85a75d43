/** Unloading tools, and whether their bytes leave the array at once. Produces facts; changes nothing. */
import type { LedgerFact } from '../../ledger/event.js'
import type { LedgerState } from '../../ledger/fold.js'
import type { Context } from '../../surface/context.js'
import { isInArray } from '../../surface/placement.js'

/** Unloads tools. Their bytes stay in the array where taking them out would cost more than it saves. */
export function unload(
  state: LedgerState,
  context: Context,
  tools: readonly string[],
  reason: 'model' | 'evicted' | 'operator',
  untold: boolean,
): LedgerFact[] {
  // What was left in the array before goes with it when the array is written anew.
  const dead = [...state.tools.loaded.values()].filter(({ pin, kept }) => kept && isInArray(pin))
  const stale = dead.map(({ pin }) => pin.id).filter((id) => !tools.includes(id))
  const rewrites = isWorthRewriting(state, context, [...stale, ...tools])
  const gone = tools.map(
    (tool): LedgerFact => ({
      kind: 'unloaded',
      tool,
      reason,
      ...(rewrites ? {} : { kept: true }),
      ...(untold ? { untold: true } : {}),
    }),
  )
  const purged = stale.map((tool): LedgerFact => ({ kind: 'unloaded', tool, reason: 'evicted' }))
  return rewrites ? [...gone, ...purged] : gone
}

/** Requests that a freed place in the array is expected to be saved on. */
const EXPECTED_REQUESTS = 10
/** Tokens of messages where the host has not told. */
const USUAL_MESSAGES = 20_000

/** Whether these definitions cost more, on the requests to come, than reading everything behind the first of them again. */
function isWorthRewriting(state: LedgerState, context: Context, ids: readonly string[]): boolean {
  const { read, write } = context.prices
  const measured = [...state.requests.byId.values()].findLast((record) => record.messageTokens !== undefined)
  let behind = measured?.messageTokens ?? USUAL_MESSAGES
  let freed = 0
  for (const { pin } of state.tools.loaded.values()) {
    if (!pin.definition || !isInArray(pin)) continue
    if (ids.includes(pin.id)) freed += context.tokens(pin.definition)
    else if (freed > 0) behind += context.tokens(pin.definition)
  }
  return freed * read * EXPECTED_REQUESTS > behind * (write - read)
}
