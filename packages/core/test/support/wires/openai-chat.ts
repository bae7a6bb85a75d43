/** The scenario harness for Chat Completions. */
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { type ChatRequestBody, chatProtocol } from '@toolwell/testing'
import { chatRenderOrder } from '../../../../testing/src/openai-chat/usage.js'
import type { ChatParts } from '../../../src/adapters/openai-chat/wire.js'
import type { WireHarness } from '../wire-harness.js'
import { post, startWireHost, type WireDriver } from '../wire-host.js'

const driver = (): WireDriver<ChatMessage, ChatMessage, ChatParts, object, ChatRequestBody> => ({
  protocol: chatProtocol({ maxDescription: 1024 }),
  prompt: {},
  adapter: openaiChat,
  user: (text) => ({ role: 'user', content: text }),
  async send({ url }, parts) {
    const body = { model: 'scripted', ...parts }
    const answer = await post<{ choices: { message: ChatMessage }[] }>(`${url}/chat/completions`, body)
    return answer.choices?.[0]?.message
  },
  kept: (reply) => [reply],
  lastText: (messages) => String(messages.at(-1)?.content ?? ''),
  tools: ({ tools = [] }) => tools.map((tool) => ({ name: tool.function.name, native: tool })),
  rendered: chatRenderOrder,
})

export const openaiChatHarness: WireHarness = {
  name: 'openai-chat',
  order: 'tools-first',
  deliveries: ['append', 'bridge'],
  open: (options, script, setup) => startWireHost(driver(), options, script, setup),
}
