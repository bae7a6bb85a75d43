/** `@toolwell/core/google`: the Gemini API as plain JSON. */

export type { Thread } from '../shared/adapter.js'
export type { StreamedReply } from '../shared/streamed.js'
export { type Google, type GoogleTurn, google } from './adapter.js'
export type { GoogleParts, GooglePrompt, GoogleToolConfig } from './google-wire.js'
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
} from './wire.js'
