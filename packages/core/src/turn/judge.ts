/** Judges the calls of one reply: finds the target of each call and checks it, then answers the searches. */

import { lazily } from '../base/async.js'
import { dropUndefined } from '../base/data.js'
import { nearest } from '../base/nearest.js'
import { quote } from '../base/text.js'
import type { Entry, Source } from '../catalogue/catalogue.js'
import type { Resolution } from '../catalogue/name-index.js'
import { isOnSurface, type LedgerState, loaderName } from '../ledger/fold.js'
import { quoteName } from '../search/quote-name.js'
import type { Context } from '../surface/context.js'
import { canFind } from '../surface/meta-tools.js'
import type { Pin } from '../tool/wire-tool.js'
import {
  type CallStep,
  CHECKS,
  isRefusal,
  type JudgeContext,
  type Refusal,
  refuse,
  type UnwrappedCall,
} from './checks.js'
import { type Batch, createBatch } from './load.js'
import { suggestNames } from './named-tools.js'
import { createCallKey, isSearch, limitDepth, readCall, readForwardedCall } from './read-call.js'
import { findMissingSource, findSources } from './sources.js'
import type { AnswerVerdict, ModelCall, RunVerdict, Verdict } from './verdict.js'

export interface Judgement {
  readonly verdicts: readonly Verdict[]
  readonly batch: Batch
}

/** Loaded with the first search. */
const importSearch = lazily(() => import('./answer-search.js'))

/** Judges all calls by the state at the start of the batch. */
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
  // Other calls come before searches, so that no search of this batch evicts or unloads a tool that the batch calls.
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

/** Judges the searches of a batch again, because the state changed while tools ran. Other verdicts stay. */
export async function rejudgeSearches(
  judgement: Judgement,
  state: LedgerState,
  context: Context,
): Promise<Judgement> {
  const { inUse } = judgement.batch
  const searches = judgement.verdicts.filter(
    (verdict) => verdict.kind === 'answer' && verdict.outcome.kind === 'search',
  )
  if (searches.length === 0) return { verdicts: judgement.verdicts, batch: { ...createBatch(), inUse } }
  const { verdicts, batch } = await judgeCalls(
    searches.map(({ call }) => call),
    state,
    context,
  )
  for (const id of inUse) batch.inUse.add(id)
  const byCall = new Map(verdicts.map((verdict) => [verdict.call, verdict]))
  return { verdicts: judgement.verdicts.map((verdict) => byCall.get(verdict.call) ?? verdict), batch }
}

/**
 * Reads a call, finds its target and checks it. A tool that forwards calls is judged first, then the tool it forwards
 * to.
 */
async function judgeCall(call: ModelCall, at: JudgeContext): Promise<Verdict> {
  const read = readCall(call, at)
  const judged = isRefusal(read) ? read : await judgeTarget(read, at, call.caller)
  if (isRefusal(judged)) return createRefusal(call, judged, at)
  const inner = readForwardedCall(judged, at)
  const target = inner === undefined || isRefusal(inner) ? (inner ?? judged) : await judgeTarget(inner, at)
  return isRefusal(target) ? createRefusal(call, target, at) : createRunVerdict(call, target)
}

async function judgeTarget(
  read: UnwrappedCall,
  at: JudgeContext,
  caller?: ModelCall['caller'],
): Promise<CallStep | Refusal> {
  let step = resolveTarget(read, at)
  if (!isRefusal(step) && step.entry.tool.callers?.includes(caller ?? 'direct') === false)
    return refuse(step, 'denied', at.context.settings.prompts.denied({ name: step.entry.wireName }))
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
    // Computed on first use: only recorded calls need it.
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
  // Failures are counted by target and arguments. Another spelling or wrapper is still the same failure.
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

/** Finds the tool that a call means, first among the tools this conversation declared, then in the catalogue. */
function resolveTarget(read: UnwrappedCall, at: JudgeContext): CallStep | Refusal {
  const { context, state, batch, loader, deferring } = at
  const { asked, input, within } = read
  const { prompts } = context.settings
  const refuse = (reason: Refusal['reason'], text: string, tool = ''): Refusal => ({
    reason,
    text,
    asked,
    tool,
    given: input,
  })
  const [source, ...twins] = within === undefined ? [] : findSources(context, within)
  if (within !== undefined && (!source || twins.length > 0))
    return refuse('unknown', prompts.unknownServer(listNearServers(within, context)))
  const pinned = findPin(asked, at, source)
  if (pinned && !context.catalogue.get(pinned.id)) {
    const text = prompts.unavailable({ name: pinned.wireName, state: 'no longer available' })
    return refuse('unavailable', text, pinned.id)
  }
  const resolution = resolveName(asked, pinned, at, source)
  if (resolution.kind === 'found') {
    const { entry, alias } = resolution
    const hidden = deferring && !isOnSurface(state, entry.id)
    return { ...read, entry, alias, hidden, original: input }
  }
  if (resolution.kind === 'none' && source && source.state !== 'ready')
    return refuse('unavailable', prompts.unavailable({ name: quote(source.name), state: source.state }))
  if (resolution.kind === 'ambiguous') {
    const names = resolution.entries.map((entry) => entry.wireName)
    return refuse('unknown', prompts.ambiguous({ asked: quote(asked), names }))
  }
  if (resolution.kind === 'group') {
    const names = resolution.entries.map((entry) => entry.wireName)
    const load = deferring ? { loader, select: `select:${quoteName(asked)}` } : undefined
    return refuse('unknown', prompts.isGroup({ asked: quote(asked), names, load }))
  }
  const away = findMissingSource(asked, context)
  if (away) return refuse('unavailable', prompts.unavailable(away))
  const close = suggestNames(asked, context, batch)
  const found = {
    asked: quote(asked),
    nearest: close,
    loader: deferring && canFind(context) ? loader : undefined,
  }
  return refuse('unknown', prompts.unknown(found))
}

/** Lists the servers that a wrong server name may mean: the nearest names, or all. */
function listNearServers(asked: string, context: Context): { asked: string; names: string[] } {
  const names = findSources(context).map(({ name }) => name)
  const near = nearest(asked, names)
  return {
    asked: quote(asked, 60),
    names: (near.length > 0 ? near : names).slice(0, 10).map((name) => quote(name, 60)),
  }
}

/**
 * Finds the tool that this conversation declared under exactly this name, even if the catalogue uses the name for
 * another tool now.
 */
function findPin(asked: string, { state, context }: JudgeContext, within?: Source): Pin | undefined {
  const loaded = [...state.tools.loaded.values()].map((each) => each.pin).reverse()
  const named = [...state.tools.eager.values(), ...loaded].filter(
    (pin) => pin.wireName === asked && (!within || within.ids.has(pin.id)),
  )
  // Prefer a tool that still exists: a name may have passed from a removed tool to another.
  return named.find((pin) => context.catalogue.get(pin.id)) ?? named[0]
}

/** Looks among usable tools first, so that a denied or absent tool does not make a name ambiguous. */
function resolveName(asked: string, pinned: Pin | undefined, at: JudgeContext, within?: Source): Resolution {
  const { catalogue, gate } = at.context
  const entry = pinned && catalogue.get(pinned.id)
  if (entry && mayBeKnown(entry, at)) return { kind: 'found', entry, deprecated: false }
  const resolve = (isUsable: (entry: Entry) => boolean) =>
    catalogue.resolve(asked, (each) => (!within || each.source === within.name) && isUsable(each))
  const ready = resolve((each) => gate.availability(each, 'see') === 'ready')
  if (ready.kind === 'found' || ready.kind === 'ambiguous') return ready
  return resolve((each) => mayBeKnown(each, at))
}

/** A denied tool counts as unknown, unless this conversation has already shown it. */
function mayBeKnown(entry: Entry, { state, context }: JudgeContext): boolean {
  if (context.gate.availability(entry, 'see') !== 'denied') return true
  return (
    state.tools.eager.has(entry.id) ||
    state.tools.loaded.has(entry.id) ||
    state.history.announcedIds.has(entry.id)
  )
}
