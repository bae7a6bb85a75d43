/** `@toolwell/core/result`: results with images, files and links, and stores for large results. */
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
