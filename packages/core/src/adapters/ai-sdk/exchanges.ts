/** Begins requests, and runs the calls that the SDK starts, in batches. */

import type { Usage } from '../../accounting/measurement.js'
import { abortable } from '../../base/async.js'
import { isRecord } from '../../base/data.js'
import { invalid } from '../../base/options.js'
import { quote } from '../../base/text.js'
import { adapterPort, type Conversation } from '../../conversation.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import type { SurfaceView } from '../../surface/project.js'
import type { CallAnswer, Execute } from '../../turn/run.js'
import type { TargetCall } from '../../turn/verdict.js'
import { createAdapter } from '../shared/adapter.js'
import { placeAnchors } from '../shared/anchors.js'
import { findServerState, refuseServerState } from '../shared/check-input.js'
import { readFigure } from '../shared/stream.js'
import { argumentsObject, type UnitCall } from '../shared/thread.js'
import { IGNORED, ignoresSearch } from '../shared/tools.js'
import type { Exchange } from './model.js'
import { createReplyReader } from './model.js'
import {
  chooseNativeWay,
  countCleared,
  detectProtocol,
  isRefusal,
  keepsThinking,
  type NativeOptions,
  type NativeWay,
} from './protocol.js'
import { readMessages, restoreWritten } from './read.js'
import { declareTools, findCode, type Registry } from './registry.js'
import { readLast } from './results.js'
import { hasSearch, unwrapSearch } from './tool-search.js'
import { findImported, parseTextArguments } from './tools.js'
import type { AiCallOptions, AiExecuteOptions, AiMessage, AiModel } from './types.js'
import { aiWire } from './wire.js'

/** The number of replies to remember. Only the last has calls to start, but requests may overlap. */
const REMEMBERED = 8

/** Keeps a batch open for a moment, because more calls may start. */
const NEVER: UnitCall = { id: '', name: '', input: { value: {} } }

const UNSEEN =
  'the model was called without Toolwell: spread all of its settings into the call, including prepareStep, or wrap the model with model(…) of aiSdk'

export interface Exchanges {
  open(model: AiModel, options: AiCallOptions): Promise<Exchange>
  /** Runs a call that the SDK started. `shown`: the SDK's name of the tool. */
  start(shown: string, input: unknown, options: AiExecuteOptions): Promise<CallAnswer>
  /** Records that the SDK could not read the arguments of a call. */
  spoil(callId: string, problem: string): void
  readonly view: SurfaceView | undefined
  /** How the provider of the last request reveals tools; undefined if it does not. */
  readonly way: NativeWay | undefined
}

export function createExchanges(
  conversation: Conversation,
  registry: Registry,
  { execute: host, ...options }: { readonly execute?: Execute } & NativeOptions,
): Exchanges {
  const port = adapterPort(conversation)
  const batches: Batch[] = []
  const late = new WeakMap<readonly AiMessage[], Batch>()
  const warned = new Set<string>()
  /** Providers that turned out not to reveal tools. */
  const unable = new Set<string>()
  let view: SurfaceView | undefined
  let way: NativeWay | undefined

  const warn = (warnings: readonly string[]) =>
    warnings.flatMap((warning) => {
      if (warned.has(warning)) return []
      warned.add(warning)
      return [{ type: 'other' as const, message: `Toolwell: ${warning}` }]
    })

  /**
   * Runs calls of a history, not of a reply: they were approved, and run before the first request. Calls that are in
   * no history come from a request that Toolwell did not make.
   */
  const runLate = async (messages: readonly AiMessage[], some: readonly Started[]) => {
    const anchors = placeAnchors(readMessages(messages))
    const made = new Map<string, string>()
    for (const { unit, calls } of anchors.placed)
      if (unit.kind === 'assistant')
        for (const [index, { id }] of unit.calls.entries()) made.set(id, calls[index] ?? '')
    if (some.some(({ call }) => !made.has(call.id))) {
      port.warn('request-unseen', UNSEEN)
      if (some.some(({ call }) => call.name === conversation.loader)) throw invalid('settings', UNSEEN)
    }
    const calls = some.map(({ call: { id, name, input } }) => ({
      callId: id,
      anchor: made.get(id) ?? anchors.next(id),
      name,
      input,
    }))
    return conversation.run(calls, { execute: targetRunner(some, registry, host) })
  }

  return {
    get view() {
      return view
    },
    get way() {
      return way
    },

    async open(model, asked) {
      const { provider } = model
      for (const [name, given] of Object.entries(
        isRecord(asked.providerOptions) ? asked.providerOptions : {},
      )) {
        const state = findServerState(given)
        if (state !== undefined)
          throw refuseServerState(`providerOptions.${name}.${state}`, `The setting ${quote(state)}`)
      }
      const protocol = detectProtocol(provider)
      const possible = unable.has(provider) ? undefined : chooseNativeWay(model, options)
      const given = asked.tools ?? []
      const names = new Set(given.map(({ name }) => name))
      const others = given.flatMap(({ name }) => (registry.has(name) ? [] : [name]))
      let cleared = 0
      const wire = aiWire(protocol, port.prompts, {
        beside: others,
        way: possible,
        given: (name) => names.has(name),
        keepsThinking: keepsThinking(asked),
        runsCode: findCode(given) !== undefined,
        countCleared: () => cleared,
        mistral: /^mistral\b/.test(provider),
      })
      const turn = await createAdapter(conversation, wire).begin(restoreWritten(asked.prompt))
      view = turn.view
      way = view.delivery === 'native' ? possible : undefined
      const { prompts } = port
      const { tools, missing, inText } = declareTools(given, registry, turn.view, protocol, prompts, way)
      const search = way === 'tool-search' ? view.loader : undefined
      const batch = createBatch(async (some) => {
        const execute = targetRunner(some, registry, host)
        return (
          await turn.run(
            some.map(({ call }) => call),
            { execute },
          )
        ).answers
      })
      batches.push(batch)
      if (batches.length > REMEMBERED) batches.shift()
      const lost =
        missing.length > 0
          ? [`the SDK was not given ${missing.join(', ')}: pass "tools" of aiSdk unchanged`]
          : []
      const { tools: _, toolChoice, ...rest } = asked
      return {
        options: {
          ...rest,
          prompt: turn.parts.prompt,
          ...(tools.length > 0 ? { tools, toolChoice } : {}),
          // A stream shows only there whether the server ignores the search.
          ...(search === undefined ? {} : { includeRawChunks: true }),
        },
        warnings(sent, received) {
          const isIgnored = isRecord(sent) && ignoresSearch(received, sent.tools)
          const dropped = search !== undefined && (!hasSearch(sent) || isIgnored)
          if (dropped) unable.add(provider)
          const old = `${isIgnored ? 'the server' : provider} dropped the tool search; from the next request on, it is a function`
          return warn([...turn.warnings.map(({ text }) => text), ...lost, ...(dropped ? [old] : [])])
        },
        reader: createReplyReader({
          bridge: turn.view.bridge,
          known: (name) => names.has(name) && (turn.view.mode === 'off' || registry.isWireName(name)),
          isBeside: (name) => names.has(name) && !registry.has(name),
          targetOf: (name) => {
            const target = registry.nameOf(name)
            return target !== undefined && names.has(target) ? target : undefined
          },
          wraps: (name) => name === search || inText.has(name),
          unwrapped: (call) => (call.toolName === search ? unwrapSearch(call) : parseTextArguments(call)),
          found: batch.expect,
        }),
        async close({ usage, providerMetadata, sent, received }) {
          cleared = countCleared(providerMetadata)
          if (search !== undefined && isRecord(sent) && ignoresSearch(received, sent.tools))
            await port.giveUpDelivery(turn.view.requestId, IGNORED, true)
          batch.close()
          const given = readUsage(usage)
          const { requestId } = turn.view
          // A store that fails to record usage must not end the loop.
          if (given.inputTokens !== undefined)
            await conversation.recordRequest({ requestId, ...given }).catch(() => undefined)
        },
        refused: async (error) => view?.delivery === 'native' && isRefusal(error) && turn.refused(error),
      }
    },

    start(shown, input, options) {
      const batch = batches.findLast((each) => each.expects(options.toolCallId))
      if (batch) return batch.start(shown, options)
      const waiting = late.get(options.messages) ?? createBatch((some) => runLate(options.messages, some))
      late.set(options.messages, waiting)
      waiting.expect(NEVER)
      waiting.expect(lateCall(shown, input, options.toolCallId))
      waiting.close()
      return waiting.start(shown, options)
    },

    spoil(callId, problem) {
      batches.findLast((each) => each.expects(callId))?.spoil(callId, problem)
    },
  }
}

/** Unwraps a call whose name had to be wrapped for the SDK. */
function lateCall(shown: string, input: unknown, id: string): UnitCall {
  const value = isRecord(input) ? input : {}
  if (shown !== BRIDGE_NAME || typeof value.name !== 'string')
    return { id, name: shown, input: { value: input } }
  return { id, name: value.name, input: { value: argumentsObject({ value: value.arguments ?? {} }) } }
}

/** Reads the usage of a model: plain numbers, or grouped numbers from specification version 3 on. */
function readUsage(usage: unknown): Usage {
  return {
    inputTokens: readFigure(usage, 'inputTokens', 'total') ?? readFigure(usage, 'inputTokens'),
    cachedTokens: readFigure(usage, 'inputTokens', 'cacheRead') ?? readFigure(usage, 'cachedInputTokens'),
    outputTokens: readFigure(usage, 'outputTokens', 'total') ?? readFigure(usage, 'outputTokens'),
  }
}

/**
 * Runs the tool that a call means, with everything that the SDK passes to a tool. `host`: the host's function that
 * runs tools.
 */
function targetRunner(some: readonly Started[], registry: Registry, host: Execute | undefined): Execute {
  const started = new Map(some.map((each) => [each.call.id, each]))
  return async (target) => {
    const { shown = '', options } = started.get(target.callId) ?? {}
    // The SDK asked its hooks and approvals about the tool it was shown. If the call means another tool, nobody
    // approved it.
    if (registry.entryOf(shown)?.id !== target.id)
      throw new Error(`it can be called as ${quote(target.wireName)} only`)
    const signal = options?.abortSignal
    signal?.throwIfAborted()
    // Each call may have its own time limit, so the batch does not set it.
    return abortable(run(target, options, host), signal)
  }
}

async function run(
  target: TargetCall,
  options: Started['options'] | undefined,
  host: Execute | undefined,
): Promise<unknown> {
  const { callId, input, tool, context } = target
  const imported = findImported(tool)
  const signal = options?.abortSignal
  if (imported?.tool.execute && options)
    return readLast(imported.tool.execute(input, { ...options, toolCallId: callId }))
  if (host) return host(target, signal)
  if (!tool.execute) throw new Error('this tool has no implementation; the host has to run it')
  return tool.execute(input, { ...context, ...(signal ? { signal } : {}) })
}

/** A call that the SDK started. */
interface Started {
  readonly call: UnitCall
  /** The SDK's name of the tool. */
  readonly shown: string
  readonly options: AiExecuteOptions
}

interface Batch {
  /** Adds a call of the reply. Some calls are not started, because they wait for an approval. */
  expect(call: UnitCall): void
  /** Marks the reply as complete. */
  close(): void
  expects(callId: string): boolean
  /** Records that the SDK could not read the arguments. */
  spoil(callId: string, problem: string): void
  start(shown: string, options: AiExecuteOptions): Promise<CallAnswer>
}

function createBatch(run: (some: readonly Started[]) => Promise<readonly CallAnswer[]>): Batch {
  const calls = new Map<string, UnitCall>()
  const expected = new Set<string>()
  let started: (Started & Settle)[] = []
  let closed = false
  let timer: ReturnType<typeof setTimeout> | undefined

  const flush = () => {
    clearTimeout(timer)
    const order = [...calls.keys()]
    const some = started.sort((a, b) => order.indexOf(a.call.id) - order.indexOf(b.call.id))
    started = []
    run(some).then(
      (answers) => {
        for (const [index, each] of some.entries()) each.resolve(answers[index] as CallAnswer)
      },
      (error: unknown) => {
        for (const each of some) each.reject(error)
      },
    )
  }
  const next = () => {
    if (!closed || started.length === 0) return
    if (expected.size === 0) return flush()
    // A call that is not started with the others waits for an approval or for another call.
    clearTimeout(timer)
    timer = setTimeout(flush, 0)
  }

  return {
    expect(call) {
      calls.set(call.id, call)
      expected.add(call.id)
    },
    close() {
      closed = true
      next()
    },
    expects: (callId) => expected.has(callId),
    spoil(callId, problem) {
      const call = calls.get(callId)
      if (call) calls.set(callId, { ...call, input: { unparsable: call.text ?? '', problem } })
    },
    start: (shown, options) =>
      new Promise((resolve, reject) => {
        const call = calls.get(options.toolCallId)
        if (!call) throw new Error(`no call has the id ${options.toolCallId}`)
        expected.delete(call.id)
        started.push({ call, shown, options, resolve, reject })
        next()
      }),
  }
}

interface Settle {
  resolve(answer: CallAnswer): void
  reject(error: unknown): void
}
