/** Chat Completions: tools, messages. */
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { type BenchWire, createThread, renderToolsFirst, type WireAdapter } from './wire.ts'

export const chatWire: BenchWire = {
  name: 'openai-chat',
  open(conversation, system) {
    const adapter = openaiChat(conversation)
    const wireAdapter: WireAdapter<ChatMessage, ChatMessage> = {
      async begin(messages) {
        const turn = await adapter.begin(messages)
        const { tools = [], messages: sent } = turn.parts
        return { view: turn.view, body: { tools, system: '', messages: sent }, run: turn.run }
      },
      user: (text) => ({ role: 'user', content: text }),
      reply({ text, calls }) {
        const reply: ChatMessage = {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map(({ id, name, arguments: input }) => ({
                  id,
                  type: 'function' as const,
                  function: { name, arguments: JSON.stringify(input) },
                })),
              }),
        }
        return { reply, history: [reply] }
      },
    }
    return createThread(wireAdapter, [{ role: 'system', content: system }])
  },
  render: renderToolsFirst,
}
