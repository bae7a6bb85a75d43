/**
 * `@toolwell/core/ai-sdk`: AI SDK 6 and 7, for `generateText`, `streamText` and agents. It does not import the SDK.
 * The SDK keeps its loop, hooks and types; Toolwell wraps its model.
 */

import { assertKnownKeys } from '../../base/options.js'
import { adapterPort, type Conversation } from '../../conversation.js'
import { createState } from '../../ledger/fold.js'
import { BRIDGE_NAME } from '../../surface/meta-tools.js'
import { project, type SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Execute } from '../../turn/run.js'
import { type Adapter, createAdapter } from '../shared/adapter.js'
import { placeAnchors } from '../shared/anchors.js'
import { repairHistory } from '../shared/repair.js'
import { argumentsObject, readArguments } from '../shared/thread.js'
import { createExchanges, type Exchanges } from './exchanges.js'
import { writeLoaderOutput, writeLoaderResult } from './found.js'
import { wrapModel } from './model.js'
import { readMessages } from './read.js'
import { type AiTool, createRegistry } from './registry.js'
import { createResults, readAskedOutput } from './results.js'
import { findImported } from './tools.js'
import { type AiMessage, isCall, isResult, listParts, WIRE } from './types.js'
import { type AiParts, type AiReply, aiWire } from './wire.js'
import { writeMessages } from './write.js'

export type { Described } from '../shared/tools.js'
export type { AiTool } from './registry.js'
export type { AiSchema } from './tools.js'
export { type AsSchema, importTools } from './tools.js'
export type { AiExecuteOptions, AiMessage } from './types.js'
export type { AiParts, AiReply } from './wire.js'

export interface AiSdkOptions {
  /**
   * Tools of the SDK that Toolwell does not manage: tools that a provider defines or runs. They come first in every
   * request.
   */
  readonly providerTools?: Readonly<Record<string, object>>
  /**
   * Runs tools that were not imported from the SDK. Default: the tool's `execute`. It gets the target tool, never a
   * wrapper.
   */
  readonly execute?: Execute
  /**
   * Whether the provider may reveal tools itself: Anthropic by references, OpenAI's Responses API by its tool search.
   * Default true. Set it to false for servers and models that cannot.
   */
  readonly native?: boolean
  /**
   * Anthropic: whether system messages between the others may add and remove tools. Default false: it is a beta. The
   * provider package sends its header.
   */
  readonly toolChanges?: boolean
}

/** A call of the SDK's repair hook. */
interface Repairable {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
}

export interface AiSdkSettings<Tools extends object> {
  readonly tools: Tools
  /** If you have a `prepareStep`, call this one in it and return its `model` and `messages`. */
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
 * Your tools by the names in calls and results: a tool of a source has the source as a prefix, for example
 * `billing__send_invoice`.
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
  /** Wraps a model that you choose in your `prepareStep`. */
  model<Model>(model: Model): Model
  /** The view of the last request. Pass its `requestId` to `recordRequest`. */
  readonly view: SurfaceView | undefined
}

/**
 * `aiSdk<ModelMessage, typeof tools>(…)` gives results the types of the SDK and of your tools, with and without a
 * source.
 */
export function aiSdk<Message extends AiMessage = AiMessage, Tools extends object = Record<string, AiTool>>(
  conversation: Conversation,
  options: AiSdkOptions = {},
): AiSdk<Message, Tools> {
  assertKnownKeys(options, ['providerTools', 'execute', 'native', 'toolChanges'], 'aiSdk')
  const { prompts } = adapterPort(conversation)
  const { providerTools = {}, execute } = options
  const results = createResults(() => prompts.noOutput())
  const registry = createRegistry(conversation.catalogue, providerTools, {
    loader: conversation.loader,
    runsAll: execute !== undefined,
    async run(name, input, options) {
      const answer = await exchanges.start(name, input, options)
      if (registry.isMeta(name)) return writeLoaderOutput(answer, exchanges.way)
      const output = results.output(answer)
      const tool = registry.entryOf(name)?.tool
      // Mastra treats a call without a value as not run, and ends its loop. Tools written for the SDK keep their
      // type.
      return output === undefined && tool && !findImported(tool) ? answer.text : output
    },
    modelOutput: (name, entry, asked) =>
      registry.isMeta(name)
        ? writeLoaderResult(readAskedOutput(asked).output)
        : results.modelOutput(entry?.tool, asked),
  })
  const exchanges: Exchanges = createExchanges(conversation, registry, options)
  const wrap = <Model>(model: Model): Model => wrapModel(model, exchanges.open)
  // The written messages have the documented forms, which fit any type.
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
        const messages = repairForSdk(step.messages as unknown as readonly AiMessage[], prompts)
        return {
          model: wrap(step.model),
          ...(messages ? { messages: messages as unknown as typeof step.messages } : {}),
        }
      },

      // Calls are read before the SDK reads them. This handles the rest that it cannot parse.
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

/**
 * Repairs a history for the SDK, which refuses an unanswered call before it asks a model. Undefined if nothing had to
 * be repaired.
 */
function repairForSdk(messages: readonly AiMessage[], prompts: Prompts): readonly AiMessage[] | undefined {
  if (!isBroken(messages)) return undefined
  const { placed } = placeAnchors(readMessages(messages))
  const names = placed.flatMap(({ unit }) => (unit.kind === 'assistant' ? unit.calls : []))
  const callable = new Set(names.map(({ name }) => name))
  const settled = repairHistory(placed, project(createState(), ''), callable, prompts, () => undefined)
  return writeMessages(
    settled.map(({ unit }) => unit),
    { protocol: 'ai-sdk', section: '', prompts },
  )
}

/** Whether a call has no answer before the next turn, by the SDK's own rule. */
function isBroken(messages: readonly AiMessage[]): boolean {
  const open = new Set<string>()
  for (const message of messages) {
    if (open.size > 0 && (message.role === 'user' || message.role === 'system')) return true
    for (const part of listParts(message)) {
      if (message.role === 'assistant' && isCall(part)) open.add(part.toolCallId)
      if (message.role === 'tool' && isResult(part)) open.delete(part.toolCallId)
    }
  }
  return open.size > 0
}
