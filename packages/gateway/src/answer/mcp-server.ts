/** The MCP server for one client or one request. It is stateless: all state is in the view. */
import {
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerCapabilities,
} from '@modelcontextprotocol/server'
import type { ResultStore } from '@toolwell/core/result'
import type { Telemetry } from '@toolwell/core/telemetry'
import type { Caller } from '@toolwell/mcp'
import { WORKSPACE_HEADER } from '../bridge/protocol.js'
import { prompts } from '../prompts.js'
import type { View } from '../servers/view.js'
import { answerOffers } from './answer-offers.js'
import type { CallLimits } from './call-limits.js'
import { type Called, callerFolder, callTool, insertCallerFolder } from './call-tool.js'
import { PlainServer } from './checked-server.js'
import { listDispatchTools, listEveryTool } from './list-tools.js'
import { nameOwnTools } from './own-tools.js'
import { createModernCaller, Relay } from './relay.js'
import type { SuspendedCalls } from './suspended-calls.js'

export type Mode = 'dispatch' | 'all'

export interface McpServerOptions {
  /** Called for every request, because a config change creates a new view. */
  readonly view: () => View
  readonly mode: Mode
  /** Id of the principal, who may read the kept results of its calls. */
  readonly principal: string
  /** The folder of the client, if it sent one. */
  readonly workspace: string | undefined
  readonly caller: Caller
  readonly version: string
  readonly limits: CallLimits
  /** Calls that wait for answers of their clients. */
  readonly suspended: SuspendedCalls
  /** Keeps results that are too long. */
  readonly results: ResultStore
  readonly telemetry: Telemetry | undefined
  readonly onCalled: (called: Called, server: Server, client: string) => void
  readonly onListed: (server: Server, client: string) => void
}

/** Client name of requests outside a session. */
export const SINGLE_REQUESTS = 'http'

/** Milliseconds for which clients may cache the list. Subscribers are notified of changes earlier. */
const LIST_HOLDS = 60_000
const DISCOVERY_HOLDS = 3_600_000

export function createMcpServer(options: McpServerOptions): Server {
  const {
    view,
    mode,
    principal,
    workspace,
    caller,
    version,
    limits,
    results,
    suspended,
    telemetry,
    onCalled,
    onListed,
  } = options
  // In each folder, because a folder has other servers.
  const owner = JSON.stringify([principal, workspace ?? ''])
  const take = (source: string) => {
    const server = view().server(source)
    return server ? limits.take(principal, server) : { release: () => undefined }
  }
  const capabilities = chooseCapabilities(view())
  const server = new PlainServer(
    { name: 'toolwell', version },
    {
      capabilities,
      cacheHints: {
        'tools/list': { ttlMs: LIST_HOLDS, cacheScope: 'private' },
        'prompts/list': { ttlMs: LIST_HOLDS, cacheScope: 'private' },
        'resources/list': { ttlMs: LIST_HOLDS, cacheScope: 'private' },
        'resources/templates/list': { ttlMs: LIST_HOLDS, cacheScope: 'private' },
        'server/discover': { ttlMs: DISCOVERY_HOLDS, cacheScope: 'private' },
      },
    },
  )
  server.instructionsFor = ({ mcpReq }) => {
    const client = readClientName(server, mcpReq.envelope)
    return [
      ...(mode === 'dispatch' ? [prompts.instructions(nameOwnTools(view().direct, client))] : []),
      ...(workspace === undefined ? [prompts.noWorkspace({ header: WORKSPACE_HEADER })] : []),
    ].join(' ')
  }
  const hasLogs = capabilities.logging !== undefined
  const relay = new Relay({ server, caller, hasLogs, suspended, owner, telemetry })
  answerOffers(server, capabilities, {
    view,
    folder: callerFolder(caller),
    era: caller.era,
    take,
    during: ({ mcpReq: request }, params, work) => {
      const named = nameCaller(caller, readClientName(server, request.envelope), principal)
      return relay.during({ request, params, caller: named, view: view() }, work)
    },
  })
  server.setRequestHandler('tools/list', async ({ params }, { mcpReq }) => {
    // The gateway's own tools need no server.
    await (mode === 'dispatch' ? view().reviewed() : view().waitBeforeListing())
    const client = readClientName(server, mcpReq.envelope)
    onListed(server, client)
    if (mode === 'dispatch')
      return {
        tools: insertCallerFolder(callerFolder(caller), view(), listDispatchTools(view(), client)),
        ...(caller.era === 'modern' && view().isSettling ? { ttlMs: 0 } : {}),
      }
    const page = listEveryTool(view(), params?.cursor)
    return { ...page, tools: insertCallerFolder(callerFolder(caller), view(), [...page.tools]) }
  })
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: request }) => {
    const client = readClientName(server, request.envelope)
    const named = nameCaller(caller, client, principal)
    const refused = new Set<string>()
    const onRefused = (method: string) => void refused.add(method)
    const result = await relay.during(
      { request, params, caller: named, view: view(), onRefused },
      (optionsFor) =>
        callTool(
          view(),
          {
            name: params.name,
            input: params.arguments ?? {},
            caller: named,
            results: { store: results, principal: owner, client },
            workspace,
            optionsFor,
            currentView: view,
            take,
            searchTurn: () => limits.searchTurn(owner),
            refused,
          },
          (called) => onCalled(called, server, client),
        ),
    )
    return result as CallToolResult
  })
  return server
}

/** Announces what the visible servers have. A server that is not listed yet may have anything. */
function chooseCapabilities(view: View): ServerCapabilities {
  const canSubscribe = view.someHas(({ resources }) => resources?.subscribe)
  return {
    tools: { listChanged: true },
    ...(view.someHas(({ prompts }) => prompts) ? { prompts: { listChanged: true } } : {}),
    ...(view.someHas(({ resources }) => resources)
      ? { resources: { listChanged: true, ...(canSubscribe ? { subscribe: true } : {}) } }
      : {}),
    ...(view.someHas(({ completions }) => completions) ? { completions: {} } : {}),
    ...(view.someHas(({ logging }) => logging) ? { logging: {} } : {}),
  }
}

/** The name and version that the client sent, in this request or in `initialize`. Unverified. */
function readClientName(server: Server, envelope: Readonly<Record<string, unknown>> = {}): string {
  return writeClientName(envelope[CLIENT_INFO_META_KEY] ?? server.getClientVersion())
}

function writeClientName(given: unknown): string {
  const { name, version } = (given ?? {}) as { readonly name?: unknown; readonly version?: unknown }
  return typeof name === 'string' ? `${name} ${String(version ?? '')}`.trim().slice(0, 100) : ''
}

/** The caller of a subscription. It shares the process of its calls, and no question belongs to it. */
export function createListener(
  caller: Caller,
  principal: string,
  envelope: Readonly<Record<string, unknown>>,
  view: View,
  source: string,
): Caller {
  const refuse = () => Promise.reject(new Error('No call is running.'))
  const handlers = { elicit: refuse, sample: refuse, roots: refuse }
  return createModernCaller(
    nameCaller(caller, writeClientName(envelope[CLIENT_INFO_META_KEY]), principal),
    envelope,
    handlers,
    view,
    source,
  )
}

/** Tells requests outside a session apart by their client name, the only hint there is. */
function nameCaller(caller: Caller, client: string, principal: string): Caller {
  return caller.client === SINGLE_REQUESTS ? { ...caller, client: nameSingle(client, principal) } : caller
}

/** The id of a client that sends requests outside a session. Tokens never share a process that belongs to one client. */
export function nameSingle(client: string, principal: string): string {
  return `${SINGLE_REQUESTS} ${principal} ${client}`
}
