/** Definitions to the shape of a wire: each converted once, and a host's own array sent again as it is. */

import { dropUndefined, toPlainJson } from '../../base/data.js'
import { fitWire } from '../../schema/dialect.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Tool } from '../../tool/tool.js'
import type { WireTool } from '../../tool/wire-tool.js'

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
      originals.set(made, toPlainJson(wire))
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

/** A definition as a wire takes it. One from the surface fits already; the host's own, sent while deferral is off, may not. */
export function fitted(tool: WireTool | Tool, wire: string): WireTool {
  const { name, description = '', inputSchema, strict, inputExamples } = tool
  return fitWire({ name, description, inputSchema, ...dropUndefined({ strict, inputExamples }) }, wire).tool
}

/** A schema that says it describes an object, as every wire wants. */
export function objectSchema({
  inputSchema,
}: Pick<WireTool, 'inputSchema'>): Readonly<Record<string, unknown>> {
  return inputSchema.type === undefined ? { type: 'object', ...inputSchema } : inputSchema
}
