/**
 * Runs the calls of one reply: judges them together, records their start, runs them, records all outcomes in one
 * append, and answers.
 */

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
  /** The text that the model reads. Parts that are not text are described. */
  readonly text: string
  /** The same in parts, if it is more than text. Each wire sends the parts that it supports. */
  readonly parts?: readonly ResultPart[]
}

const importJudge = lazily(() => import('./judge.js'))
const importSettle = lazily(() => import('./settle.js'))
const importExecute = lazily(() => import('./execute.js'))

export async function runCalls(
  runner: Runner,
  calls: readonly ModelCall[],
  options: RunOptions,
): Promise<CallAnswer[]> {
  // If `execute` were misspelt, the tool would run without the host's approval.
  assertKnownKeys(options, ['execute', 'signal', 'onProgress'], 'run')
  assertFunction('run.execute', options.execute)
  assertFunction('run.onProgress', options.onProgress)
  if (calls.length === 0) return []
  const { log, context } = runner
  const { prompts } = context().settings
  const executions = new Map<Verdict, Execution>()
  /** Executions with notes for the model. Kept apart, because each retry of `settle` adds the notes again. */
  const outcomes = new Map<Verdict, Outcome>()
  let recorded = true
  let judgement: Judgement | undefined
  let judgedAt = 0
  /** Records the whole batch. Retries on conflict, because calls that ran must be recorded. */
  const settle = (): Promise<boolean> =>
    appendWithRetry(
      runner,
      () => 'settle',
      async () => {
        if (judgement && log.state.length !== judgedAt) {
          const { rejudgeSearches } = await importJudge()
          judgement = await rejudgeSearches(judgement, log.state, context())
        }
        judgedAt = log.state.length
        const { settleCalls } = await importSettle()
        if (judgement) await settleCalls(runner, judgement, executions, outcomes)
      },
    )
  await log.runExclusive(async () => {
    recorded = await appendWithRetry(
      runner,
      () => (hasRuns(judgement) ? 'start' : 'settle'),
      async () => {
        judgement = undefined
        const { settleCalls } = await importSettle()
        judgement = await judgeAll(runner, calls)
        const started = createStartFacts(judgement)
        // If nothing runs, the answers are recorded in the same step, so that they fit the state they were judged by.
        if (started.length > 0) await log.append(started)
        else await settleCalls(runner, judgement, executions, outcomes)
      },
      options.signal,
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
    // Outside the queue: a tool may use this conversation itself.
    await Promise.all(
      judgement.verdicts.map(async (verdict) => {
        if (verdict.kind === 'run') executions.set(verdict, await execute(verdict, options, runner))
      }),
    )
    recorded = await log.runExclusive(settle)
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

/** Judges all calls. A call that was already started, here or in another process, does not run again. */
async function judgeAll(
  { log, context, historyStart }: Runner,
  calls: readonly ModelCall[],
): Promise<Judgement> {
  const { judgeCalls } = await importJudge()
  const { answerStartedCalls } = await importSettle()
  const { verdicts, batch } = await judgeCalls(calls, log.state, context())
  return { verdicts: answerStartedCalls(verdicts, log, historyStart, context().settings.prompts), batch }
}

/** Creates the facts that are recorded before calls run, so that no other process runs them again. */
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

/** Runs a step that appends, and retries it on conflict. False if the store failed. */
async function appendWithRetry(
  { log, notify }: Runner,
  step: () => 'start' | 'settle',
  attempt: () => Promise<void>,
  signal?: AbortSignal,
): Promise<boolean> {
  try {
    await log.retryOnConflict(attempt, signal)
    return true
  } catch (error) {
    notify({ kind: 'append-failed', step: step(), detail: String(error) })
    return false
  }
}
