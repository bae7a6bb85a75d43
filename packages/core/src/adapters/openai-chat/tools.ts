/** Definitions to and from the shape of Chat Completions. */
import { defined } from '../../base/guards.js'
import type { Tool } from '../../tool/tool.js'
import { createToolCodec, fitted, objectSchema } from '../shared/tools.js'
import { type ChatTool, WIRE } from './types.js'

const codec = createToolCodec<ChatTool>((given) => {
  const { name, description, ...tool } = fitted(given, WIRE)
  const parameters = objectSchema(tool) as Record<string, unknown>
  return {
    type: 'function',
    function: { name, description, parameters, ...defined({ strict: tool.strict }) },
  }
})

export const chatTools = codec.write

/**
 * Reads a host's existing `tools` array. `describe` adds what the wire cannot hold: `execute`, `defer`, `aliases` …
 * While deferral is off, the very array given here is what `begin` returns.
 */
export function importTools(
  wire: readonly { type: string }[],
  describe: (tool: ChatTool) => Partial<Tool> = () => ({}),
): readonly Tool[] {
  const functions = wire.filter((tool): tool is ChatTool => tool.type === 'function' && 'function' in tool)
  return codec.read(functions.length === wire.length ? (wire as readonly ChatTool[]) : functions, (tool) => {
    const { name, description = '', parameters, strict } = tool.function
    return {
      name,
      description,
      inputSchema: parameters ?? { type: 'object', properties: {} },
      ...(typeof strict === 'boolean' ? { strict } : {}),
      ...describe(tool),
    }
  })
}
