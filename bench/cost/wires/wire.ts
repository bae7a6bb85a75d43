/** What the bench needs of a wire: how a host on it writes what was said, and in which order its requests are rendered. */
import type { Conversation, SurfaceView } from '@toolwell/core'
import type { PieceMaker, Rendering } from '../rendering.ts'

export type WireName = 'anthropic' | 'openai-responses' | 'google' | 'openai-chat'

export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** A search in the provider's own form, or a call of a tool that such a search brought. */
  readonly native?: 'search' | 'found'
}

/** What the model said: kept in the history, and paid for as output. */
export interface ModelReply {
  readonly text: string
  readonly calls: readonly ModelCall[]
}

/** A request body's parts, in any wire's words. */
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
    /** Runs the calls of the reply and writes both down. */
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

/** What differs between the doors, beside their messages' form. */
export interface Door<Message extends object, Reply> {
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
  door: Door<Message, Reply>,
  history: Message[] = [],
): Thread {
  return {
    say: (text) => void history.push(door.user(text)),
    async begin() {
      const { view, body, run } = await door.begin(history)
      return {
        view,
        body,
        async reply(said, execute) {
          const { reply, history: written } = door.reply(said)
          const { messages, answers } = await run(reply, { execute })
          history.push(...written, ...messages)
          return answers.map(({ text, outcome }) => ({ kind: outcome.kind, text }))
        },
      }
    },
  }
}

/** Tools, system, messages: every piece that a host may mark, and marks on the last of each. */
export function renderToolsFirst(body: Body, pieces: PieceMaker): Rendering {
  const tools = body.tools.map((tool) => pieces.of('tools', tool))
  const system = body.system === '' ? [] : [pieces.of('system', body.system)]
  const messages = body.messages.map((message) => pieces.of('messages', message))
  const ends = [tools.length, tools.length + system.length, tools.length + system.length + messages.length]
  return { pieces: [...tools, ...system, ...messages], marks: ends.filter((end) => end > 0) }
}

/** A system prompt as one text, whether it was given as such or in parts. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  return value.map((part: { text?: unknown }) => String(part.text ?? '')).join('\n\n')
}
