/** Where a search becomes loaded tools: one candidate after the other, as far as limits and budgets allow. */
import { defined } from '../../base/guards.js'
import type { Entry } from '../../catalogue/catalogue.js'
import type { LedgerFact } from '../../ledger/event.js'
import { isOnSurface, type LedgerState } from '../../ledger/fold.js'
import type { Context } from '../../surface/context.js'
import { answerForm } from '../../surface/placement.js'
import type { Dropped } from '../../tool/reasons.js'
import type { Batch } from '../load/batch.js'
import { type LoadRequest, load, unitOf } from '../load/load.js'
import { type Candidate, createAllowance } from './candidate.js'

export interface LoadedFoundTools {
  readonly facts: readonly LedgerFact[]
  /** Ids. */
  readonly loaded: readonly string[]
  readonly evicted: readonly string[]
  readonly dropped: readonly Dropped[]
}

/** `unclear`: they are only the nearest there is. */
export function loadFoundTools(
  candidates: readonly Candidate[],
  unclear: boolean,
  state: LedgerState,
  context: Context,
  batch: Batch,
): LoadedFoundTools {
  const outcome = {
    facts: [] as LedgerFact[],
    loaded: [] as string[],
    evicted: [] as string[],
    dropped: [] as Dropped[],
  }
  const allowance = createAllowance(candidates, unclear, state, context)
  const shown = answerForm(state, context.settings) !== 'name'
  const take = (candidate: Candidate, unit: readonly Entry[]) => {
    const { explicit, asked, alias } = candidate
    const source = explicit ? 'select' : 'search'
    const requests = unit.map(
      (member): LoadRequest => ({ entry: member, source, asked, ...defined({ alias }), shown }),
    )
    const made = load(state, context, batch, requests)
    if (made.loaded.length > 0) allowance.spend(candidate, unit)
    outcome.facts.push(...made.facts)
    outcome.loaded.push(...made.loaded)
    outcome.evicted.push(...made.evicted)
    // Members of one group are refused together, once for each that was found.
    const isNew = ({ tool }: Dropped) => !outcome.dropped.some((known) => known.tool === tool)
    outcome.dropped.push(...made.dropped.filter(isNew))
  }
  // What is asked for by name makes no room for its neighbour in the list.
  for (const { entry, explicit } of candidates)
    if (explicit && isOnSurface(state, entry.id)) batch.inUse.add(entry.id)
  const setAside: Candidate[] = []
  for (const [round, waiting] of [candidates, setAside].entries())
    for (const candidate of waiting) {
      const unit = unitOf(context, candidate.entry)
      if (unit.every(({ id }) => isOnSurface(state, id) || batch.loaded.has(id))) {
        batch.inUse.add(candidate.entry.id)
        continue
      }
      const verdict = allowance.decide(candidate, unit, round > 0)
      if (verdict === 'load') take(candidate, unit)
      else if (verdict === 'diversity') setAside.push(candidate)
      else if (verdict !== 'offer') {
        const reason = round > 0 ? 'diversity' : verdict
        outcome.dropped.push({ tool: candidate.entry.id, reason })
      }
    }
  return outcome
}
