/** Definitions to and from the shape of Anthropic Messages. */
import { ToolwellError } from '../../errors.js'
import { quote } from '../../text.js'
import type { Tool } from '../../tool.js'
import { createToolCodec, objectSchema } from '../shared/tools.js'
import type { AnthropicTool } from './wire.js'

/** Refused at the top of a schema, and nowhere else. */
const NOT_AT_TOP = ['oneOf', 'allOf', 'anyOf']

const codec = createToolCodec<AnthropicTool>((tool) => ({
  name: tool.name,
  description: tool.description,
  input_schema: objectSchema(tool, NOT_AT_TOP) as AnthropicTool['input_schema'],
}))

export const anthropicTools = codec.write

/**
 * Reads a host's existing `tools` array. `describe` adds what the wire cannot hold: `execute`, `defer`, `aliases` …
 * While deferral is off, the very array given here is what `begin` returns. Throws `invalid-tool` at a tool that Anthropic
 * defines (`bash_20250124`, `web_search_20250305` …): those have no schema; add them to `parts.tools` yourself.
 */
export function importTools<Native extends AnthropicTool>(
  wire: readonly Native[],
  describe: (tool: Native) => Partial<Tool> = () => ({}),
): readonly Tool[] {
  return codec.read(wire, (tool) => {
    const { name, description = '', input_schema: schema, type } = tool
    if (!schema) {
      const problem = `it has the type ${quote(String(type))} and no input_schema`
      const fix = 'Leave it out here, and put it before parts.tools in the request.'
      throw new ToolwellError(
        'invalid-tool',
        `The tool ${quote(name)} cannot be imported: ${problem}. ${fix}`,
        {
          tool: name,
          problem,
        },
      )
    }
    return { name, description, inputSchema: schema, ...describe(tool as Native) }
  })
}
