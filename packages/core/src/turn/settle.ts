/** What a batch of calls did, written down in one append. */

import { defined } from '../base/guards.js'
import { firstLine } from '../base/text.js'
import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import type { Anchored } from '../ledger/log.js'
import type { Context } from '../surface/context.js'
import { READER_ID } from '../surface/meta-tools.js'
import type { Content } from './content.js'
import type { Executed, Runner } from './execute.js'
import type { Judgement } from './judge.js'
import type { Batch } from './load/batch.js'
import { load } from './load/load.js'
import { settled } from './settled.js'
import type { Outcome, Verdict } from './verdict.js'

/** Phase two: everything the batch did, in one append; what the model has to know of it joins the answers. Throws where that failed: then nothing of it happened. */
export async function settle(
  runner: Runner,
  judgement: Judgement,
  raw: ReadonlyMap<Verdict, Executed>,
  outcomes: Map<Verdict, Outcome>,
): Promise<void> {
  const { log, context } = runner
  const { prompts } = context().settings
  const facts: Anchored[] = []
  // In the order in which they were judged: searches, then calls, so that what a search unloaded makes room for a call.
  for (const { call, ...verdict } of judgement.verdicts)
    if (verdict.kind === 'answer') for (const fact of verdict.facts) facts.push([call.anchor, fact])
  for (const verdict of judgement.verdicts) {
    if (verdict.kind === 'answer') continue
    const { outcome, content, detail } = raw.get(verdict) ?? {}
    if (outcome) outcomes.set(verdict, outcome)
    const made = settled(verdict, outcome?.kind ?? 'error', log.state, context(), judgement.batch)
    for (const fact of made.facts) facts.push([verdict.call.anchor, withContent(fact, content, detail)])
    if (content?.readable)
      for (const fact of readerLoad(log.state, context(), judgement.batch))
        facts.push([verdict.call.anchor, fact])
    if (outcome && made.dropped) {
      const note = prompts.notLoaded({ name: verdict.entry.wireName, why: prompts.dropReason[made.dropped] })
      outcomes.set(verdict, withNote(outcome, note))
    }
    // The third time the same call fails in the same way, its first line says as much as the rest.
    if (outcome?.kind === 'error' && (log.state.calls.failures.get(verdict.key) ?? 0) >= 2)
      outcomes.set(verdict, {
        kind: 'error',
        tool: outcome.tool,
        asked: outcome.asked,
        text: firstLine(outcome.text, 300),
      })
  }
  if (facts.length > 0) await log.append(facts)
}

/** The note stands behind all that was given. */
export function withNote(outcome: Outcome, note: string): Outcome {
  const text = `${outcome.text}\n${note}`
  if (!('parts' in outcome) || !outcome.parts) return { ...outcome, text }
  return { ...outcome, text, parts: [...outcome.parts, { type: 'text', text: note }] }
}

function withContent(fact: LedgerFact, content: Content | undefined, detail?: string): LedgerFact {
  if (fact.kind !== 'call-succeeded' && fact.kind !== 'call-failed') return fact
  const { kept = [], media = 0 } = content ?? {}
  const said = fact.kind === 'call-failed' ? defined({ detail }) : {}
  return { ...fact, ...said, ...(kept.length > 0 ? { kept } : {}), ...(media > 0 ? { media } : {}) }
}

/** What reads a kept result is loaded with it, so that the next request has it on every delivery. */
function readerLoad(state: LedgerState, context: Context, batch: Batch): readonly LedgerFact[] {
  const entry = context.catalogue.get(READER_ID)
  if (!entry || state.latch?.mode !== 'on' || context.gate.availability(entry, 'load') !== 'ready') return []
  return load(state, context, batch, [{ entry, source: 'call', asked: entry.wireName, shown: false }]).facts
}
