/** `@toolwell/core/result`: what a tool may give besides text and JSON, and where large results are kept. */
export { type McpResult, mcpResult } from './from-mcp.js'
export {
  type GivenPart,
  type LinkPart,
  type MediaPart,
  type ResultPart,
  type StructuredPart,
  type TextPart,
  type ToolResult,
  toolResult,
} from './part.js'
export type { KeptContent, ResultStore, ResultStoreLimits } from './store.js'
export { memoryResults } from './store.js'
