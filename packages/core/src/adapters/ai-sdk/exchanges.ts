/** Requests and the calls they led to: a request is begun here, and a call that the SDK starts finds its batch here. */

import { isRecord } from '../../base/data.js'
import { invalid } from '../../base/options.js'
import { adapterPort, type Conversation } from '../../conversation.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import type { SurfaceView } from '../../surface/project.js'
import type { CallAnswer, Execute } from '../../turn/run.js'
import { createAdapter } from '../shared/adapter.js'
import { anchorsOf } from '../shared/anchors.js'
import { asKeys } from '../shared/recall.js'
import { argumentsObject, type UnitCall } from '../shared/thread.js'
import { type Batch, createBatch, type Started } from './batch.js'
import { declare } from './declare.js'
import { restored } from './marks.js'
import type { Exchange } from './model.js'
import { type NativeOptions, type NativeWay, nativeWay } from './native-way.js'
import { protocolOf } from './protocol.js'
import { readMessages } from './read.js'
import { isRefusal } from './refusal.js'
import type { Registry } from './registry.js'
import { createReplyReader } from './reply.js'
import { targetRunner } from './targets.js'
import { withOwnArguments } from './text-arguments.js'
import { keepsThinking } from './thinking.js'
import { holdsSearch, unwrapped } from './tool-search.js'
import type { AiCallOptions, AiExecuteOptions, AiMessage, AiModel } from './types.js'
import { readUsage } from './usage.js'
import { aiWire } from './wire.js'

/** So many replies are remembered: only the last has calls that are still to be started, but requests may overlap. */
const REMEMBERED = 8

/** Keeps a batch waiting for a moment: nobody knows what else will be started. */
const NEVER: UnitCall = { id: '', name: '', input: { value: {} } }

const UNSEEN =
  'the model was asked without Toolwell: spread all of its settings into the call, prepareStep too, or wrap the model object with model(…) of aiSdk'

export interface Exchanges {
  open(model: AiModel, options: AiCallOptions): Promise<Exchange>
  /** The SDK has started a call of the tool that it knows by this name. */
  start(shown: string, input: unknown, options: AiExecuteOptions): Promise<CallAnswer>
  /** The SDK could not read the arguments of a call. */
  spoil(callId: string, problem: string): void
  readonly view: SurfaceView | undefined
  /** How the provider of the last request reveals tools; undefined where it does not. */
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
  const told = new Set<string>()
  /** Providers that have shown that they cannot reveal tools. */
  const unable = new Set<string>()
  let view: SurfaceView | undefined
  let way: NativeWay | undefined

  const warn = (warnings: readonly string[]) =>
    warnings.flatMap((warning) => {
      if (told.has(warning)) return []
      told.add(warning)
      return [{ type: 'other' as const, message: `Toolwell: ${warning}` }]
    })

  /**
   * Calls of a history, not of a reply: they were approved, and run before the first request. Those that no history holds come of
   * a request that was not made here.
   */
  const runLate = async (messages: readonly AiMessage[], some: readonly Started[]) => {
    const anchors = anchorsOf(readMessages(asKeys(messages)))
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
      const protocol = protocolOf(provider)
      const possible = unable.has(provider) ? undefined : nativeWay(model, options)
      const given = asked.tools ?? []
      const names = new Set(given.map(({ name }) => name))
      const others = given.flatMap(({ name }) => (registry.has(name) ? [] : [name]))
      const wire = aiWire(protocol, port.prompts, {
        beside: others,
        way: possible,
        given: (name) => names.has(name),
        keepsThinking: keepsThinking(asked),
        mistral: /^mistral\b/.test(provider),
      })
      const turn = await createAdapter(conversation, wire).begin(restored(asked.prompt))
      view = turn.view
      way = view.delivery === 'native' ? possible : undefined
      const { prompts } = port
      const { tools, missing, inText } = declare(given, registry.has, turn.view, protocol, prompts, way)
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
          ? [`the SDK was not given ${missing.join(', ')}: use "tools" of aiSdk as it is`]
          : []
      const { tools: _, toolChoice, ...rest } = asked
      return {
        options: {
          ...rest,
          prompt: turn.parts.prompt,
          ...(tools.length > 0 ? { tools, toolChoice } : {}),
        },
        warnings(sent) {
          const dropped = search !== undefined && !holdsSearch(sent)
          if (dropped) unable.add(provider)
          const old = `${provider} has left out the tool search; from the next request on it is a function`
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
          unwrapped: (call) => (call.toolName === search ? unwrapped(call) : withOwnArguments(call)),
          found: batch.expect,
        }),
        async close(usage) {
          batch.close()
          const given = readUsage(usage)
          const { requestId } = turn.view
          // A store that cannot take a figure must not end the loop.
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

/** A name that had to be wrapped for the SDK comes out of its wrapper again. */
function lateCall(shown: string, input: unknown, id: string): UnitCall {
  const value = isRecord(input) ? input : {}
  if (shown !== BRIDGE_NAME || typeof value.name !== 'string')
    return { id, name: shown, input: { value: input } }
  return { id, name: value.name, input: { value: argumentsObject({ value: value.arguments ?? {} }) } }
}
