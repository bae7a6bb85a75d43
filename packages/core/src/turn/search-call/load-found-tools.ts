/** Where a search becomes loaded tools: each candidate that is surely meant, in order, as far as limits and budgets allow. */
import { defined } from '../../base/guards.js'
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

export function loadFoundTools(
  candidates: readonly Candidate[],
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
  const sure = candidates.filter((candidate) => candidate.sure)
  const allowance = createAllowance(sure, state, context)
  const shown = answerForm(state, context.settings) !== 'signature'
  // What is asked for by name makes no room for its neighbour in the list.
  for (const { entry, explicit } of candidates)
    if (explicit && isOnSurface(state, entry.id)) batch.inUse.add(entry.id)
  for (const candidate of candidates) {
    const { entry, explicit, asked, alias } = candidate
    const unit = unitOf(context, entry)
    if (unit.every(({ id }) => isOnSurface(state, id) || batch.loaded.has(id))) {
      batch.inUse.add(entry.id)
      continue
    }
    if (!candidate.sure) continue
    const refusal = allowance.refuse(candidate, unit)
    if (refusal) {
      outcome.dropped.push({ tool: entry.id, reason: refusal })
      continue
    }
    const source = explicit ? 'select' : 'search'
    const requests = unit.map(
      (member): LoadRequest => ({ entry: member, source, asked, ...defined({ alias }), shown }),
    )
    const made = load(state, context, batch, requests)
    outcome.facts.push(...made.facts)
    outcome.loaded.push(...made.loaded)
    outcome.evicted.push(...made.evicted)
    outcome.dropped.push(...made.dropped)
  }
  return outcome
}
