/** Step 5 of the flow, for Chat Completions. */
import type { Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import { type ChatParts, chatWire } from './chat-wire.js'
import type { ChatMessage, ChatReply } from './wire.js'

/** `Message` is the type your client gives to messages; what is added to them has that type too. */
export type ChatTurn<Message = ChatMessage> = Turn<Message, ChatReply, ChatParts<Message>>
export type OpenAIChat<Message = ChatMessage> = Adapter<Message, ChatReply, ChatParts<Message>>

/** With an SDK: `openaiChat<ChatCompletionMessageParam>(conversation)`. */
export function openaiChat<Message extends { role: string } = ChatMessage>(
  conversation: Conversation,
): OpenAIChat<Message> {
  // The wire reads any message of this protocol and writes only messages of it: the host's type is as good as ours.
  return createAdapter(conversation, chatWire) as unknown as OpenAIChat<Message>
}
