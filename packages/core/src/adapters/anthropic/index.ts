/** `@toolwell/core/anthropic`: Anthropic Messages as plain JSON. */
import { adapterPort, type Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import type { AnthropicMessage, AnthropicParts, AnthropicPrompt, AnthropicReply } from './types.js'
import { type AnthropicOptions, anthropicWire } from './wire.js'

export type { ProviderCall, Thread } from '../shared/adapter.js'
export type { StreamedReply } from '../shared/stream.js'
export type { Described } from '../shared/tools.js'
export type { Warning, WarningCode } from '../shared/wire.js'
export { assemble, readEvents, readUsage } from './stream.js'
export { type ImportedAnthropicTool, importTools } from './tools.js'
export type {
  AnthropicBlock,
  AnthropicCacheControl,
  AnthropicMediaBlock,
  AnthropicMessage,
  AnthropicParts,
  AnthropicPrompt,
  AnthropicProviderTool,
  AnthropicReply,
  AnthropicTextBlock,
  AnthropicTool,
  AnthropicToolReference,
  AnthropicToolResult,
} from './types.js'
export type { AnthropicOptions } from './wire.js'

export type AnthropicTurn<Message extends AnthropicMessage = AnthropicMessage> = Turn<
  Message,
  AnthropicReply,
  AnthropicParts<Message>
>
export type Anthropic<Message extends AnthropicMessage = AnthropicMessage> = Adapter<
  Message,
  AnthropicReply,
  AnthropicParts<Message>,
  AnthropicPrompt
>

/** With an SDK, pass its message type: `anthropic<MessageParam>(conversation)`. */
export function anthropic<Message extends AnthropicMessage = AnthropicMessage>(
  conversation: Conversation,
  options: AnthropicOptions = {},
): Anthropic<Message> {
  const { prompts } = adapterPort(conversation)
  // The written messages have the documented role and content, which fit any client's type.
  return createAdapter(conversation, anthropicWire(prompts, options)) as unknown as Anthropic<Message>
}
