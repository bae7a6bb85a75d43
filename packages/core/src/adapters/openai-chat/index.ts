/** `@toolwell/core/openai-chat`: Chat Completions as plain JSON, for OpenAI and every compatible server. */

export type { Thread } from '../shared/adapter.js'
export type { StreamedReply } from '../shared/streamed.js'
export { type ChatTurn, type OpenAIChat, openaiChat } from './adapter.js'
export { assemble, readEvents, readUsage, type StreamedChoice, type StreamedMessage } from './stream.js'
export { importTools } from './tools.js'
export type { ChatChoice, ChatMessage, ChatReply, ChatTool, ChatToolCall, ChatToolMessage } from './wire.js'
