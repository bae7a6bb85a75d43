/** What is wrong with a request that is not as the protocol has it, in a sentence. */
import {
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
  specTypeSchemas,
} from '@modelcontextprotocol/server'

/** Of the methods that are answered here and take anything. */
const SCHEMAS: Readonly<Record<string, (typeof specTypeSchemas)[keyof typeof specTypeSchemas]>> = {
  initialize: specTypeSchemas.InitializeRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
}

/** Undefined where nothing is. The first thing alone: the rest often follows from it. */
export function invalidIn(method: string, request: unknown): string | undefined {
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
        const invalid = invalidIn(method, request)
        throw invalid === undefined ? error : new ProtocolError(ProtocolErrorCode.InvalidParams, invalid)
      }
    }
  }
}
