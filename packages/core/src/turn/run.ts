/** Runs the calls of one reply: judged together, written down before they run, settled in one append, and only then answered. */

import { lazily } from '../base/async.js'
import { dropUndefined } from '../base/data.js'
import { assertFunction, assertKnownKeys } from '../base/options.js'
import type { Anchored } from '../ledger/log.js'
import type { ResultPart } from '../result/part.js'
import type { Execution, Runner, RunOptions } from './execute.js'
import type { Judgement } from './judge.js'
import type { ModelCall, Outcome, Verdict } from './verdict.js'

export type { Execute, RunOptions } from './execute.js'

export interface CallAnswer {
  readonly callId: string
  readonly outcome: Outcome
  /** What the model reads, as text: what is no text is described. */
  readonly text: string
  /** The same in parts, where it is more than text: each wire gives what it can take. */
  readonly parts?: readonly ResultPart[]
}

const importSettle = lazily(() => import('./settle.js'))
const importExecute = lazily(() => import('./execute.js'))

export async function runCalls(
  runner: Runner,
  calls: readonly ModelCall[],
  options: RunOptions,
): Promise<CallAnswer[]> {
  // A misspelt `execute` would run what it was to ask about.
  assertKnownKeys(options, ['execute', 'signal', 'onProgress'], 'run')
  assertFunction('run.execute', options.execute)
  assertFunction('run.onProgress', options.onProgress)
  if (calls.length === 0) return []
  const { log, context } = runner
  const { prompts } = context().settings
  /** What the tools gave, and what the model reads of it: notes of a step that was taken again must not add up. */
  const executions = new Map<Verdict, Execution>()
  const outcomes = new Map<Verdict, Outcome>()
  let recorded = true
  let judgement: Judgement | undefined
  let judgedAt = 0
  /** Everything the batch did, whoever else writes meanwhile: what ran has to be written down. */
  const settleBatch = (): Promise<boolean> =>
    appendWithRetry(
      runner,
      () => 'settle',
      async () => {
        if (judgement && log.state.length !== judgedAt) judgement = await rejudge(runner, judgement)
        judgedAt = log.state.length
        const { settle } = await importSettle()
        if (judgement) await settle(runner, judgement, executions, outcomes)
      },
    )
  await log.exclusive(async () => {
    recorded = await appendWithRetry(
      runner,
      () => (hasRuns(judgement) ? 'start' : 'settle'),
      async () => {
        judgement = undefined
        const { settle } = await importSettle()
        judgement = await judgeAll(runner, calls)
        const started = createStartFacts(judgement)
        // Where nothing runs, what was judged is settled with it: on what is true then, whoever else writes.
        if (started.length > 0) await log.append(started)
        else await settle(runner, judgement, executions, outcomes)
      },
    )
    judgedAt = log.state.length
  })
  if (!judgement || (!recorded && hasRuns(judgement)))
    return calls.map(({ callId }) => ({
      callId,
      outcome: { kind: 'not-recorded', text: prompts.notRun() },
      text: prompts.notRun(),
    }))
  if (hasRuns(judgement)) {
    const { execute } = await importExecute()
    // Not inside the queue: a tool may itself use this conversation.
    await Promise.all(
      judgement.verdicts.map(async (verdict) => {
        if (verdict.kind === 'run') executions.set(verdict, await execute(verdict, options, runner))
      }),
    )
    recorded = await log.exclusive(settleBatch)
  }
  const { addNote } = await importSettle()
  return judgement.verdicts.map((verdict): CallAnswer => {
    const { callId } = verdict.call
    if (verdict.kind === 'answer') {
      const lost = !recorded && verdict.outcome.kind === 'search'
      const outcome: Outcome = lost ? { kind: 'not-recorded', text: prompts.notRecorded() } : verdict.outcome
      if (outcome.kind === 'already-started') {
        const { tool, ended } = outcome
        runner.notify({ kind: 'call-fenced', tool, callId, ...dropUndefined({ outcome: ended }) })
      }
      return { callId, outcome, text: outcome.text }
    }
    const outcome = outcomes.get(verdict) ?? { kind: 'not-recorded' as const, text: prompts.notRun() }
    const shown = recorded ? outcome : addNote(outcome, prompts.ranButNotRecorded())
    const { parts } = shown as { readonly parts?: readonly ResultPart[] }
    return { callId, outcome, text: shown.text, ...dropUndefined({ parts }) }
  })
}

/** Phase one: judge everything. A call that someone has started is not run again, here or anywhere. */
async function judgeAll(
  { log, context, historyStart: since }: Runner,
  calls: readonly ModelCall[],
): Promise<Judgement> {
  const { judgeCalls, answerStartedCalls } = await importSettle()
  const { verdicts, batch } = await judgeCalls(calls, log.state, context())
  return { verdicts: answerStartedCalls(verdicts, log, since, context().settings.prompts), batch }
}

/** What is about to run, written down before it does: the fence. */
function createStartFacts({ verdicts }: Judgement): Anchored[] {
  return verdicts.flatMap((verdict): Anchored[] => {
    if (verdict.kind !== 'run') return []
    const { entry, alias, asked, call, key } = verdict
    return [[call.anchor, { kind: 'call-started', tool: entry.id, asked, ...dropUndefined({ alias }), key }]]
  })
}

function hasRuns(judgement: Judgement | undefined): boolean {
  return judgement?.verdicts.some((verdict) => verdict.kind === 'run') === true
}

/** Takes a step until it is done, against whoever else writes. False where the store failed. */
async function appendWithRetry(
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
  const { judgeCalls, createBatch } = await importSettle()
  if (searches.length === 0)
    return { verdicts: judgement.verdicts, batch: { ...createBatch(), inUse: judgement.batch.inUse } }
  const again = await judgeCalls(
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
