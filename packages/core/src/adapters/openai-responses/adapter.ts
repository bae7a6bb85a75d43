/** Step 5 of the flow, for the Responses API. */
import type { Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import { type ResponsesParts, type ResponsesPrompt, responsesWire } from './responses-wire.js'
import type { ResponsesItem, ResponsesReply } from './wire.js'

export type ResponsesTurn = Turn<ResponsesItem, ResponsesReply, ResponsesParts>
export type OpenAIResponses = Adapter<ResponsesItem, ResponsesReply, ResponsesParts, ResponsesPrompt>

export function openaiResponses(conversation: Conversation): OpenAIResponses {
  return createAdapter(conversation, responsesWire)
}
