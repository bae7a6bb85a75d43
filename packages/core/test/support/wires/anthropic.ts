/** The scenario harness for Anthropic Messages. */
import {
  type AnthropicMessage,
  type AnthropicOptions,
  type AnthropicParts,
  type AnthropicPrompt,
  type AnthropicReply,
  anthropic,
} from '@toolwell/core/anthropic'
import { anthropicProtocol } from '@toolwell/testing'
import type { AnthropicRequestBody } from '../../../../testing/src/anthropic/rules.js'
import { anthropicRenderOrder } from '../../../../testing/src/anthropic/usage.js'
import type { Script, WireHarness } from '../wire-harness.js'
import { post, startWireHost, type WireDriver } from '../wire-host.js'

interface Request {
  readonly toolChanges?: boolean
  /** Other fields the host sends. */
  readonly more?: object
  readonly options?: AnthropicOptions
}

const driver = ({
  toolChanges = false,
  more = {},
  options = {},
}: Request): WireDriver<
  AnthropicMessage,
  AnthropicReply,
  AnthropicParts,
  AnthropicPrompt,
  AnthropicRequestBody
> => ({
  protocol: anthropicProtocol({ midConversationSystem: toolChanges }),
  prompt: { system: 'You are careful.' },
  adapter: (conversation) => anthropic(conversation, { toolChanges, ...options }),
  user: (text) => ({ role: 'user', content: text }),
  async send({ url }, parts) {
    const body = { model: 'scripted', max_tokens: 1024, ...more, ...parts }
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
  open: (options, script, setup) => startWireHost(driver({}), options, script, setup),
}

/** With the beta by which tools come and go in system messages. */
export const anthropicChangesHarness: WireHarness = {
  name: 'anthropic with tool changes',
  order: 'tools-first',
  deliveries: ['native'],
  open: (options, script, setup) => startWireHost(driver({ toolChanges: true }), options, script, setup),
}

/** A model that thinks before each reply, and is refused where anything before what it thought has changed. */
export const THINKING = { model: 'claude-fable-5-1', thinking: { type: 'adaptive' } }
/** The same with the control by which the API drops such thinking. */
export const DROPPING = {
  model: 'claude-fable-5-1',
  thinking: { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } },
}

export const startThinking = (
  options: Parameters<WireHarness['open']>[0],
  script: Script,
  request: Request = {},
) => startWireHost(driver({ more: THINKING, ...request }), options, thoughtful(script))

function thoughtful(script: Script): Script {
  const think = (reply: ReturnType<Exclude<Script, readonly unknown[]>> | undefined, index: number) =>
    reply && 'status' in reply ? reply : { thinking: `Thought ${index}.`, ...(reply ?? { text: 'Well.' }) }
  return (index) => think(typeof script === 'function' ? script(index) : script[index], index)
}

export const anthropicThinkingHarness: WireHarness = {
  name: 'anthropic with bound thinking',
  order: 'tools-first',
  deliveries: ['append', 'bridge', 'native'],
  open: (options, script) => startThinking(options, script),
}

export const anthropicThinkingChangesHarness: WireHarness = {
  ...anthropicThinkingHarness,
  name: 'anthropic with bound thinking and tool changes',
  deliveries: ['native'],
  open: (options, script) => startThinking(options, script, { toolChanges: true }),
}
