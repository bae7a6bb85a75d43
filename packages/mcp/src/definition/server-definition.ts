/** A server's definition of itself and its tools: the unit that is listed, cached, reviewed and offered. */

import type {
  Implementation,
  Tool as McpTool,
  Prompt,
  Resource,
  ResourceTemplateType as ResourceTemplate,
  ServerCapabilities,
} from '@modelcontextprotocol/client'
import { canonicalJson, dropUndefined, shortHash } from '@toolwell/core/internal'

export type { McpTool }

/** An entry of a server's list that cannot be used as a tool. */
export interface UnusableEntry {
  /** Position in the list, counted from 1. */
  readonly entry: number
  readonly name?: string
  /** Continues a sentence after the name: `has an inputSchema that is not an object`. */
  readonly reason: string
}

/** Prompts and resources of a server. */
export interface ServerOffers {
  readonly prompts: readonly Prompt[]
  readonly resources: readonly Resource[]
  readonly templates: readonly ResourceTemplate[]
}

/** Prompts and resources are missing if the server has none. */
export interface ServerDefinition extends Partial<ServerOffers> {
  /** Usable tools. */
  readonly tools: readonly McpTool[]
  /** The rest of the list. Missing if the list has not been checked yet. */
  readonly unusable?: readonly UnusableEntry[]
  readonly instructions: string
  readonly capabilities: ServerCapabilities
  readonly info: Implementation | undefined
  /** `modern`: the stateless protocol since 2026; `legacy`: the protocol that begins with initialize. */
  readonly era: 'modern' | 'legacy'
  /** How long the list is valid, according to the server. */
  readonly ttlMs: number | undefined
  readonly cacheScope: 'public' | 'private'
  /** Contains `${workspaceFolder}`: see clean-definition.ts. */
  readonly namesFolder?: true
}

/** Equal lists have equal hashes, in any order. */
export function definitionHash({
  tools,
  instructions,
  unusable = [],
  prompts,
  resources,
  templates,
}: Pick<ServerDefinition, 'tools' | 'instructions' | 'unusable' | keyof ServerOffers>): string {
  const each = tools.map((tool) => canonicalJson(tool)).sort()
  const rest = unusable.map(({ name, reason }) => canonicalJson([name ?? '', reason])).sort()
  return shortHash(
    canonicalJson({ each, rest, instructions, ...dropUndefined({ prompts, resources, templates }) }),
    32,
  )
}

/** Tools by name. If two tools have the same name, the first wins. */
export function toolsByName(tools: readonly McpTool[]): Map<string, McpTool> {
  const byName = new Map<string, McpTool>()
  for (const tool of tools) if (!byName.has(tool.name)) byName.set(tool.name, tool)
  return byName
}

/** Compares two lists of tools. */
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

const wanting = new WeakMap<McpTool, boolean>()

/** Does the tool want arguments repeated in headers (`x-mcp-header`)? Checked once per tool. */
export function wantsHeaders(tool: McpTool): boolean {
  const known = wanting.get(tool) ?? JSON.stringify(tool.inputSchema).includes('"x-mcp-header"')
  wanting.set(tool, known)
  return known
}
