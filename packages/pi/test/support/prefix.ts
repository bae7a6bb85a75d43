/** The part of a request that a provider's cache sees, to compare two requests. */
import { type Api, wires } from './pi-process.ts'

/**
 * Prompt, tools that count for the cache, and history, without the marks that pi moves. A request continues another if its text
 * starts with that of the other.
 */
export function prefixOf(body: object, api: Api): string {
  const { tools, [wires[api].history]: history, ...rest } = body as Record<string, unknown>
  const listed = Array.isArray(tools) ? tools.filter((tool) => !('defer_loading' in tool)) : []
  const { system, instructions, systemInstruction } = rest
  return JSON.stringify([system, instructions, systemInstruction, listed, history])
    .replaceAll(/,?"cache_control":\{"type":"ephemeral"\}/g, '')
    .slice(0, -2)
}
