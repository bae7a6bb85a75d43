/** `@toolwell/core/anthropic`: Anthropic Messages as plain JSON. */

export type { Thread } from '../shared/adapter.js'
export type { StreamedReply } from '../shared/streamed.js'
export { type Anthropic, type AnthropicTurn, anthropic } from './adapter.js'
export type { AnthropicOptions, AnthropicParts, AnthropicPrompt } from './anthropic-wire.js'
export { assemble, readEvents, readUsage } from './stream.js'
export { importTools } from './tools.js'
export type {
  AnthropicBlock,
  AnthropicCacheControl,
  AnthropicMessage,
  AnthropicReply,
  AnthropicTextBlock,
  AnthropicTool,
  AnthropicToolReference,
  AnthropicToolResult,
} from './wire.js'
