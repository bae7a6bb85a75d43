/** Whether a tool wants arguments repeated in headers (`x-mcp-header`). Looked up once for each: most ask for nothing. */
import type { McpTool } from './server-definition.js'

const wanting = new WeakMap<McpTool, boolean>()

export function wantsHeaders(tool: McpTool): boolean {
  const known = wanting.get(tool) ?? JSON.stringify(tool.inputSchema).includes('"x-mcp-header"')
  wanting.set(tool, known)
  return known
}
