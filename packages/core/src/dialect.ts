/** What a wire cannot carry as it is, and how it is carried instead. Deterministic; used for surfaces and answers alike. */
import type { WireTool } from './ledger-event.js'

/** Servers of the Chat Completions family refuse longer descriptions of tools; descriptions inside a schema are not limited. */
const CHAT_DESCRIPTION = 1024

/** The longest description a tool may have on a wire. */
export function descriptionLimit(wire: string): number {
  return wire === 'openai-chat' ? CHAT_DESCRIPTION : Number.POSITIVE_INFINITY
}

/** A description that is too long goes, whole, into the schema; its beginning stays. */
export function fitWire(tool: WireTool, wire: string): WireTool {
  const limit = descriptionLimit(wire)
  if (tool.description.length <= limit) return tool
  const note = ' … (continued in the description of the parameters)'
  const head = tool.description.slice(0, limit - note.length).toWellFormed()
  const own = tool.inputSchema.description
  const whole = typeof own === 'string' && own !== '' ? `${tool.description}\n\n${own}` : tool.description
  return { ...tool, description: head + note, inputSchema: { ...tool.inputSchema, description: whole } }
}
