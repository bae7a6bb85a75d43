/** The four wires without a network: a history, a reply, and the strict rules of the endpoint that would be asked. */
import type { Conversation, RunOptions, SurfaceView } from '@toolwell/core'
import { type AnthropicReply, anthropic } from '@toolwell/core/anthropic'
import { type GoogleContent, google } from '@toolwell/core/google'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { openaiResponses, type ResponsesReply } from '@toolwell/core/openai-responses'
import {
  type AnthropicRequestBody,
  anthropicProtocol,
  chatProtocol,
  googleProtocol,
  type Protocol,
  responsesProtocol,
  type ScriptedCall,
} from '@toolwell/testing'
import fc from 'fast-check'
import { listTransformations } from '../../../testing/src/anthropic/binding.js'
import { anthropicRenderOrder } from '../../../testing/src/anthropic/usage.js'

/** The beginning of a message, given as text or as a list of parts. */
function firstWords(content: unknown): string {
  const [part = content] = Array.isArray(content) ? (content as unknown[]) : []
  return String((part as { readonly text?: unknown } | undefined)?.text ?? part)
}

type Thread = ReturnType<ReturnType<typeof openaiChat>['thread']>

export interface Turn {
  readonly parts: object
  readonly view: SurfaceView
  run(
    reply: never,
    options?: RunOptions,
  ): Promise<{
    readonly messages: readonly object[]
    readonly answers: readonly { readonly outcome: { readonly kind: string }; readonly text: string }[]
    readonly providerCalls: readonly { readonly id: string }[]
  }>
}

/** One adapter, whatever its messages are. */
export interface Line {
  begin(messages: readonly object[], request: { readonly requestId?: string }): Promise<Turn>
  compact(
    before: readonly object[],
    after: readonly object[],
    options?: { readonly trim?: (active: readonly string[]) => readonly string[] },
  ): Promise<void>
  fork(messages: readonly object[], options: { readonly id: string }): Promise<Conversation>
  importHistory(
    messages: readonly object[],
  ): Promise<{ readonly recovered: readonly string[]; readonly unrecovered: readonly object[] }>
  thread(messages: readonly object[]): Thread
  adopt(thread: Thread): readonly object[]
}

export interface Wire {
  readonly name: string
  /** A tool can be shown by a reference in the history. */
  readonly native: boolean
  /** True if arguments are text, so that a model can send invalid JSON. */
  readonly text: boolean
  open(conversation: Conversation): Line
  user(text: string): object
  violationOf(parts: object): string | undefined
  rendered(parts: object): string
  /** The part of a request that declares tools. */
  toolsOf(parts: object): unknown
  /** Thinking in a request that the server no longer takes, by its seal. */
  staleThinking?(parts: object): readonly string[]
  /** A model reply: the value for `run`, and the part that joins the history. */
  reply(
    parts: object,
    said: { readonly text?: string; readonly calls?: readonly ScriptedCall[] },
    index: number,
  ): { readonly reply: never; readonly messages: readonly object[] }
}

const SYSTEM = 'You are careful.'

/**
 * A separate notice after the result of a tool. Mistral refuses any message there, and chat templates drop the
 * reasoning before it. A host may speak there itself.
 */
function loneNotice(list: unknown): string | undefined {
  const entries = (Array.isArray(list) ? list : []) as readonly Readonly<Record<string, unknown>>[]
  const isResult = ({ role, type }: (typeof entries)[number] = {}) =>
    role === 'tool' || type === 'function_call_output' || type === 'tool_search_output'
  const at = entries.findIndex(
    (entry, index) =>
      !isResult(entry) &&
      isResult(entries[index - 1]) &&
      firstWords(entry.content).startsWith('<tool-update>'),
  )
  return at < 0 ? undefined : `there is a notice between a result and the next reply, at ${at}`
}
const THINKING = {
  max_tokens: 99,
  thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
}

const thinkingBody = (parts: object) =>
  ({ model: 'scripted', ...THINKING, ...parts }) as unknown as AnthropicRequestBody

function create<Body extends object>(
  protocol: Protocol<Body>,
  more: object,
  keep: (answer: never) => { readonly reply: unknown; readonly messages: readonly object[] },
) {
  const body = (parts: object) => ({ model: 'scripted', ...more, ...parts }) as unknown as Body
  return {
    violationOf(parts: object) {
      const { messages, input } = parts as { readonly messages?: unknown; readonly input?: unknown }
      return protocol.violationOf(body(parts))?.message ?? loneNotice(messages) ?? loneNotice(input)
    },
    rendered: (parts: object) => protocol.renderOrder(body(parts)),
    toolsOf: (parts: object) => (parts as { readonly tools?: unknown }).tools ?? [],
    reply(
      parts: object,
      said: { readonly text?: string; readonly calls?: readonly ScriptedCall[] },
      index: number,
    ) {
      const context = {
        index,
        rendered: '',
        earlier: [],
        nextCallId: (prefix: string) => `${prefix}${index}`,
      }
      const { object } = protocol.answer({ thinking: `Thought ${index}.`, ...said }, body(parts), context)
      return keep(JSON.parse(JSON.stringify(object)) as never) as ReturnType<Wire['reply']>
    },
  }
}

const chat: Wire = {
  name: 'openai-chat',
  native: false,
  text: true,
  open: (conversation) => {
    const adapter = openaiChat(conversation)
    const first: ChatMessage = { role: 'system', content: SYSTEM }
    const all = (messages: readonly object[]) => [first, ...(messages as ChatMessage[])]
    return {
      ...adapter,
      begin: (messages, request) => adapter.begin(all(messages), request) as Promise<Turn>,
      compact: (before, after, options) => adapter.compact(all(before), all(after), options),
      fork: (messages, options) => adapter.fork(all(messages), options),
    } as Line
  },
  user: (content) => ({ role: 'user', content }),
  ...create(chatProtocol({ maxDescription: 1024 }), {}, (answer: { choices: { message: ChatMessage }[] }) => {
    const reply = answer.choices[0]?.message as ChatMessage
    return { reply, messages: [reply] }
  }),
}

const messages = (toolChanges: boolean): Wire => ({
  name: 'anthropic',
  native: true,
  text: false,
  open: (conversation) => {
    // `keep`: the reference need not know which thinking is dropped, and every stale block shows.
    const adapter = anthropic(conversation, { toolChanges, thinking: 'keep' })
    return {
      ...adapter,
      begin: (given, request) => adapter.begin(given as never, { system: SYSTEM, ...request }),
    } as Line
  },
  user: (content) => ({ role: 'user', content }),
  ...create(
    anthropicProtocol({ midConversationSystem: toolChanges, boundThinking: true }),
    THINKING,
    (answer: AnthropicReply) => {
      const reply = { role: answer.role, content: answer.content }
      return { reply, messages: [reply] }
    },
  ),
  // The sent form; the parts that the server drops are checked below.
  rendered: (parts) => anthropicRenderOrder(thinkingBody(parts)),
  staleThinking(parts) {
    const body = thinkingBody(parts)
    const dropped = (listTransformations(body, { boundThinking: true }) ?? []) as readonly { path: string }[]
    return dropped.map(({ path }) => {
      const [, message, , block] = path.split('.')
      const content = body.messages[Number(message)]?.content as readonly { signature?: string }[]
      return content[Number(block)]?.signature ?? ''
    })
  },
})

const responses: Wire = {
  name: 'openai-responses',
  native: true,
  text: true,
  open: (conversation) => {
    const adapter = openaiResponses(conversation)
    return {
      ...adapter,
      begin: (items, request) => adapter.begin(items as never, { instructions: SYSTEM, ...request }),
    } as Line
  },
  user: (content) => ({ role: 'user', content }),
  ...create(responsesProtocol({ strictByDefault: true }), {}, ({ output }: ResponsesReply) => ({
    reply: { output },
    messages: [...output],
  })),
}

const gemini: Wire = {
  name: 'google',
  native: false,
  text: false,
  open: (conversation) => {
    const adapter = google(conversation)
    return {
      ...adapter,
      begin: (contents, request) =>
        adapter.begin(contents as never, { systemInstruction: SYSTEM, ...request }),
    } as Line
  },
  user: (text) => ({ role: 'user', parts: [{ text }] }),
  ...create(
    googleProtocol({ thoughtSignatures: true }),
    {},
    (answer: { candidates: { content: GoogleContent }[] }) => {
      const reply = answer.candidates[0]?.content as GoogleContent
      return { reply, messages: [reply] }
    },
  ),
}

/** The third is the second with the beta by which tools come and go between messages. */
export const WIRES: readonly Wire[] = [chat, messages(false), messages(true), responses, gemini].map((wire) =>
  // A counterexample names it.
  Object.assign(wire, { [fc.toStringMethod]: () => wire.name }),
)
