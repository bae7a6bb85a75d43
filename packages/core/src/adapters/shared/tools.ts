/** Definitions to the shape of a wire: each converted once, and a host's own array sent again as it is. */
import type { WireTool } from '../../ledger-event.js'
import type { SurfaceView } from '../../surface.js'
import type { Tool } from '../../tool.js'

export interface ToolCodec<Native> {
  /** Reads a host's existing array of tools. While deferral is off, that very array is what is sent. */
  read(wire: readonly Native[], convert: (tool: Native) => Tool): readonly Tool[]
  /** The same array for the same surface. */
  write(view: SurfaceView): readonly Native[]
}

export function createToolCodec<Native>(convert: (tool: WireTool | Tool) => Native): ToolCodec<Native> {
  const originals = new WeakMap<readonly (WireTool | Tool)[], readonly Native[]>()
  const arrays = new WeakMap<readonly (WireTool | Tool)[], readonly Native[]>()
  const tools = new WeakMap<WireTool | Tool, Native>()
  return {
    read(wire, read) {
      const made = wire.map(read)
      originals.set(made, wire)
      return made
    },
    write({ tools: sent }) {
      const known = originals.get(sent) ?? arrays.get(sent)
      if (known) return known
      const made = sent.map((tool) => {
        const done = tools.get(tool) ?? convert(tool)
        tools.set(tool, done)
        return done
      })
      arrays.set(sent, made)
      return made
    },
  }
}

/**
 * A schema that says it describes an object, as every wire wants. Keywords that a wire refuses at the top of a schema, and
 * nowhere else, are told to the model in the schema's description instead.
 */
export function objectSchema(
  { inputSchema }: WireTool | Tool,
  refused: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  const schema = inputSchema.type === undefined ? { type: 'object', ...inputSchema } : inputSchema
  const entries = Object.entries(schema)
  const moved = entries.filter(([keyword]) => refused.includes(keyword))
  if (moved.length === 0) return schema
  const kept = Object.fromEntries(entries.filter(([keyword]) => !refused.includes(keyword)))
  const own = typeof schema.description === 'string' && schema.description !== '' ? [schema.description] : []
  const rule = `The input also has to match ${JSON.stringify(Object.fromEntries(moved))}`
  return { ...kept, description: [...own, rule].join('\n\n') }
}
