/** Step 5 of the flow, for the Gemini API. */
import type { Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import { type GoogleParts, type GooglePrompt, googleWire } from './google-wire.js'
import type { GoogleContent, GoogleReply } from './wire.js'

export type GoogleTurn<Content extends GoogleContent = GoogleContent> = Turn<
  Content,
  GoogleReply,
  GoogleParts<Content>
>
export type Google<Content extends GoogleContent = GoogleContent> = Adapter<
  Content,
  GoogleReply,
  GoogleParts<Content>,
  GooglePrompt
>

/** With an SDK, its own type of a content is `Content`: `google<Content>(conversation)`. */
export function google<Content extends GoogleContent = GoogleContent>(
  conversation: Conversation,
): Google<Content> {
  // The wire reads any content of this protocol and writes only contents of it: the host's type is as good as ours.
  return createAdapter(conversation, googleWire) as unknown as Google<Content>
}
