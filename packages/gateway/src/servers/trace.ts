/** Spans of requests: one for the request of a client, and one for each request to a server. */
import { isRecord } from '@toolwell/core/internal'
import type { Span, SpanAttributes, Telemetry, TraceContext } from '@toolwell/core/telemetry'
import { type CallOptions, McpFailure, type ServerRequest } from '@toolwell/mcp'

/** Clients choose the names that they ask for. */
const LONGEST_NAME = 200
/** The limit of W3C Trace Context. Spans wait in memory until they are sent. */
const LONGEST_STATE = 512

/** Runs a request of a client in a span, as a child of the client's span. */
export function traceRequest<T>(
  telemetry: Telemetry,
  {
    id,
    method,
    _meta: meta,
  }: { readonly id: unknown; readonly method: string; readonly _meta?: object | undefined },
  params: Readonly<Record<string, unknown>>,
  work: (context: TraceContext | undefined) => Promise<T>,
): Promise<T> {
  const named = describeTarget(method, params)
  const parent = readTraceContext(meta)
  const span = telemetry.start({
    ...named,
    kind: 'server',
    attributes: { ...named.attributes, 'jsonrpc.request.id': String(id).slice(0, LONGEST_NAME) },
    ...(parent ? { parent } : {}),
  })
  return finish(span, () => work(span.context))
}

/** Runs a request to a server in a span, whose context goes to the server in `_meta`. */
export function traceServer<T>(
  telemetry: Telemetry | undefined,
  server: string,
  isLocal: boolean,
  { method, params }: ServerRequest,
  options: CallOptions,
  work: (options: CallOptions) => Promise<T>,
): Promise<T> {
  if (!telemetry) return work(options)
  const named = describeTarget(method, params)
  const parent = readTraceContext(options.meta)
  const span = telemetry.start({
    ...named,
    kind: 'client',
    attributes: {
      ...named.attributes,
      'network.transport': isLocal ? 'pipe' : 'tcp',
      'toolwell.server': server,
    },
    ...(parent ? { parent } : {}),
  })
  return finish(span, () => work({ ...options, meta: { ...options.meta, ...span.context } }))
}

function describeTarget(
  method: string,
  { name, uri }: Readonly<Record<string, unknown>>,
): { readonly name: string; readonly attributes: SpanAttributes } {
  const target = typeof name === 'string' ? name.slice(0, LONGEST_NAME) : undefined
  const resource = typeof uri === 'string' ? { 'mcp.resource.uri': uri.slice(0, LONGEST_NAME) } : {}
  const attributes = { 'mcp.method.name': method, ...resource }
  if (target === undefined) return { name: method, attributes }
  const isTool = method === 'tools/call'
  return {
    name: `${method} ${target}`,
    attributes: {
      ...attributes,
      [isTool ? 'gen_ai.tool.name' : 'gen_ai.prompt.name']: target,
      ...(isTool ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
    },
  }
}

async function finish<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    const result = await span.run(work)
    span.end(isRecord(result) && result.isError === true ? 'tool_error' : undefined)
    return result
  } catch (error) {
    span.end(nameError(error))
    throw error
  }
}

/** The code of a protocol error, or the kind of a failure. Contains no message. */
function nameError(error: unknown): string {
  if (McpFailure.is(error)) return String(error.code ?? error.kind)
  const code = isRecord(error) ? error.code : undefined
  return typeof code === 'number' ? String(code) : '_OTHER'
}

function readTraceContext(meta: object | undefined): TraceContext | undefined {
  const { traceparent, tracestate } = (meta ?? {}) as Readonly<Record<string, unknown>>
  if (typeof traceparent !== 'string') return undefined
  const isShort = typeof tracestate === 'string' && tracestate.length <= LONGEST_STATE
  return { traceparent, ...(isShort ? { tracestate } : {}) }
}
