/** The tool that a call is for, if it may be called now; and whether a lost call of it may be repeated. */
import type { ServerConfig } from '../config/server-config.js'
import type { McpTool } from '../definition/server-definition.js'
import type { Failures } from './failures.js'
import type { KnownDefinition } from './known-definition.js'

export function usableTool(
  name: string,
  server: ServerConfig,
  known: Pick<KnownDefinition, 'definition' | 'review' | 'tool'>,
  failures: Failures,
): McpTool {
  const { review } = known
  if (!server.enabled) throw failures.make('disabled', `${server.name} is switched off in the config`)
  if (review.server !== undefined)
    throw failures.make('quarantined', `${server.name} is quarantined: ${review.server}`)
  const why = review.quarantined.get(name)
  if (why !== undefined)
    throw failures.make('quarantined', `${name} of ${server.name} is quarantined: ${why}`)
  const tool = known.tool(name)
  if (tool) return tool
  // Not listed yet: whether there is such a tool shows when it is.
  if (!known.definition) return { name, inputSchema: { type: 'object' } }
  throw failures.make('unknown-tool', `${server.name} has no tool ${JSON.stringify(name)}`)
}

/** Repeating it does no harm, if what the server says of it can be believed. */
export function isRepeatable({ annotations }: McpTool, { trust }: ServerConfig): boolean {
  return trust !== 'none' && (annotations?.readOnlyHint === true || annotations?.idempotentHint === true)
}
