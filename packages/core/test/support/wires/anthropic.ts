/** The scenario harness for Anthropic Messages. */
import {
  type AnthropicMessage,
  type AnthropicParts,
  type AnthropicPrompt,
  type AnthropicReply,
  anthropic,
} from '@toolwell/core/anthropic'
import { anthropicProtocol } from '@toolwell/testing'
import type { AnthropicRequestBody } from '../../../../testing/src/anthropic/rules.js'
import { anthropicRenderOrder } from '../../../../testing/src/anthropic/usage.js'
import type { WireHarness } from '../wire-harness.js'
import { post, startWireHost, type WireDriver } from '../wire-host.js'

const driver = (
  toolChanges: boolean,
): WireDriver<AnthropicMessage, AnthropicReply, AnthropicParts, AnthropicPrompt, AnthropicRequestBody> => ({
  protocol: anthropicProtocol({ midConversationSystem: toolChanges }),
  prompt: { system: 'You are careful.' },
  adapter: (conversation) => anthropic(conversation, { toolChanges }),
  user: (text) => ({ role: 'user', content: text }),
  async send({ url }, parts) {
    const body = { model: 'scripted', max_tokens: 1024, ...parts }
    const { role, content } = await post<AnthropicReply>(`${url}/v1/messages`, body)
    return role === undefined ? undefined : { role, content }
  },
  kept: (reply) => [reply],
  lastText(messages) {
    const last = messages.at(-1)?.content
    return Array.isArray(last) ? last.map((block: { text?: string }) => block.text ?? '').join('') : ''
  },
  tools: ({ tools = [] }) =>
    tools.filter((tool) => !tool.defer_loading).map((tool) => ({ name: tool.name ?? '', native: tool })),
  rendered: anthropicRenderOrder,
})

export const anthropicHarness: WireHarness = {
  name: 'anthropic',
  order: 'tools-first',
  deliveries: ['append', 'bridge', 'native'],
  open: (options, script, setup) => startWireHost(driver(false), options, script, setup),
}

/** With the beta by which tools come and go in system messages. */
export const anthropicChangesHarness: WireHarness = {
  name: 'anthropic with tool changes',
  order: 'tools-first',
  deliveries: ['native'],
  open: (options, script, setup) => startWireHost(driver(true), options, script, setup),
}
