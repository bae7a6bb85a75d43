/** `@toolwell/core/openai-responses`: the Responses API as plain JSON, for OpenAI and compatible servers. */
export { type OpenAIResponses, openaiResponses, type ResponsesTurn } from './adapter.js'
export type { ResponsesParts, ResponsesPrompt } from './responses-wire.js'
export { assemble, readEvents, type StreamedReply } from './stream.js'
export { importTools } from './tools.js'
export type {
  ResponsesCall,
  ResponsesCallOutput,
  ResponsesItem,
  ResponsesReply,
  ResponsesTool,
} from './wire.js'
