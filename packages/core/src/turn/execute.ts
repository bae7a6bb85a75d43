/** Runs one call, and makes of what came of it what the model will read. Nothing a tool does throws here. */

import { abortable, lazily } from '../base/async.js'
import { dropUndefined } from '../base/data.js'
import { firstLine, quote } from '../base/text.js'
import type { LedgerLog } from '../ledger/log.js'
import { isMedia, type ResultPart, type ToolResult, toolResult } from '../result/part.js'
import type { Context } from '../surface/context.js'
import { BRIDGE_NAME, READER_ID, READER_NAME } from '../surface/meta-tools.js'
import type { Notice } from '../tool/notice.js'
import type { ToolProgress } from '../tool/tool.js'
import { type PreparedResult, prepareResult } from './content.js'
import { listSeenSources } from './seen-sources.js'
import type { Outcome, TargetCall, Verdict } from './verdict.js'

/** Runs the real target. Throwing, or rejecting, is a failed call: the model reads the message. */
export type Execute = (call: TargetCall, signal: AbortSignal | undefined) => unknown

export interface RunOptions {
  /** Default: the tool's own `execute`. Put permissions and approval prompts here: it sees the target, never a wrapper. */
  readonly execute?: Execute
  readonly signal?: AbortSignal
  /** Signs of progress of the calls under way. */
  readonly onProgress?: (progress: ToolProgress & { readonly callId: string; readonly tool: string }) => void
}

export interface Runner {
  readonly log: LedgerLog
  /** The event with which the history of the last request begins: what was started before is another call. */
  readonly historyStart: number
  context(): Context
  notify(notice: Notice): void
  /** A result is kept: from now on this conversation has the tool that reads it. */
  offerReader(): void
}

/** What came of a call, and what of it is kept. */
export interface Execution {
  readonly outcome: Outcome
  readonly result?: PreparedResult
  /** Where it failed: the beginning of what it said, or why that cannot be shown. */
  readonly detail?: string
}

/** Few conversations have a result that is kept. */
const importReader = lazily(() => import('./read-kept.js'))

export async function execute(
  verdict: Extract<Verdict, { kind: 'run' }>,
  options: RunOptions,
  runner: Runner,
): Promise<Execution> {
  const context = runner.context()
  const { entry, target } = verdict
  // What is kept is the conversation's own: no host runs this.
  if (entry.id === READER_ID) {
    const { readKeptResult } = await importReader()
    const text = await readKeptResult(target.input, runner.log.state, context)
    return { outcome: { kind: 'result', tool: entry.id, value: text, text } }
  }
  const { timeout } = entry.tool
  const late = () => runner.notify({ kind: 'late-result-dropped', tool: entry.id, callId: target.callId })
  try {
    const value = await runWithTimeLimit(
      (signal) =>
        (options.execute ?? runTool)(
          createTargetCall(verdict, options, signal, context, runner.log.id),
          signal,
        ),
      timeout,
      options.signal,
      late,
    )
    return await createOutcome(verdict, value instanceof Error ? createFailure(value) : value, runner)
  } catch (error) {
    if (error instanceof TimeLimitError)
      return { outcome: createTimeout(verdict, (timeout ?? 0) / 1000, context) }
    return createOutcome(verdict, createFailure(error), runner)
  }
}

/** Thrown or returned: it is the same failure. */
function createFailure(error: unknown): ToolResult {
  return toolResult([{ type: 'text', text: describeError(error) }], { isError: true })
}

function createTimeout(
  { entry, asked }: Extract<Verdict, { kind: 'run' }>,
  seconds: number,
  { settings }: Context,
): Outcome {
  const text = settings.prompts.timedOut({ name: entry.wireName, seconds })
  return { kind: 'timed-out', tool: entry.id, asked, text }
}

/** Its value as the model will read it. One that cannot be written down is an error, although the tool ran. */
async function createOutcome(
  { entry, asked, call }: Extract<Verdict, { kind: 'run' }>,
  value: unknown,
  { log, context, offerReader: keeps }: Runner,
): Promise<Execution> {
  const at = context()
  const { prompts } = at.settings
  const bridge = log.state.frozen?.delivery === 'bridge' ? BRIDGE_NAME : undefined
  const { wireName: name } = entry
  const failed = { kind: 'error', tool: entry.id, asked } as const
  const content = await prepareResult(
    value,
    { entry, anchor: call.anchor, ledger: log.id, bridge, reader: READER_NAME },
    at,
  )
  if ('problem' in content) {
    const problem = firstLine(content.problem, 300)
    const detail = `its result cannot be shown: ${problem}`
    return { outcome: { ...failed, text: prompts.unprintable({ name, problem }) }, detail }
  }
  if (content.readable) keeps()
  const { isError, parts } = content
  const said = content.text === '' ? prompts.noOutput() : content.text
  const kept = content.kept.length > 0 ? { kept: content.kept.map(({ handle }) => handle) } : {}
  if (!isError)
    return {
      outcome: { kind: 'result', tool: entry.id, value, text: said, ...dropUndefined({ parts }), ...kept },
      result: content,
    }
  const text = prompts.failed({ name, error: content.text })
  const detail = quote(content.text)
  if (!parts) return { outcome: { ...failed, text, ...kept }, result: content, detail }
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const first: ResultPart = { type: 'text', text: prompts.failed({ name, error: words }) }
  return {
    outcome: { ...failed, text, parts: [first, ...parts.filter(isMedia)], ...kept },
    result: content,
    detail,
  }
}

/** Anything can be thrown, even what cannot be turned into text. */
function describeError(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error)
  } catch {
    return 'something that cannot be described'
  }
}

function createTargetCall(
  { target }: Extract<Verdict, { kind: 'run' }>,
  { onProgress }: RunOptions,
  signal: AbortSignal | undefined,
  context: Context,
  conversation: string,
): TargetCall {
  const { callId, id } = target
  return {
    ...target,
    context: {
      callId,
      conversation,
      principal: context.principal,
      sources: (named) => listSeenSources(context, named),
      ...(signal ? { signal } : {}),
      ...(onProgress ? { onProgress: (progress) => onProgress({ callId, tool: id, ...progress }) } : {}),
    },
  }
}

function runTool({ tool, input, context }: TargetCall): unknown {
  if (!tool.execute) throw new Error('this tool has no implementation; the host has to run it')
  return tool.execute(input, context)
}

// Ends the wait for a call when its time is over. The call is told to stop; what it gives afterwards is dropped.

/** Thrown when the time is over: whether the call took effect is not known. */
export class TimeLimitError extends Error {}

/**
 * Runs the work with a signal that ends with the host's, or when `limit` milliseconds are over. Without a limit the host's signal
 * is passed on as it is. `onLate` hears of a result that came after the limit.
 */
export async function runWithTimeLimit<T>(
  work: (signal: AbortSignal | undefined) => T | Promise<T>,
  limit: number | undefined,
  signal: AbortSignal | undefined,
  onLate: () => void,
): Promise<T> {
  signal?.throwIfAborted()
  if (limit === undefined) return abortable(Promise.resolve(work(signal)), signal)
  const expiry = new AbortController()
  const running = Promise.resolve(work(signal ? AbortSignal.any([signal, expiry.signal]) : expiry.signal))
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = new TimeLimitError(`the time limit of ${limit} ms is over`)
      reject(reason)
      running.then(onLate, onLate)
      expiry.abort(reason)
    }, limit)
  })
  try {
    return await Promise.race([abortable(running, signal), over])
  } finally {
    clearTimeout(timer)
  }
}
