/**
 * Runs one call and turns its result, or its failure, into the text that the model reads. A tool cannot make it throw.
 */

import { abortable, lazily } from '../base/async.js'
import { dropUndefined } from '../base/data.js'
import { isInstance } from '../base/errors.js'
import type { Span } from '../base/telemetry.js'
import { firstLine, quote } from '../base/text.js'
import type { LedgerLog } from '../ledger/log.js'
import { isMedia, type ResultPart, type ToolResult, toolResult } from '../result/part.js'
import type { Context } from '../surface/context.js'
import { BRIDGE_NAME, READER_ID, READER_NAME } from '../surface/meta-tools.js'
import type { Notice } from '../tool/notice.js'
import type { ToolProgress } from '../tool/tool.js'
import { type PreparedResult, prepareResult } from './prepare-result.js'
import { listSeenSources } from './sources.js'
import type { Outcome, TargetCall, Verdict } from './verdict.js'

/** Runs the target. If it throws or rejects, the call has failed, and the model reads the message. */
export type Execute = (call: TargetCall, signal: AbortSignal | undefined) => unknown

export interface RunOptions {
  /** Replaces the tool's own `execute`. Ask for permission here: the call is the target, never a wrapper. */
  readonly execute?: Execute
  readonly signal?: AbortSignal
  /** Receives the progress of running calls. */
  readonly onProgress?: (progress: ToolProgress & { readonly callId: string; readonly tool: string }) => void
}

export interface Runner {
  readonly log: LedgerLog
  /** The id of the first event of the last request's history. Calls that were started earlier are other calls. */
  readonly historyStart: number
  context(): Context
  notify(notice: Notice): void
  /** Adds the tool that reads kept results to this conversation. */
  offerReader(): void
}

/** The outcome of a call that ran. */
export interface Execution {
  readonly outcome: Outcome
  readonly result?: PreparedResult
  /** If it failed: the start of its message, or the reason why the message cannot be shown. */
  readonly detail?: string
}

const importReader = lazily(() => import('./read-kept-result.js'))

export async function execute(
  verdict: Extract<Verdict, { kind: 'run' }>,
  options: RunOptions,
  runner: Runner,
): Promise<Execution> {
  const { telemetry } = runner.context().settings
  const { target } = verdict
  const span = telemetry?.start({
    name: `execute_tool ${target.wireName}`,
    kind: 'internal',
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': target.wireName,
      'gen_ai.tool.call.id': target.callId,
      'gen_ai.conversation.id': runner.log.id,
    },
  })
  if (!span) return runTarget(verdict, options, runner, undefined)
  const execution = await span.run(() => runTarget(verdict, options, runner, span))
  span.end(SPAN_ERRORS[execution.outcome.kind])
  return execution
}

/** Values of `error.type`, by outcome. */
const SPAN_ERRORS: Partial<Record<Outcome['kind'], string>> = { error: 'tool_error', 'timed-out': 'timeout' }

async function runTarget(
  verdict: Extract<Verdict, { kind: 'run' }>,
  options: RunOptions,
  runner: Runner,
  span: Span | undefined,
): Promise<Execution> {
  const context = runner.context()
  const { entry, target } = verdict
  // Kept results belong to the conversation, so `options.execute` does not run their reader.
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
          createTargetCall(verdict, options, signal, context, runner.log.id, span),
          signal,
        ),
      timeout,
      options.signal,
      late,
    )
    return await createOutcome(verdict, value instanceof Error ? createFailure(value) : value, runner)
  } catch (error) {
    if (isInstance(error, TimeLimitError))
      return { outcome: createTimeout(verdict, (timeout ?? 0) / 1000, context) }
    return createOutcome(verdict, createFailure(error), runner)
  }
}

/** Creates the result of a call that threw or returned an error. */
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

/** Turns a value into an outcome. A value that cannot be written as text is an error, although the tool ran. */
async function createOutcome(
  { entry, asked, call }: Extract<Verdict, { kind: 'run' }>,
  value: unknown,
  { log, context, offerReader }: Runner,
): Promise<Execution> {
  const at = context()
  const { prompts } = at.settings
  const bridge = log.state.frozen?.delivery === 'bridge' ? BRIDGE_NAME : undefined
  const { wireName: name } = entry
  const failed = { kind: 'error', tool: entry.id, asked } as const
  const result = await prepareResult(
    value,
    { entry, anchor: call.anchor, ledger: log.id, bridge, reader: READER_NAME },
    at,
  )
  if ('problem' in result) {
    const problem = firstLine(result.problem, 300)
    const detail = `its result cannot be shown: ${problem}`
    return { outcome: { ...failed, text: prompts.unprintable({ name, problem }) }, detail }
  }
  if (result.readable) offerReader()
  const { isError, parts } = result
  const said = result.text === '' ? prompts.noOutput() : result.text
  const kept = result.kept.length > 0 ? { kept: result.kept.map(({ handle }) => handle) } : {}
  if (!isError)
    return {
      outcome: { kind: 'result', tool: entry.id, value, text: said, ...dropUndefined({ parts }), ...kept },
      result,
    }
  const text = prompts.failed({ name, error: result.text })
  const detail = quote(result.text)
  if (!parts) return { outcome: { ...failed, text, ...kept }, result, detail }
  const words = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
  const first: ResultPart = { type: 'text', text: prompts.failed({ name, error: words }) }
  return {
    outcome: { ...failed, text, parts: [first, ...parts.filter(isMedia)], ...kept },
    result,
    detail,
  }
}

/** Any value can be thrown, even if `String` fails on it. */
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
  span: Span | undefined,
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
      ...(span ? { span } : {}),
      ...(onProgress ? { onProgress: (progress) => onProgress({ callId, tool: id, ...progress }) } : {}),
    },
  }
}

function runTool({ tool, input, context }: TargetCall): unknown {
  if (!tool.execute) throw new Error('this tool has no implementation; the host has to run it')
  return tool.execute(input, context)
}

/** The time limit is over. The call may still have had its effect. */
export class TimeLimitError extends Error {}

/**
 * Runs the work for at most `limit` milliseconds. Its signal aborts with the host's signal, or when the time is over. A
 * later result is dropped and reported to `onLate`.
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
