/** Records everything that a batch of calls did, in one append. */

import { dropUndefined } from '../base/data.js'
import { firstLine } from '../base/text.js'
import type { LedgerEvent, LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import type { Anchored, LedgerLog } from '../ledger/log.js'
import type { Context } from '../surface/context.js'
import { deliveries } from '../surface/deliveries.js'
import { READER_ID } from '../surface/meta-tools.js'
import type { Prompts } from '../surface/prompts.js'
import type { DropReason } from '../tool/notice.js'
import type { Execution, Runner } from './execute.js'
import type { Judgement } from './judge.js'
import type { Batch } from './load.js'
import { listGroupMembers, load } from './load.js'
import type { PreparedResult } from './prepare-result.js'
import type { Outcome, RunVerdict, Verdict } from './verdict.js'

/**
 * Records the batch and adds notes for the model to its outcomes. Throws if the append fails; then nothing is
 * recorded.
 */
export async function settleCalls(
  runner: Runner,
  judgement: Judgement,
  executions: ReadonlyMap<Verdict, Execution>,
  outcomes: Map<Verdict, Outcome>,
): Promise<void> {
  const { log, context } = runner
  const { prompts } = context().settings
  const facts: Anchored[] = []
  // Searches first: tools that a search unloads make room for tools that a call loads.
  for (const { call, ...verdict } of judgement.verdicts)
    if (verdict.kind === 'answer') for (const fact of verdict.facts) facts.push([call.anchor, fact])
  for (const verdict of judgement.verdicts) {
    if (verdict.kind === 'answer') continue
    const { outcome, result, detail } = executions.get(verdict) ?? {}
    if (outcome) outcomes.set(verdict, outcome)
    const made = createOutcomeFacts(verdict, outcome?.kind ?? 'error', log.state, context(), judgement.batch)
    for (const fact of made.facts) facts.push([verdict.call.anchor, addResult(fact, result, detail)])
    if (result?.readable)
      for (const fact of loadReader(log.state, context(), judgement.batch))
        facts.push([verdict.call.anchor, fact])
    if (outcome && made.dropped) {
      const note = prompts.notLoaded({ name: verdict.entry.wireName, why: prompts.dropReason[made.dropped] })
      outcomes.set(verdict, addNote(outcome, note))
    }
    // If the same call fails a third time, the first line is enough.
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

/** Adds a note after the outcome's text and parts. */
export function addNote(outcome: Outcome, note: string): Outcome {
  const text = `${outcome.text}\n${note}`
  if (!('parts' in outcome) || !outcome.parts) return { ...outcome, text }
  return { ...outcome, text, parts: [...outcome.parts, { type: 'text', text: note }] }
}

function addResult(fact: LedgerFact, result: PreparedResult | undefined, detail?: string): LedgerFact {
  if (fact.kind !== 'call-succeeded' && fact.kind !== 'call-failed') return fact
  const { kept = [], media = 0 } = result ?? {}
  const said = fact.kind === 'call-failed' ? dropUndefined({ detail }) : {}
  return { ...fact, ...said, ...(kept.length > 0 ? { kept } : {}), ...(media > 0 ? { media } : {}) }
}

/** Loads the reader of kept results, so that the next request has it on every delivery. */
function loadReader(state: LedgerState, context: Context, batch: Batch): readonly LedgerFact[] {
  const entry = context.catalogue.get(READER_ID)
  if (!entry || state.frozen?.mode !== 'on' || context.gate.availability(entry, 'load') !== 'ready') return []
  return load(state, context, batch, [{ entry, source: 'call', asked: entry.wireName, shown: false }]).facts
}

/**
 * Creates the facts of a call that ran. Success loads a hidden tool; `dropped` is the reason if it could not be
 * loaded.
 */
export function createOutcomeFacts(
  verdict: RunVerdict,
  outcome: Outcome['kind'],
  state: LedgerState,
  context: Context,
  batch: Batch,
): { readonly facts: readonly LedgerFact[]; readonly dropped?: DropReason } {
  const { entry, asked, key } = verdict
  const alias = dropUndefined({ alias: verdict.alias })
  const named = { tool: entry.id, asked, ...alias }
  if (outcome !== 'result') {
    const reason = outcome === 'timed-out' ? outcome : 'error'
    return { facts: [{ kind: 'call-failed', ...named, reason, key }] }
  }
  // A policy may have denied the tool while it ran.
  if (!verdict.hidden || context.gate.availability(entry, 'load') !== 'ready')
    return { facts: [{ kind: 'call-succeeded', ...named }] }
  const unit = listGroupMembers(context, entry)
  const cost = unit.reduce((sum, member) => sum + context.cost(member), 0)
  const refuse = (dropped: DropReason) => ({
    facts: [{ kind: 'call-succeeded', ...named, dropped } as const],
    dropped,
  })
  if (cost > context.settings.largeTool) return refuse('too-large')
  const native = deliveries[state.frozen?.delivery ?? 'append'].answers === 'reference'
  const made = load(
    state,
    context,
    batch,
    unit.map((member) => {
      // If the provider reveals tools, the history presents the guessed call as a search that found the tool.
      const shown = native && member.id === entry.id && !verdict.forwarded
      return { entry: member, source: 'call', asked, ...alias, shown }
    }),
  )
  const [refused] = made.dropped
  if (refused) return refuse(refused.reason)
  return { facts: [{ kind: 'call-succeeded', ...named }, ...made.facts] }
}

/**
 * Answers calls that were already started, instead of running them twice. The process that started a call records its
 * outcome.
 */
export function answerStartedCalls(
  verdicts: readonly Verdict[],
  { started, events }: Pick<LedgerLog, 'started' | 'events'>,
  historyStart: number | undefined,
  prompts: Prompts,
): Verdict[] {
  return verdicts.map((verdict) => {
    if (verdict.kind !== 'run' || !started.has(verdict.call.anchor, verdict.key, historyStart)) return verdict
    const { call, entry, asked } = verdict
    const ended = findOutcome(verdict, events)
    const text = prompts.alreadyStarted({ outcome: ended })
    return {
      kind: 'answer',
      call,
      outcome: { kind: 'already-started', tool: entry.id, asked, text, ...dropUndefined({ ended }) },
      facts: [],
    }
  })
}

/** Finds the outcome of a started call. Undefined if it is unknown, or older than these events. */
function findOutcome(
  { call: { anchor }, key }: RunVerdict,
  events: readonly LedgerEvent[],
): 'succeeded' | 'failed' | undefined {
  const at = events.filter((event) => event.anchor === anchor)
  const start = at.findLastIndex((event) => event.kind === 'call-started' && event.key === key)
  if (start < 0) return undefined
  const end = at.slice(start).find(({ kind }) => kind === 'call-succeeded' || kind === 'call-failed')
  if (end?.kind === 'call-succeeded') return 'succeeded'
  return end?.kind === 'call-failed' && end.reason === 'error' ? 'failed' : undefined
}
