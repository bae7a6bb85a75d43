/** Runs the calls of one reply: judged together, written down before they run, settled in one append, and only then answered. */

import { defined } from '../base/guards.js'
import { lazily } from '../base/lazily.js'
import { firstLine } from '../base/text.js'
import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import type { Anchored } from '../ledger/log.js'
import type { ResultPart } from '../result/part.js'
import type { Context } from '../surface/context.js'
import { READER_ID } from '../surface/meta-tools.js'
import type { Content } from './content.js'
import type { Executed, Runner, RunOptions } from './execute.js'
import type { Judgement } from './judge.js'
import { type Batch, createBatch } from './load/batch.js'
import { load } from './load/load.js'
import type { ModelCall } from './model-call.js'
import { settled } from './settled.js'
import type { AnswerVerdict, Outcome, RunVerdict, Verdict } from './verdict.js'

export type { Execute, RunOptions } from './execute.js'

export interface CallAnswer {
  readonly callId: string
  readonly outcome: Outcome
  /** What the model reads, as text: what is no text is described. */
  readonly text: string
  /** The same in parts, where it is more than text: each wire gives what it can take. */
  readonly parts?: readonly ResultPart[]
}

const judging = lazily(() => import('./judge.js'))
const executing = lazily(() => import('./execute.js'))

export async function runCalls(
  runner: Runner,
  calls: readonly ModelCall[],
  options: RunOptions,
): Promise<CallAnswer[]> {
  if (calls.length === 0) return []
  const { log, context } = runner
  const { prompts } = context().settings
  /** What the tools gave, and what the model reads of it: notes of a step that was taken again must not add up. */
  const raw = new Map<Verdict, Executed>()
  const outcomes = new Map<Verdict, Outcome>()
  let recorded = true
  let judgement: Judgement | undefined
  let judgedAt = 0
  /** Everything the batch did, whoever else writes meanwhile: what ran has to be written down. */
  const settleAll = (): Promise<boolean> =>
    recordedBy(
      runner,
      () => 'settle',
      async () => {
        if (judgement && log.state.length !== judgedAt) judgement = await rejudge(runner, judgement)
        judgedAt = log.state.length
        if (judgement) await settle(runner, judgement, raw, outcomes)
      },
    )
  await log.exclusive(async () => {
    recorded = await recordedBy(
      runner,
      () => (runsAny(judgement) ? 'start' : 'settle'),
      async () => {
        judgement = undefined
        judgement = await judgeAll(runner, calls)
        const started = startedBy(judgement)
        // Where nothing runs, what was judged is settled with it: on what is true then, whoever else writes.
        if (started.length > 0) await log.append(started)
        else await settle(runner, judgement, raw, outcomes)
      },
    )
    judgedAt = log.state.length
  })
  if (!judgement || (!recorded && runsAny(judgement)))
    return calls.map(({ callId }) => ({
      callId,
      outcome: { kind: 'not-recorded', text: prompts.notRun() },
      text: prompts.notRun(),
    }))
  if (runsAny(judgement)) {
    const { execute } = await executing()
    // Not inside the queue: a tool may itself use this conversation.
    await Promise.all(
      judgement.verdicts.map(async (verdict) => {
        if (verdict.kind === 'run') raw.set(verdict, await execute(verdict, options, runner))
      }),
    )
    recorded = await log.exclusive(settleAll)
  }
  return judgement.verdicts.map((verdict): CallAnswer => {
    const { callId } = verdict.call
    if (verdict.kind === 'answer') {
      const lost = !recorded && verdict.outcome.kind === 'search'
      const outcome: Outcome = lost ? { kind: 'not-recorded', text: prompts.notRecorded() } : verdict.outcome
      return { callId, outcome, text: outcome.text }
    }
    const outcome = outcomes.get(verdict) ?? { kind: 'not-recorded' as const, text: prompts.notRun() }
    const told = recorded ? outcome : withNote(outcome, prompts.ranButNotRecorded())
    const { parts } = told as { readonly parts?: readonly ResultPart[] }
    return { callId, outcome, text: told.text, ...defined({ parts }) }
  })
}

/** Phase one: judge everything. A call that someone has started is not run again, here or anywhere. */
async function judgeAll({ log, context, since }: Runner, calls: readonly ModelCall[]): Promise<Judgement> {
  const { judge } = await judging()
  const { verdicts, batch } = await judge(calls, log.state, context())
  const { prompts } = context().settings
  const fenced = verdicts.map((verdict) =>
    verdict.kind === 'run' && log.started.has(verdict.call.anchor, verdict.key, since)
      ? alreadyStarted(verdict, prompts.alreadyStarted())
      : verdict,
  )
  return { verdicts: fenced, batch }
}

/** What is about to run, written down before it does: the fence. */
function startedBy({ verdicts }: Judgement): Anchored[] {
  return verdicts.flatMap((verdict): Anchored[] => {
    if (verdict.kind !== 'run') return []
    const { entry, alias, asked, call, key } = verdict
    return [[call.anchor, { kind: 'call-started', tool: entry.id, asked, ...defined({ alias }), key }]]
  })
}

function runsAny(judgement: Judgement | undefined): boolean {
  return judgement?.verdicts.some((verdict) => verdict.kind === 'run') === true
}

/** Nothing is written: whoever started it writes what came of it. */
function alreadyStarted({ call, entry, asked }: RunVerdict, text: string): AnswerVerdict {
  return {
    kind: 'answer',
    call,
    outcome: { kind: 'already-started', tool: entry.id, asked, text },
    facts: [],
  }
}

/** Phase two: everything the batch did, in one append; what the model has to know of it joins the answers. Throws where that failed: then nothing of it happened. */
async function settle(
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

/** Takes a step until it is done, against whoever else writes. False where the store failed. */
async function recordedBy(
  { log, notify }: Runner,
  step: () => 'start' | 'settle',
  attempt: () => Promise<void>,
): Promise<boolean> {
  try {
    await log.untilDone(attempt)
    return true
  } catch (error) {
    notify({ kind: 'append-failed', step: step(), detail: String(error) })
    return false
  }
}

/** Other steps were taken while tools ran: searches are judged again, on what is true now. Calls that ran stay as they are. */
async function rejudge({ log, context }: Runner, judgement: Judgement): Promise<Judgement> {
  const searches = judgement.verdicts.filter(
    (verdict) => verdict.kind === 'answer' && verdict.outcome.kind === 'search',
  )
  if (searches.length === 0)
    return { verdicts: judgement.verdicts, batch: { ...createBatch(), inUse: judgement.batch.inUse } }
  const { judge } = await judging()
  const again = await judge(
    searches.map((verdict) => verdict.call),
    log.state,
    context(),
  )
  for (const id of judgement.batch.inUse) again.batch.inUse.add(id)
  const byCall = new Map(again.verdicts.map((verdict) => [verdict.call, verdict]))
  return {
    verdicts: judgement.verdicts.map((verdict) => byCall.get(verdict.call) ?? verdict),
    batch: again.batch,
  }
}

/** The note stands behind all that was given. */
function withNote(outcome: Outcome, note: string): Outcome {
  const text = `${outcome.text}\n${note}`
  if (!('parts' in outcome) || !outcome.parts) return { ...outcome, text }
  return { ...outcome, text, parts: [...outcome.parts, { type: 'text', text: note }] }
}

function withContent(fact: LedgerFact, content: Content | undefined, detail?: string): LedgerFact {
  if (!content || (fact.kind !== 'call-succeeded' && fact.kind !== 'call-failed')) return fact
  const { kept, media } = content
  const said = fact.kind === 'call-failed' ? defined({ detail }) : {}
  return { ...fact, ...said, ...(kept.length > 0 ? { kept } : {}), ...(media > 0 ? { media } : {}) }
}

/** What reads a kept result is loaded with it, so that the next request has it on every delivery. */
function readerLoad(state: LedgerState, context: Context, batch: Batch): readonly LedgerFact[] {
  const entry = context.catalogue.get(READER_ID)
  if (!entry || state.latch?.mode !== 'on' || context.gate.availability(entry, 'load') !== 'ready') return []
  return load(state, context, batch, [{ entry, source: 'call', asked: entry.wireName, shown: false }]).facts
}
