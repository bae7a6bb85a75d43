/** Judges a batch of calls against the state at its start: calls by the checks in order, then searches. */

import { lazily } from '../base/async.js'
import { dropUndefined } from '../base/data.js'
import { quote } from '../base/text.js'
import { type LedgerState, loaderName } from '../ledger/fold.js'
import type { Context } from '../surface/context.js'
import {
  type CallStep,
  CHECKS,
  isRefusal,
  type JudgeContext,
  type Refusal,
  type UnwrappedCall,
} from './checks.js'
import { type Batch, createBatch } from './load.js'
import { isSearch, readCall, readForwardedCall } from './read-call.js'
import { resolveTarget } from './resolve-target.js'
import { createCallKey } from './settle.js'
import type { AnswerVerdict, RunVerdict, Verdict } from './verdict.js'
import { limitDepth, type ModelCall } from './verdict.js'

export interface Judgement {
  readonly verdicts: readonly Verdict[]
  readonly batch: Batch
}

/** With the first search, as the ranking is. */
const importSearch = lazily(() => import('./answer-search.js'))

export async function judgeCalls(
  made: readonly ModelCall[],
  state: LedgerState,
  context: Context,
): Promise<Judgement> {
  const calls = made.map(limitDepth)
  const batch = createBatch()
  const verdicts: Verdict[] = new Array(calls.length)
  const at: JudgeContext = {
    state,
    context,
    batch,
    loader: loaderName(state, context.settings.searchTool),
    deferring: state.frozen?.mode === 'on' && state.frozen.delivery !== 'eager',
  }
  // Direct calls first: what this batch uses must not be evicted or unloaded by a search beside it.
  for (const [index, call] of calls.entries()) {
    if (isSearch(call, at)) continue
    const verdict = await judgeCall(call, at)
    verdicts[index] = verdict
    if (verdict.kind === 'run') batch.inUse.add(verdict.entry.id)
  }
  for (const [index, call] of calls.entries())
    verdicts[index] ??= await (await importSearch()).answerSearch(call, state, context, batch)
  return { verdicts, batch }
}

/** A call is read, resolved to its target, and checked. A tool that stands for another is judged first, then that other one. */
async function judgeCall(call: ModelCall, at: JudgeContext): Promise<Verdict> {
  const read = readCall(call, at)
  const judged = isRefusal(read) ? read : await judgeTarget(read, at)
  if (isRefusal(judged)) return createRefusal(call, judged, at)
  const inner = readForwardedCall(judged, at)
  const target = inner === undefined || isRefusal(inner) ? (inner ?? judged) : await judgeTarget(inner, at)
  return isRefusal(target) ? createRefusal(call, target, at) : createRunVerdict(call, target)
}

async function judgeTarget(read: UnwrappedCall, at: JudgeContext): Promise<CallStep | Refusal> {
  let step = resolveTarget(read, at)
  for (const check of CHECKS) {
    if (isRefusal(step)) return step
    step = await check(step, at)
  }
  return step
}

function createRunVerdict(
  call: ModelCall,
  { entry, asked, alias, hidden, within, input, original }: CallStep,
): RunVerdict {
  let key: string | undefined
  return {
    kind: 'run',
    call,
    entry,
    asked,
    alias,
    hidden,
    forwarded: within !== undefined,
    // Only what is written down needs it.
    get key() {
      key ??= createCallKey(entry.id, input)
      return key
    },
    target: {
      callId: call.callId,
      id: entry.id,
      name: entry.tool.name,
      wireName: entry.wireName,
      tool: entry.tool,
      input: original,
    },
  }
}

function createRefusal(
  call: ModelCall,
  { reason, text, asked, tool = '', alias, given, detail }: Refusal,
  { state, context }: JudgeContext,
): AnswerVerdict {
  const { prompts, tokenizer } = context.settings
  // The target and its arguments, not how they were spelt or wrapped: a loop is a loop.
  const key = createCallKey(tool === '' ? asked : tool, given)
  const isRepeated = (state.calls.failures.get(key) ?? 0) >= 2
  const answer = isRepeated ? prompts.repeated({ name: quote(asked) }) : text
  return {
    kind: 'answer',
    call,
    outcome: { kind: reason, tool, asked, text: answer },
    facts: [
      {
        kind: 'call-failed',
        tool,
        asked,
        reason,
        ...dropUndefined({ detail, alias }),
        key,
        tokens: tokenizer.count(answer),
      },
    ],
  }
}
