/** What a server says about itself and its tools: the unit that is listed, cached, reviewed and offered. */

import type { Implementation, Tool as McpTool, ServerCapabilities } from '@modelcontextprotocol/client'
import { canonicalJson, shortHash } from '@toolwell/core/internal'

export type { McpTool }

/** An entry of a server's list that cannot be used as a tool. */
export interface UnusableEntry {
  /** Its place in the list, from 1 on. */
  readonly entry: number
  /** Missing where it has none. */
  readonly name?: string
  /** As it follows the name: `has an inputSchema that is not an object`. */
  readonly reason: string
}

export interface ServerDefinition {
  /** Those that can be used. */
  readonly tools: readonly McpTool[]
  /** The rest of the list. Missing where it has not been looked through yet. */
  readonly unusable?: readonly UnusableEntry[]
  readonly instructions: string
  readonly capabilities: ServerCapabilities
  readonly info: Implementation | undefined
  /** `modern` is the stateless protocol from 2026 on, `legacy` the one that begins with initialize. */
  readonly era: 'modern' | 'legacy'
  /** How long the server says that its list holds, and for whom. */
  readonly ttlMs: number | undefined
  readonly cacheScope: 'public' | 'private'
  /** It holds `${workspaceFolder}`: see without-folder.ts. */
  readonly namesFolder?: true
}

/** Equal lists have equal hashes, in whatever order they came. */
export function definitionHash({
  tools,
  instructions,
  unusable = [],
}: Pick<ServerDefinition, 'tools' | 'instructions' | 'unusable'>): string {
  const each = tools.map((tool) => canonicalJson(tool)).sort()
  const rest = unusable.map(({ name, reason }) => canonicalJson([name ?? '', reason])).sort()
  return shortHash(canonicalJson({ each, rest, instructions }), 32)
}

/** By name; of two with one name, the first. The order of a list has no meaning. */
export function toolsByName(tools: readonly McpTool[]): Map<string, McpTool> {
  const byName = new Map<string, McpTool>()
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  return byName
}

/** Names that joined, left, or are defined in another way. */
export function difference(before: ReadonlyMap<string, McpTool>, after: ReadonlyMap<string, McpTool>) {
  return {
    added: [...after.keys()].filter((name) => !before.has(name)),
    removed: [...before.keys()].filter((name) => !after.has(name)),
    changed: [...after].flatMap(([name, tool]) => {
      const old = before.get(name)
      return old && canonicalJson(old) !== canonicalJson(tool) ? [name] : []
    }),
  }
}

// Whether a tool wants arguments repeated in headers (`x-mcp-header`). Looked up once for each: most ask for nothing.

const wanting = new WeakMap<McpTool, boolean>()

export function wantsHeaders(tool: McpTool): boolean {
  const known = wanting.get(tool) ?? JSON.stringify(tool.inputSchema).includes('"x-mcp-header"')
  wanting.set(tool, known)
  return known
}
