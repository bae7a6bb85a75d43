/** `@toolwell/core/openai-chat`: Chat Completions as plain JSON, for OpenAI and every compatible server. */
import { adapterPort, type Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import type { ChatMessage, ChatReply } from './types.js'
import { type ChatOptions, type ChatParts, chatWire } from './wire.js'

export type { ProviderCall, Thread } from '../shared/adapter.js'
export type { StreamedReply } from '../shared/stream.js'
export type { Described } from '../shared/tools.js'
export type { Warning, WarningCode } from '../shared/wire.js'
export { assemble, readEvents, readUsage, type StreamedChoice, type StreamedMessage } from './stream.js'
export { type ImportedChatTool, importTools } from './tools.js'
export type {
  ChatChoice,
  ChatCompletion,
  ChatMessage,
  ChatReply,
  ChatReplyMessage,
  ChatResultPart,
  ChatTool,
  ChatToolCall,
  ChatToolMessage,
} from './types.js'
export type { ChatOptions, ChatParts, ChatProviderTool } from './wire.js'

/** `Message` is your client's type of a message. Added messages have it too. */
export type ChatTurn<Message = ChatMessage> = Turn<Message, ChatReply, ChatParts<Message>>
export type OpenAIChat<Message = ChatMessage> = Adapter<Message, ChatReply, ChatParts<Message>>

/** With an SDK: `openaiChat<ChatCompletionMessageParam>(conversation)`. */
export function openaiChat<Message extends { role: string } = ChatMessage>(
  conversation: Conversation,
  options: ChatOptions = {},
): OpenAIChat<Message> {
  const { prompts } = adapterPort(conversation)
  // The wire reads and writes any message of this protocol, which fits any client's type.
  return createAdapter(conversation, chatWire(prompts, options)) as unknown as OpenAIChat<Message>
}
