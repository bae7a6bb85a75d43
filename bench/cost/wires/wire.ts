/** The bench's interface of a wire: how a host writes messages, and the render order of its requests. */
import type { Conversation, SurfaceView } from '@toolwell/core'
import type { PieceMaker, Rendering } from '../rendering.ts'

export type WireName = 'anthropic' | 'openai-responses' | 'google' | 'openai-chat'

export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** A search in the provider's native form, or a call of a tool found by it. */
  readonly native?: 'search' | 'found'
}

/** The model's reply: kept in the history and paid for as output. */
export interface ModelReply {
  readonly text: string
  readonly calls: readonly ModelCall[]
}

/** Parts of a request body on any wire. */
export interface Body {
  readonly tools: readonly object[]
  readonly system: string
  readonly messages: readonly object[]
}

export interface Thread {
  say(text: string): void
  begin(): Promise<{
    readonly view: SurfaceView
    readonly body: Body
    /** Runs the calls of the reply and records both. */
    reply(
      reply: ModelReply,
      execute: (call: { readonly callId: string }) => string,
    ): Promise<readonly { readonly kind: string; readonly text: string }[]>
  }>
}

export interface BenchWire {
  readonly name: WireName
  open(conversation: Conversation, system: string): Thread
  render(body: Body, pieces: PieceMaker): Rendering
}

type Executor = (call: { readonly callId: string }) => string

/** Differences between the adapters, apart from the form of messages. */
export interface WireAdapter<Message extends object, Reply> {
  begin(messages: readonly Message[]): Promise<{
    readonly view: SurfaceView
    readonly body: Body
    run(
      reply: Reply,
      options: { execute: Executor },
    ): Promise<{
      readonly messages: readonly Message[]
      readonly answers: readonly { readonly text: string; readonly outcome: { readonly kind: string } }[]
    }>
  }>
  user(text: string): Message
  reply(said: ModelReply): { readonly reply: Reply; readonly history: readonly Message[] }
}

export function createThread<Message extends object, Reply>(
  adapter: WireAdapter<Message, Reply>,
  history: Message[] = [],
): Thread {
  return {
    say: (text) => void history.push(adapter.user(text)),
    async begin() {
      const { view, body, run } = await adapter.begin(history)
      return {
        view,
        body,
        async reply(said, execute) {
          const { reply, history: written } = adapter.reply(said)
          const { messages, answers } = await run(reply, { execute })
          history.push(...written, ...messages)
          return answers.map(({ text, outcome }) => ({ kind: outcome.kind, text }))
        },
      }
    },
  }
}

/** Tools, system, messages, with a cache mark on the last piece of each. */
export function renderToolsFirst(body: Body, pieces: PieceMaker): Rendering {
  const tools = body.tools.map((tool) => pieces.of('tools', tool))
  const system = body.system === '' ? [] : [pieces.of('system', body.system)]
  const messages = body.messages.map((message) => pieces.of('messages', message))
  const ends = [tools.length, tools.length + system.length, tools.length + system.length + messages.length]
  return { pieces: [...tools, ...system, ...messages], marks: ends.filter((end) => end > 0) }
}

/** A system prompt as text, whether given as text or in parts. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  return value.map((part: { text?: unknown }) => String(part.text ?? '')).join('\n\n')
}
