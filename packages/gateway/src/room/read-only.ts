/** Which tools are approved as read-only: by the config, or by a person who looked at the tool as it is now. */
import { matchesGlob } from '@toolwell/core/internal'
import type { McpTool, ServerConfig } from '@toolwell/mcp'
import { fingerprint, type ReadOnlyStore, type ReadOnlyTools } from '@toolwell/mcp/internal'

/** What the server itself says of the tool does not count. Approvals count as they are at this moment. */
export type IsReadOnly = (server: ServerConfig, tool: string, listed: McpTool | undefined) => boolean

export function createReadOnly(store: ReadOnlyStore): IsReadOnly {
  const known = new Map<string, { readonly stamp: string; readonly tools: ReadOnlyTools }>()
  const prints = new WeakMap<McpTool, string>()
  const approvedOf = (server: ServerConfig): ReadOnlyTools => {
    const stamp = store.stamp(server)
    const last = known.get(server.name)
    if (last?.stamp === stamp) return last.tools
    const tools = store.read(server)
    known.set(server.name, { stamp, tools })
    return tools
  }
  const printOf = (tool: McpTool): string => {
    const print = prints.get(tool) ?? fingerprint(tool)
    prints.set(tool, print)
    return print
  }
  return (server, tool, listed) => {
    if (server.readOnly.some((pattern) => matchesGlob(pattern, tool))) return true
    const approved = approvedOf(server)
    return listed !== undefined && Object.hasOwn(approved, tool) && approved[tool] === printOf(listed)
  }
}
