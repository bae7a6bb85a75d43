/** Step 5 of the flow, for Chat Completions. */
import type { Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import { type ChatParts, chatWire } from './chat-wire.js'
import type { ChatMessage } from './wire.js'

export type ChatTurn = Turn<ChatMessage, ChatMessage, ChatParts>
export type OpenAIChat = Adapter<ChatMessage, ChatMessage, ChatParts>

export function openaiChat(conversation: Conversation): OpenAIChat {
  return createAdapter(conversation, chatWire)
}
