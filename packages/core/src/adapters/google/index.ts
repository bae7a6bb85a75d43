/** `@toolwell/core/google`: the Gemini API as plain JSON. */
export { type Google, type GoogleTurn, google } from './adapter.js'
export type { GoogleParts, GooglePrompt } from './google-wire.js'
export { assemble, readEvents, type StreamedReply } from './stream.js'
export { importTools } from './tools.js'
export type {
  GoogleContent,
  GoogleFunctionCall,
  GoogleFunctionDeclaration,
  GoogleFunctionResponse,
  GooglePart,
  GoogleReply,
  GoogleTool,
} from './wire.js'
