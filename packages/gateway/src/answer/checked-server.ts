/** Servers that validate requests: argument headers (`x-mcp-header`), and one-sentence errors for invalid requests. */
import {
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  specTypeSchemas,
} from '@modelcontextprotocol/server'
import type { McpTool } from '@toolwell/mcp'
import { wantsHeaders } from '@toolwell/mcp/internal'
import type { View } from '../servers/view.js'
import type { Mode } from './mcp-server.js'

class HeaderCheckedServer extends McpServer {
  readonly #schema: McpTool['inputSchema']

  constructor(server: Server, schema: McpTool['inputSchema']) {
    super({ name: 'toolwell', version: '' })
    Object.defineProperty(this, 'server', { value: server })
    this.#schema = schema
  }

  /** The SDK compares the headers only for an `McpServer`, and asks it for the schema before the call. */
  override toolInputSchemaJson(): Record<string, unknown> {
    return this.#schema as Record<string, unknown>
  }
}

/** Returns the server for one request. The SDK has checked that `mcp-name` and the body name the same tool. */
export function checkHeaders(
  server: Server,
  view: View,
  mode: Mode,
  headers: Headers | undefined,
): Server | McpServer {
  const name = headers?.get('mcp-name')
  if (!name || headers?.get('mcp-method') !== 'tools/call') return server
  // Most calls use the gateway's own tools, which have no headers.
  if (mode !== 'all' && view.digest().eager.length === 0) return server
  const found = view.catalogue.resolve(name, () => true)
  if (found.kind !== 'found') return server
  const isListed = mode === 'all' || view.digest().eager.some(({ id }) => id === found.entry.id)
  const tool = isListed ? view.listedTool(found.entry) : undefined
  if (!tool || !wantsHeaders(tool)) return server
  // The SDK's error would confirm that a hidden tool exists.
  const { source, tool: listed } = found.entry
  return view.isVisible(source, listed.name) ? new HeaderCheckedServer(server, tool.inputSchema) : server
}

/** Schemas of the methods whose handlers accept any input. */
const SCHEMAS: Readonly<Record<string, (typeof specTypeSchemas)[keyof typeof specTypeSchemas]>> = {
  initialize: specTypeSchemas.InitializeRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
  'prompts/list': specTypeSchemas.ListPromptsRequest,
  'prompts/get': specTypeSchemas.GetPromptRequest,
  'resources/list': specTypeSchemas.ListResourcesRequest,
  'resources/templates/list': specTypeSchemas.ListResourceTemplatesRequest,
  'resources/read': specTypeSchemas.ReadResourceRequest,
  'completion/complete': specTypeSchemas.CompleteRequest,
}

/** Describes the first fault of a request; the others often follow from it. Undefined if the request is valid. */
export function describeInvalid(method: string, request: unknown): string | undefined {
  const checked = Object.hasOwn(SCHEMAS, method)
    ? SCHEMAS[method]?.['~standard'].validate(request)
    : undefined
  const [first] = checked instanceof Promise ? [] : (checked?.issues ?? [])
  if (!first) return undefined
  const place = first.path?.map((key) => String(typeof key === 'object' ? key.key : key)).join('.')
  const why = first.message.replace(/^Invalid input: /, '')
  return `Invalid ${method}: ${place ? `${place}: ` : ''}${why}.`
}

type Handler = Parameters<Server['_wrapHandler']>[1]

/** Replaces the SDK's validation errors, which are JSON, with a sentence, and writes instructions for each client. */
export class PlainServer extends Server {
  /** Writes the instructions. Called once the client's name is known. */
  instructionsFor: ((context: ServerContext) => string) | undefined

  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const isGreeting = method === 'initialize' || method === 'server/discover'
    const wrapped = super._wrapHandler(
      method,
      isGreeting
        ? async (request, context: ServerContext) => {
            const result = await handler(request, context)
            const instructions = this.instructionsFor?.(context)
            return instructions ? { ...result, instructions } : result
          }
        : handler,
    )
    return async (request, context: ServerContext) => {
      try {
        return await wrapped(request, context)
      } catch (error) {
        // Checked only after a failure, so valid requests are not validated twice.
        const invalid = describeInvalid(method, request)
        throw invalid === undefined ? error : new ProtocolError(ProtocolErrorCode.InvalidParams, invalid)
      }
    }
  }
}
