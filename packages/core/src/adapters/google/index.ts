/** `@toolwell/core/google`: the Gemini API as plain JSON. */
import { adapterPort, type Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import type { GoogleContent, GoogleReply } from './types.js'
import { type GoogleOptions, type GoogleParts, type GooglePrompt, googleWire } from './wire.js'

export type { ProviderCall, Thread } from '../shared/adapter.js'
export type { StreamedReply } from '../shared/stream.js'
export type { Described } from '../shared/tools.js'
export type { Warning, WarningCode } from '../shared/wire.js'
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

/** With an SDK, pass its content type: `google<Content>(conversation)`. */
export function google<Content extends GoogleContent = GoogleContent>(
  conversation: Conversation,
  options: GoogleOptions = {},
): Google<Content> {
  const { prompts } = adapterPort(conversation)
  // The wire reads and writes any content of this protocol, which fits any client's type.
  return createAdapter(conversation, googleWire(prompts, options)) as unknown as Google<Content>
}
