/** The scenario harness for Chat Completions. */
import { type ChatMessage, openaiChat } from '@toolwell/core/openai-chat'
import { type ChatFamily, type ChatRequestBody, chatProtocol } from '@toolwell/testing'
import { chatRenderOrder } from '../../../../testing/src/openai-chat/answer.js'
import type { ChatParts } from '../../../src/adapters/openai-chat/wire.js'
import type { WireHarness } from '../wire-harness.js'
import { post, startWireHost, type WireDriver } from '../wire-host.js'

const driver = (
  family: ChatFamily,
): WireDriver<ChatMessage, ChatMessage, ChatParts, object, ChatRequestBody> => ({
  protocol: chatProtocol({ maxDescription: 1024, family }),
  prompt: {},
  adapter: openaiChat,
  user: (text) => ({ role: 'user', content: text }),
  async send({ url }, parts) {
    const body = { model: 'scripted', ...parts }
    const answer = await post<{ choices: { message: ChatMessage }[] }>(`${url}/chat/completions`, body)
    const reply = answer.choices?.[0]?.message
    return reply && family === 'template' ? { ...reply, reasoning_content: 'Let me think.' } : reply
  },
  kept: (reply) => [reply],
  lastText: (messages) => String(messages.at(-1)?.content ?? ''),
  tools: ({ tools = [] }) => tools.map((tool) => ({ name: tool.function.name, native: tool })),
  rendered: (body) => chatRenderOrder(body, family),
})

const harness = (name: string, family: ChatFamily): WireHarness => ({
  name,
  order: 'tools-first',
  deliveries: ['append', 'bridge'],
  open: (options, script, setup) => startWireHost(driver(family), options, script, setup),
})

export const openaiChatHarness = harness('openai-chat', 'openai')

/** A server that wants the model to speak behind a tool's result, and nobody else. */
export const mistralChatHarness = harness('openai-chat as Mistral has it', 'mistral')

/** A model that thinks, behind a template that drops what it thought before the last message of the user. */
export const templateChatHarness = harness('openai-chat through a template', 'template')
