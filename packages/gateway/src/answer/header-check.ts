/**
 * A call of a tool that wants arguments repeated in headers (`x-mcp-header`) is refused where they differ. The SDK compares them,
 * but only for servers of its higher level: for such a call, ours is shown to it as one of these.
 */
import { McpServer, type Server } from '@modelcontextprotocol/server'
import type { McpTool } from '@toolwell/mcp'
import { wantsHeaders } from '@toolwell/mcp/internal'
import type { Room } from '../room/room.js'
import type { Mode } from './mcp-server.js'

class HeaderCheckedServer extends McpServer {
  readonly #schema: McpTool['inputSchema']

  constructor(server: Server, schema: McpTool['inputSchema']) {
    super({ name: 'toolwell', version: '' })
    Object.defineProperty(this, 'server', { value: server })
    this.#schema = schema
  }

  /** Asked by the SDK before the call. */
  override toolInputSchemaJson(): Record<string, unknown> {
    return this.#schema as Record<string, unknown>
  }
}

/** The server for one request, as its headers name it. The SDK has made sure that the body names the same tool. */
export function headerChecked(
  server: Server,
  room: Room,
  mode: Mode,
  headers: Headers | undefined,
): Server | McpServer {
  const name = headers?.get('mcp-name')
  if (!name || headers?.get('mcp-method') !== 'tools/call') return server
  // Most calls are of the three tools, which no server has.
  if (mode !== 'all' && room.digest().eager.length === 0) return server
  const found = room.catalogue.resolve(name, () => true)
  if (found.kind !== 'found') return server
  const isListed = mode === 'all' || room.digest().eager.some(({ id }) => id === found.entry.id)
  const tool = isListed ? room.listed(found.entry) : undefined
  return tool && wantsHeaders(tool) ? new HeaderCheckedServer(server, tool.inputSchema) : server
}
