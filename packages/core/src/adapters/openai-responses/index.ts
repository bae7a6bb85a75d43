/** `@toolwell/core/openai-responses`: the Responses API as plain JSON, for OpenAI and compatible servers. */

export type { Thread } from '../shared/adapter.js'
export type { StreamedReply } from '../shared/streamed.js'
export {
  type OpenAIResponses,
  openaiResponses,
  type ResponsesRequest,
  type ResponsesTurn,
} from './adapter.js'
export type { ResponsesOptions, ResponsesParts, ResponsesPrompt } from './responses-wire.js'
export { assemble, readEvents, readUsage } from './stream.js'
export { importTools } from './tools.js'
export type {
  ResponsesCall,
  ResponsesCallOutput,
  ResponsesFunction,
  ResponsesFunctionTool,
  ResponsesItem,
  ResponsesReply,
  ResponsesSearchTool,
  ResponsesTool,
} from './wire.js'
