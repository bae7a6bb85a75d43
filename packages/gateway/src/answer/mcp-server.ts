/** The MCP server that one client, or one request, talks to. It holds nothing: all of it is in the room. */
import {
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
} from '@modelcontextprotocol/server'
import type { Caller } from '@toolwell/mcp'
import { WORKSPACE_HEADER } from '../bridge/protocol.js'
import { prompts } from '../prompts.js'
import type { Room } from '../room/room.js'
import { type Called, callTool } from './call-tool.js'
import { folderOf, toldIn } from './in-folder.js'
import { PlainServer } from './invalid-request.js'
import { dispatchTools, everyTool } from './list-tools.js'

export type Mode = 'dispatch' | 'all'

export interface McpServerOptions {
  /** Asked for every request: a config that has changed makes another room. */
  readonly room: () => Room
  readonly mode: Mode
  /** The folder that the client works in, where it has named one. */
  readonly workspace: string | undefined
  readonly caller: Caller
  readonly version: string
  readonly onCalled: (called: Called, server: Server, client: string) => void
  readonly onListed: (server: Server, client: string) => void
}

/** The client of requests that stand for themselves, as far as it is known before they come. */
export const SINGLE_REQUESTS = 'http'

/** How long a list holds, in milliseconds. Whoever listens is told earlier. */
const LIST_HOLDS = 60_000
const DISCOVERY_HOLDS = 3_600_000

export function createMcpServer(options: McpServerOptions): Server {
  const { room, mode, workspace, caller, version, onCalled, onListed } = options
  const { loader, bridge } = room().face
  const instructions = [
    ...(mode === 'dispatch' ? [prompts.instructions({ loader, bridge })] : []),
    ...(workspace === undefined ? [prompts.noWorkspace({ header: WORKSPACE_HEADER })] : []),
  ]
  const server = new PlainServer(
    { name: 'toolwell', version },
    {
      capabilities: { tools: { listChanged: true } },
      ...(instructions.length > 0 ? { instructions: instructions.join(' ') } : {}),
      cacheHints: {
        'tools/list': { ttlMs: LIST_HOLDS, cacheScope: 'private' },
        'server/discover': { ttlMs: DISCOVERY_HOLDS, cacheScope: 'private' },
      },
    },
  )
  server.setRequestHandler('tools/list', async ({ params }, { mcpReq }) => {
    await room().begun()
    onListed(server, clientOf(server, mcpReq.envelope))
    if (mode === 'dispatch') return { tools: toldIn(folderOf(caller), room(), dispatchTools(room())) }
    const page = everyTool(room(), params?.cursor)
    if (page) return { ...page, tools: toldIn(folderOf(caller), room(), [...page.tools]) }
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The cursor is not one of this server. Ask for the first page, without a cursor.',
    )
  })
  server.setRequestHandler('tools/call', ({ params }, { mcpReq }) => {
    const token = mcpReq._meta?.progressToken
    return callTool(
      room(),
      {
        name: params.name,
        input: params.arguments ?? {},
        caller: named(caller, clientOf(server, mcpReq.envelope)),
        workspace,
        signal: mcpReq.signal,
        ...(token === undefined
          ? {}
          : {
              onProgress: (progress) =>
                void mcpReq
                  .notify({ method: 'notifications/progress', params: { ...progress, progressToken: token } })
                  // The client is gone; the call's own signal says so.
                  .catch(() => undefined),
            }),
      },
      (called) => onCalled(called, server, clientOf(server, mcpReq.envelope)),
    )
  })
  return server
}

/** What the client calls itself, in this request or when it began. A hint, and nothing else. */
function clientOf(server: Server, envelope: Readonly<Record<string, unknown>> = {}): string {
  const given = envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion()
  const { name, version } = (given ?? {}) as { readonly name?: unknown; readonly version?: unknown }
  return typeof name === 'string' ? `${name} ${String(version ?? '')}`.trim().slice(0, 100) : ''
}

/** Single requests over HTTP belong to no session: of whom they are, only the name can tell that their program goes by. */
function named(caller: Caller, client: string): Caller {
  return caller.client === SINGLE_REQUESTS ? { ...caller, client: `${SINGLE_REQUESTS} ${client}` } : caller
}
