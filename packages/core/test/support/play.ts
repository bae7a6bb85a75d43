/** A host without a network, for tests of what a conversation does: what it would send is checked by the strict rules. */
import { type Conversation, createToolwell, type RunOptions, type ToolwellOptions } from '@toolwell/core'
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { expect } from 'vitest'
import { findChatViolation } from '../../../testing/src/openai-chat/rules.js'
import { mixed } from './tools.js'

export interface Call {
  readonly name: string
  /** A string is sent unchanged, broken JSON included. */
  readonly arguments: unknown
  readonly id?: string
}

export const summary: ChatMessage = { role: 'user', content: 'What happened so far, in short.' }
export const search = (query: string): Call => ({ name: 'tool_search', arguments: { query } })
export const bridge = (name: string, input: unknown = {}, more: { readonly load?: string } = {}): Call => ({
  name: 'tool_call',
  arguments: { name, arguments: input, ...more },
})

/** A host without a network: it begins, checks what it would send, plays a reply, and keeps the history. */
export async function play(options: ToolwellOptions = {}, opened?: Conversation) {
  const well = createToolwell({ tools: mixed(), mode: 'on', ...options })
  const conversation = opened ?? (await well.open({ id: 'x' }))
  const chat = openaiChat(conversation)
  const messages: ChatMessage[] = [{ role: 'user', content: 'go' }]
  let calls = 0
  const begin = async () => {
    const turn = await chat.begin(messages)
    expect(findChatViolation({ model: 'm', ...turn.parts })).toBeUndefined()
    return turn
  }
  const run = async (made: readonly Call[], how?: RunOptions) => {
    const turn = await begin()
    const reply: ChatMessage = {
      role: 'assistant',
      content: null,
      tool_calls: made.map((call) => ({
        id: call.id ?? `call_${++calls}`,
        type: 'function',
        function: { name: call.name, arguments: textOf(call.arguments) },
      })),
    }
    const { messages: results } = await turn.run(reply, how)
    messages.push(reply, ...results)
    return results.map((result) => String(result.content))
  }
  return {
    well,
    conversation,
    chat,
    messages,
    begin,
    run,
    step: (...made: readonly Call[]) => run(made),
    sent: async () => JSON.stringify((await begin()).parts),
    names: async () => ((await begin()).parts.tools ?? []).map((each) => each.function.name),
    loaded: () => conversation.inspect().loadedLazyTools,
    /** One more exchange, so that the next request is another one. */
    talk: () => void messages.push({ role: 'assistant', content: 'hm' }, { role: 'user', content: 'on' }),
    /** Shortens the history to a summary. */
    compact: async () => {
      const before = [...messages]
      messages.splice(0, messages.length, summary)
      await chat.compact(before, messages)
    },
  }
}

function textOf(input: unknown): string {
  return typeof input === 'string' ? input : JSON.stringify(input)
}
