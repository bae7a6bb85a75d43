/** Definitions to and from the shape of the Responses API. */

import { defined } from '../../base/guards.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { assertImportable, createToolCodec, type Described, fitted, objectSchema } from '../shared/tools.js'
import { type ResponsesFunctionTool, type ResponsesTool, WIRE } from './types.js'

/** Not strict unless the host asks for it, and said outright: without that the provider tries strict mode, and changes the schemas that happen to allow it. */
export function toFunction(given: WireTool | Tool): ResponsesFunctionTool {
  const { name, description, ...tool } = fitted(given, WIRE)
  return { type: 'function', name, description, parameters: objectSchema(tool), strict: tool.strict === true }
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
 * Reads a host's existing `tools` array. `describe` adds what the wire cannot hold: `execute`, `defer`, `aliases` …
 * While deferral is off, the very array given here is what `begin` returns. Throws `invalid-tool` at what is no function in
 * the form of this wire: at tools that the provider runs (`web_search` …), which you put before `parts.tools` yourself, and
 * at tools of another wire.
 */
export function importTools(
  wire: readonly ResponsesFunctionTool[],
  describe: (tool: ResponsesFunctionTool) => Described = () => ({}),
): readonly Tool[] {
  assertImportable(wire, WIRE, ({ type, name }) => type === 'function' && typeof name === 'string')
  return codec.read(wire, (tool) => ({
    name: tool.name,
    description: tool.description ?? '',
    inputSchema: tool.parameters ?? { type: 'object', properties: {} },
    ...(tool.strict === true ? { strict: true } : {}),
    ...defined(describe(tool)),
  }))
}
