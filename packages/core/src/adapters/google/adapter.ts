/** Step 5 of the flow, for the Gemini API. */
import type { Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import { type GoogleParts, type GooglePrompt, googleWire } from './google-wire.js'
import type { GoogleContent, GoogleReply } from './wire.js'

export type GoogleTurn = Turn<GoogleContent, GoogleReply, GoogleParts>
export type Google = Adapter<GoogleContent, GoogleReply, GoogleParts, GooglePrompt>

export function google(conversation: Conversation): Google {
  return createAdapter(conversation, googleWire)
}
