/** Step 5 of the flow, for Chat Completions: request parts before the call, answers after it, and the history's anchors in between. */
import type { ModelCall } from '../../calls.js'
import type { CallAnswer, Conversation, ImportedStep, ImportReport, RunOptions } from '../../conversation.js'
import { readMachineLine } from '../../search/render.js'
import type { SurfaceView } from '../../surface.js'
import { type Anchors, anchorsOf, survivors } from './anchors.js'
import { repair } from './repair.js'
import { chatTools } from './tools.js'
import { weave } from './weave.js'
import {
  type ChatMessage,
  type ChatTool,
  type ChatToolCall,
  type ChatToolMessage,
  callsOf,
  textOf,
  WIRE,
} from './wire.js'

export interface ChatTurn {
  /** Spread these into the request body. `tools` is absent where there are none: an empty array is refused by servers. */
  readonly parts: { readonly messages: readonly ChatMessage[]; readonly tools?: readonly ChatTool[] }
  readonly view: SurfaceView
  /** What had to be mended in the history for this request. */
  readonly warnings: readonly string[]
  /** Runs the calls of the reply. Push the reply, then `messages`, onto your history. Empty where the reply calls nothing. */
  run(
    reply: ChatMessage,
    options?: RunOptions,
  ): Promise<{ readonly messages: readonly ChatToolMessage[]; readonly answers: readonly CallAnswer[] }>
}

export interface OpenAIChat {
  /** Prepares a request for your history as it is, without anything of Toolwell's in it. */
  begin(messages: readonly ChatMessage[], request: { readonly requestId: string }): Promise<ChatTurn>
  /** Tells that your history was shortened. */
  compact(
    before: readonly ChatMessage[],
    after: readonly ChatMessage[],
    options?: { readonly trim?: (active: readonly string[]) => readonly string[] },
  ): Promise<void>
  /** A new conversation that has seen these messages, the first part of your history, and no more. */
  fork(messages: readonly ChatMessage[], options: { readonly id: string }): Promise<Conversation>
  /** Rebuilds what a history says was loaded, for a conversation whose ledger is gone. */
  importHistory(messages: readonly ChatMessage[]): Promise<ImportReport>
}

export function openaiChat(conversation: Conversation): OpenAIChat {
  return {
    async begin(messages, { requestId }) {
      const anchors = anchorsOf(messages)
      const view = await conversation.begin({ requestId, anchor: anchors.names.at(-1) ?? '', wire: WIRE })
      const warnings: string[] = []
      const tools = chatTools(view)
      return {
        view,
        warnings,
        parts: {
          messages: compose(messages, anchors, view, warnings),
          ...(tools.length > 0 ? { tools } : {}),
        },
        run: (reply, options) => run(conversation, anchors, reply, options),
      }
    },

    compact(before, after, options = {}) {
      const kept = survivors(anchorsOf(before).names, anchorsOf(after).names)
      return conversation.compact({ kept, ...options })
    },

    fork(messages, { id }) {
      const seen = new Set(anchorsOf(messages).names)
      const last = conversation.events.findLast((event) => seen.has(event.anchor))
      return conversation.fork({ id, anchor: last?.anchor ?? '' })
    },

    importHistory(messages) {
      const { names } = anchorsOf(messages)
      const called = new Map<string, string>()
      const steps: ImportedStep[] = []
      const others: string[] = []
      messages.forEach((message, index) => {
        for (const call of callsOf(message)) called.set(call.id, call.function.name)
        if (message.role !== 'tool') return
        const name = called.get(message.tool_call_id ?? '')
        if (name !== conversation.loader) {
          if (name !== undefined) others.push(name)
          return
        }
        const line = readMachineLine(textOf(message.content))
        if (line) steps.push({ anchor: names[index] ?? '', ...line })
      })
      return conversation.importSteps(steps, others)
    },
  }
}

function compose(
  messages: readonly ChatMessage[],
  anchors: Anchors,
  view: SurfaceView,
  warnings: string[],
): readonly ChatMessage[] {
  if (view.mode === 'off') return messages
  const warn = (warning: string) => void warnings.push(warning)
  const placed = messages.map((message, index) => ({ message, anchor: anchors.names[index] ?? '' }))
  return weave(repair(placed, view, warn), view, warn)
}

async function run(conversation: Conversation, anchors: Anchors, reply: ChatMessage, options?: RunOptions) {
  const answers = await conversation.run(
    callsOf(reply).map((call) => toModelCall(call, anchors)),
    options,
  )
  const messages = answers.map(
    ({ callId, text }): ChatToolMessage => ({ role: 'tool', tool_call_id: callId, content: text }),
  )
  return { messages, answers }
}

function toModelCall(call: ChatToolCall, anchors: Anchors): ModelCall {
  const { name, arguments: text } = call.function
  const shared = { callId: call.id, anchor: anchors.next(call.id), name }
  // Some servers send nothing at all for a call without arguments.
  if (typeof text !== 'string' || text.trim() === '') return { ...shared, input: { value: {} } }
  try {
    return { ...shared, input: { value: JSON.parse(text) } }
  } catch (error) {
    return {
      ...shared,
      input: { unparsable: text, problem: error instanceof Error ? error.message : String(error) },
    }
  }
}
