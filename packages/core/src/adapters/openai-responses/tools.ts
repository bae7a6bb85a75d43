/** Definitions to and from the shape of the Responses API. */
import type { Tool } from '../../tool.js'
import { createToolCodec, objectSchema } from '../shared/tools.js'
import type { ResponsesTool } from './wire.js'

// Said outright: without it the provider tries strict mode, and changes the schemas that happen to allow it.
/** Refused at the top of a schema, and nowhere else. */
const NOT_AT_TOP = ['oneOf', 'anyOf', 'allOf', 'enum', 'not']

const codec = createToolCodec<ResponsesTool>((tool) => ({
  type: 'function',
  name: tool.name,
  description: tool.description,
  parameters: objectSchema(tool, NOT_AT_TOP),
  strict: false,
}))

export const responsesTools = codec.write

/**
 * Reads a host's existing `tools` array, as far as it consists of functions. `describe` adds what the wire cannot hold:
 * `execute`, `defer`, `aliases` … While deferral is off, the very array given here is what `begin` returns.
 */
export function importTools(
  wire: readonly ResponsesTool[],
  describe: (tool: ResponsesTool) => Partial<Tool> = () => ({}),
): readonly Tool[] {
  return codec.read(wire, (tool) => ({
    name: tool.name,
    description: tool.description ?? '',
    inputSchema: tool.parameters ?? { type: 'object', properties: {} },
    ...describe(tool),
  }))
}
