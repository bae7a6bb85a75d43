/** Definitions to and from the shape of Chat Completions. */
import type { WireTool } from '../../ledger-event.js'
import type { SurfaceView } from '../../surface.js'
import type { Tool } from '../../tool.js'
import type { ChatTool } from './wire.js'

/** The array a host's tools were read from, so that it can be sent again untouched. */
const originals = new WeakMap<readonly Tool[], readonly ChatTool[]>()
const arrays = new WeakMap<readonly (WireTool | Tool)[], readonly ChatTool[]>()
const tools = new WeakMap<WireTool | Tool, ChatTool>()

/**
 * Reads a host's existing `tools` array. `describe` adds what the wire cannot hold: `execute`, `defer`, `aliases` …
 * While deferral is off, the very array given here is what `begin` returns.
 */
export function importTools(
  wire: readonly ChatTool[],
  describe: (tool: ChatTool) => Partial<Tool> = () => ({}),
): readonly Tool[] {
  const made = wire.map((tool): Tool => {
    const { name, description = '', parameters } = tool.function
    return {
      name,
      description,
      inputSchema: parameters ?? { type: 'object', properties: {} },
      ...describe(tool),
    }
  })
  originals.set(made, wire)
  return made
}

/** The same array for the same surface; each tool is converted once. */
export function chatTools(view: SurfaceView): readonly ChatTool[] {
  const known = originals.get(view.tools as readonly Tool[]) ?? arrays.get(view.tools)
  if (known) return known
  const made = view.tools.map((tool) => {
    const done = tools.get(tool)
    if (done) return done
    const { name, description, inputSchema } = tool
    const parameters = inputSchema.type === undefined ? { type: 'object', ...inputSchema } : inputSchema
    const converted: ChatTool = { type: 'function', function: { name, description, parameters } }
    tools.set(tool, converted)
    return converted
  })
  arrays.set(view.tools, made)
  return made
}
