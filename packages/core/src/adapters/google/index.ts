/** `@toolwell/core/google`: the Gemini API as plain JSON. */
import { adapterPort, type Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import type { GoogleContent, GoogleReply } from './types.js'
import { type GoogleOptions, type GoogleParts, type GooglePrompt, googleWire } from './wire.js'

export type { Thread } from '../shared/adapter.js'
export type { Described } from '../shared/import-tools.js'
export type { StreamedReply } from '../shared/streamed.js'
export type { Warning, WarningCode } from '../shared/warning.js'
export { assemble, readEvents, readUsage, type StreamedContent } from './stream.js'
export { importTools } from './tools.js'
export type {
  GoogleContent,
  GoogleFunction,
  GoogleFunctionCall,
  GoogleFunctionDeclaration,
  GoogleFunctionResponse,
  GooglePart,
  GoogleReply,
  GoogleResponse,
  GoogleTool,
} from './types.js'
export type { GoogleOptions, GoogleParts, GooglePrompt, GoogleToolConfig } from './wire.js'

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
  options: GoogleOptions = {},
): Google<Content> {
  const { prompts } = adapterPort(conversation)
  // The wire reads any content of this protocol and writes only contents of it: the host's type is as good as ours.
  return createAdapter(conversation, googleWire(prompts, options)) as unknown as Google<Content>
}
