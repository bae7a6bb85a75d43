/**
 * A call of a tool that wants arguments repeated in headers (`x-mcp-header`) is refused where they differ. The SDK compares them,
 * but only for servers of its higher level: for such a call, ours is shown to it as one of these.
 */

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

  /** Asked by the SDK before the call. */
  override toolInputSchemaJson(): Record<string, unknown> {
    return this.#schema as Record<string, unknown>
  }
}

/** The server for one request, as its headers name it. The SDK has made sure that the body names the same tool. */
export function checkHeaders(
  server: Server,
  view: View,
  mode: Mode,
  headers: Headers | undefined,
): Server | McpServer {
  const name = headers?.get('mcp-name')
  if (!name || headers?.get('mcp-method') !== 'tools/call') return server
  // Most calls are of the three tools, which no server has.
  if (mode !== 'all' && view.digest().eager.length === 0) return server
  const found = view.catalogue.resolve(name, () => true)
  if (found.kind !== 'found') return server
  const isListed = mode === 'all' || view.digest().eager.some(({ id }) => id === found.entry.id)
  const tool = isListed ? view.listedTool(found.entry) : undefined
  return tool && wantsHeaders(tool) ? new HeaderCheckedServer(server, tool.inputSchema) : server
}

// What is wrong with a request that is not as the protocol has it, in a sentence.

/** Of the methods that are answered here and take anything. */
const SCHEMAS: Readonly<Record<string, (typeof specTypeSchemas)[keyof typeof specTypeSchemas]>> = {
  initialize: specTypeSchemas.InitializeRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
}

/** Undefined where nothing is. The first thing alone: the rest often follows from it. */
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

/** The SDK throws what its schemas say, as JSON, and partly as an error of its own. */
export class PlainServer extends Server {
  protected override _wrapHandler(method: string, handler: Handler): Handler {
    const wrapped = super._wrapHandler(method, handler)
    return async (request, context: ServerContext) => {
      try {
        return await wrapped(request, context)
      } catch (error) {
        // Looked at after a failure alone: what is right is not read twice.
        const invalid = describeInvalid(method, request)
        throw invalid === undefined ? error : new ProtocolError(ProtocolErrorCode.InvalidParams, invalid)
      }
    }
  }
}
