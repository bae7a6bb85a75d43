/**
 * `@toolwell/core/ai-sdk`: AI SDK 6 and 7, for `generateText`, `streamText` and agents. It imports no SDK: that keeps its
 * loop, its hooks and its types, and Toolwell stands before its model.
 */

import { assertKnownKeys } from '../../base/options.js'
import { adapterPort, type Conversation } from '../../conversation.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Execute } from '../../turn/run.js'
import { type Adapter, createAdapter } from '../shared/adapter.js'
import { argumentsObject, readArguments } from '../shared/thread.js'
import { createExchanges, type Exchanges } from './exchanges.js'
import { loaderOutput, loaderResult } from './found.js'
import { wrapModel } from './model.js'
import { type AiTool, createRegistry } from './registry.js'
import { repairHistory } from './repair-history.js'
import { askedOutput, createResults } from './results.js'
import { importedOf } from './tools.js'
import { type AiMessage, WIRE } from './types.js'
import { type AiParts, type AiReply, aiWire } from './wire.js'

export type { Described } from '../shared/import-tools.js'
export type { AiTool } from './registry.js'
export type { AiSchema } from './schema.js'
export { type AsSchema, importTools } from './tools.js'
export type { AiExecuteOptions, AiMessage } from './types.js'
export type { AiParts, AiReply } from './wire.js'

export interface AiSdkOptions {
  /** Tools of the SDK that Toolwell shall leave alone: those a provider defines or runs. They stand first in every request. */
  readonly beside?: Readonly<Record<string, object>>
  /** Runs what was not imported from the SDK. Default: the tool's own `execute`. It sees the target, never a wrapper. */
  readonly execute?: Execute
  /**
   * Whether the provider may reveal tools itself: Anthropic by references, OpenAI's Responses API by its tool search.
   * Default true; false for servers and models that cannot.
   */
  readonly native?: boolean
  /**
   * Anthropic: whether tools may be added and removed by system messages between the others. Default false: it is a beta,
   * whose header the provider sends by itself.
   */
  readonly toolChanges?: boolean
}

/** A call as the SDK's repair hook gets and gives it. */
interface Repairable {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
}

export interface AiSdkSettings<Tools extends object> {
  readonly tools: Tools
  /** With a `prepareStep` of your own, call this one in it, and keep `model` and `messages` of what it gives. */
  prepareStep<Model, Message>(step: {
    readonly model: Model
    readonly messages: Message[]
  }): Promise<{ model: Model; messages?: Message[] }>
  experimental_repairToolCall<Call extends Repairable>(failed: {
    readonly toolCall: Call
    readonly error: Error
  }): Promise<Call | null>
}

/**
 * Your tools by the names that calls and results have: a tool of a source is called behind its name, as `billing__send_invoice`,
 * and one without a source by its own.
 */
export type CallableTools<Tools extends object> = {
  [Name in keyof Tools as Name extends string
    ? string extends Name
      ? Name
      : Name | `${string}__${Name}`
    : never]: Tools[Name]
}

type Kept = 'compact' | 'fork' | 'importHistory' | 'thread' | 'adopt'

export interface AiSdk<Message extends AiMessage = AiMessage, Tools extends object = Record<string, AiTool>>
  extends Pick<Adapter<Message, AiReply, AiParts>, Kept> {
  /** Spread these into `generateText`, `streamText` or the settings of an agent. */
  readonly settings: AiSdkSettings<CallableTools<Tools>>
  /** A model with Toolwell before it, where you choose one in a `prepareStep` of your own. */
  model<Model>(model: Model): Model
  /** What the last request got; its `requestId` is the one for `recordRequest`. */
  readonly view: SurfaceView | undefined
}

/** `aiSdk<ModelMessage, typeof tools>(…)` gives results the types of the SDK and of your tools, with a source and without. */
export function aiSdk<Message extends AiMessage = AiMessage, Tools extends object = Record<string, AiTool>>(
  conversation: Conversation,
  options: AiSdkOptions = {},
): AiSdk<Message, Tools> {
  assertKnownKeys(options, ['beside', 'execute', 'native', 'toolChanges'], 'aiSdk')
  const { prompts } = adapterPort(conversation)
  const { beside = {}, execute } = options
  const results = createResults(() => prompts.noOutput())
  const registry = createRegistry(conversation.catalogue, beside, {
    loader: conversation.loader,
    runsAll: execute !== undefined,
    async run(name, input, options) {
      const answer = await exchanges.start(name, input, options)
      if (registry.isMeta(name)) return loaderOutput(answer, exchanges.way)
      const output = results.output(answer)
      const tool = registry.entryOf(name)?.tool
      // To Mastra a call without a value has not run, and its loop ends. What was written for the SDK keeps its type.
      return output === undefined && tool && !importedOf(tool) ? answer.text : output
    },
    modelOutput: (name, entry, asked) =>
      registry.isMeta(name)
        ? loaderResult(askedOutput(asked).output)
        : results.modelOutput(entry?.tool, asked),
  })
  const exchanges: Exchanges = createExchanges(conversation, registry, options)
  const wrap = <Model>(model: Model): Model => wrapModel(model, exchanges.open)
  // Messages that are written here have the documented shapes, whatever type names them.
  const adapter = createAdapter(conversation, aiWire(WIRE, prompts, { stored: true })) as unknown as Adapter<
    Message,
    AiReply,
    AiParts
  >

  return {
    compact: adapter.compact,
    fork: adapter.fork,
    importHistory: adapter.importHistory,
    thread: adapter.thread,
    adopt: adapter.adopt,
    model: wrap,
    get view() {
      return exchanges.view
    },
    settings: {
      tools: registry.tools as unknown as CallableTools<Tools>,

      async prepareStep(step) {
        registry.update()
        const messages = repairHistory(step.messages as unknown as readonly AiMessage[], prompts)
        return {
          model: wrap(step.model),
          ...(messages ? { messages: messages as unknown as typeof step.messages } : {}),
        }
      },

      // Calls are read before the SDK reads them; this is for what it refuses to parse all the same.
      async experimental_repairToolCall({ toolCall, error }) {
        const { toolCallId, toolName, input } = toolCall
        if (toolName in registry.tools && !registry.has(toolName)) return null
        if (registry.has(toolName)) {
          exchanges.spoil(toolCallId, error.message)
          return { ...toolCall, input: JSON.stringify({ unparsable: input }) }
        }
        const wrapped = { name: toolName, arguments: argumentsObject(readArguments(input)) }
        return { ...toolCall, toolName: BRIDGE_NAME, input: JSON.stringify(wrapped) }
      },
    },
  }
}
