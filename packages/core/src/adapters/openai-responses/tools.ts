/** Converts definitions to and from the form of the Responses API. */

import { dropUndefined } from '../../base/data.js'
import { isStrictSchema } from '../../schema/dialect.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'
import {
  assertImportable,
  createToolCodec,
  type Described,
  fitTool,
  type ImportForm,
  objectSchema,
  relaxTools,
} from '../shared/tools.js'
import { type ResponsesFunctionTool, type ResponsesTool, WIRE } from './types.js'

/**
 * Sets `strict: false` unless the host asks for strict mode. Without the field, the provider tries strict mode and
 * changes the schemas that allow it.
 */
export function writeFunction(given: WireTool | Tool): ResponsesFunctionTool {
  const { name, description, ...tool } = fitTool(given, WIRE)
  const made = { name, description, parameters: objectSchema(tool), strict: tool.strict === true }
  if (!tool.callers) return { type: 'function', ...made }
  const allowed_callers = tool.callers.map((caller) => (caller === 'code' ? 'programmatic' : caller))
  return { type: 'function', ...made, allowed_callers }
}

const FORM: ImportForm = { form: WIRE, shape: "{ type: 'function', name, description, parameters }" }

const codec = createToolCodec<ResponsesFunctionTool>(writeFunction)

/** If the delivery is native, the loader is the API's `tool_search`. */
export function writeTools(view: SurfaceView): readonly ResponsesTool[] {
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
 * Reads your existing `tools` array. `describe` adds fields that the wire cannot hold: `execute`, `defer`, `aliases`
 * … While deferral is off, `begin` returns this array. Throws `invalid-tool` for tools of another wire, and for tools
 * that the provider runs (`web_search` …): pass those as `providerTools`.
 */
export function importTools(
  wire: readonly ResponsesFunctionTool[],
  describe: (tool: ResponsesFunctionTool) => Described = () => ({}),
): readonly Tool[] {
  assertImportable(wire, FORM, ({ type, name }) => type === 'function' && typeof name === 'string')
  const tools = relaxTools(wire, (tool) =>
    tool.strict && !isStrictSchema(tool.parameters) ? { ...tool, strict: false } : tool,
  )
  return codec.read(tools, (tool) => ({
    name: tool.name,
    description: tool.description ?? '',
    inputSchema: tool.parameters ?? { type: 'object', properties: {} },
    ...(tool.strict === true ? { strict: true } : {}),
    ...(tool.allowed_callers && {
      callers: tool.allowed_callers.map((caller) => (caller === 'direct' ? caller : 'code')),
    }),
    ...dropUndefined(describe(tool)),
  }))
}
