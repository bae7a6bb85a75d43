/** Definitions to and from the shape of the Responses API. */
import type { WireTool } from '../../ledger-event.js'
import type { SurfaceView } from '../../surface.js'
import type { Tool } from '../../tool.js'
import { createToolCodec, objectSchema } from '../shared/tools.js'
import type { ResponsesFunctionTool, ResponsesTool } from './wire.js'

// Said outright: without it the provider tries strict mode, and changes the schemas that happen to allow it.
/** Refused at the top of a schema, and nowhere else. */
const NOT_AT_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']

export function toFunction(tool: WireTool | Tool): ResponsesFunctionTool {
  return {
    type: 'function',
    name: tool.name,
    description: tool.description,
    parameters: objectSchema(tool, NOT_AT_TOP),
    strict: false,
  }
}

const codec = createToolCodec<ResponsesFunctionTool>(toFunction)

/** The loader is the API's own search where the delivery is native. */
export function responsesTools(view: SurfaceView): readonly ResponsesTool[] {
  const tools = codec.write(view)
  if (view.delivery !== 'native') return tools
  return tools.map((tool) =>
    tool.name === view.loader
      ? {
          type: 'tool_search',
          execution: 'client',
          description: tool.description ?? '',
          parameters: tool.parameters ?? {},
        }
      : tool,
  )
}

/**
 * Reads a host's existing `tools` array, as far as it consists of functions. `describe` adds what the wire cannot hold:
 * `execute`, `defer`, `aliases` … While deferral is off, the very array given here is what `begin` returns.
 */
export function importTools(
  wire: readonly ResponsesFunctionTool[],
  describe: (tool: ResponsesFunctionTool) => Partial<Tool> = () => ({}),
): readonly Tool[] {
  return codec.read(wire, (tool) => ({
    name: tool.name,
    description: tool.description ?? '',
    inputSchema: tool.parameters ?? { type: 'object', properties: {} },
    ...describe(tool),
  }))
}
