/** What a call that ran leaves in the ledger. A hidden tool is loaded by its success, and only by that. */
import { defined } from '../base/guards.js'
import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import type { Context } from '../surface/context.js'
import { deliveries } from '../surface/deliveries.js'
import type { DropReason } from '../tool/reasons.js'
import type { Batch } from './load/batch.js'
import { load, unitOf } from './load/load.js'
import type { Outcome, RunVerdict } from './verdict.js'

/** `dropped` says why a hidden tool that ran was not loaded. */
export function settled(
  verdict: RunVerdict,
  outcome: Outcome['kind'],
  state: LedgerState,
  context: Context,
  batch: Batch,
): { readonly facts: readonly LedgerFact[]; readonly dropped?: DropReason } {
  const { entry, asked, key } = verdict
  const alias = defined({ alias: verdict.alias })
  const named = { tool: entry.id, asked, ...alias }
  if (outcome !== 'result') {
    const reason = outcome === 'timed-out' ? outcome : 'error'
    return { facts: [{ kind: 'call-failed', ...named, reason, key }] }
  }
  // It may have been denied while it ran.
  if (!verdict.hidden || context.gate.availability(entry, 'load') !== 'ready')
    return { facts: [{ kind: 'call-succeeded', ...named }] }
  const unit = unitOf(context, entry)
  const cost = unit.reduce((sum, member) => sum + context.cost(member), 0)
  const refuse = (dropped: DropReason) => ({
    // It ran; that it stays hidden is part of what happened.
    facts: [{ kind: 'call-succeeded', ...named, dropped } as const],
    dropped,
  })
  if (cost > context.settings.largeTool) return refuse('too-large')
  const native = deliveries[state.latch?.delivery ?? 'append'].answers === 'reference'
  const made = load(
    state,
    context,
    batch,
    unit.map((member) => {
      // Where the provider reveals tools, the history tells the guess as the search that would have led to it.
      const shown = native && member.id === entry.id && !verdict.forwarded
      return { entry: member, source: 'call', asked, ...alias, shown }
    }),
  )
  const [refused] = made.dropped
  if (refused) return refuse(refused.reason)
  return { facts: [{ kind: 'call-succeeded', ...named }, ...made.facts] }
}
