/** Turns the tools of a corpus into listed servers. */
import type { Tool } from '@toolwell/core'
import type { ServerDefinition } from '@toolwell/mcp'

export function definitionOf(
  tools: readonly Tool[],
  info: ServerDefinition['info'] = undefined,
): ServerDefinition {
  return {
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: inputSchema as ServerDefinition['tools'][number]['inputSchema'],
    })),
    instructions: '',
    capabilities: { tools: {} },
    info,
    era: 'legacy',
    ttlMs: undefined,
    cacheScope: 'private',
  }
}

/** Tools by server. Generated tools, which have few servers, are spread over `count` servers. */
export function bySource(tools: readonly Tool[], count: number): Map<string, Tool[]> {
  const isReal = new Set(tools.map(({ source }) => source)).size >= count
  if (!isReal) return dealtOut(tools, count)
  const groups = new Map<string, Tool[]>()
  for (const tool of tools) {
    // As a config would name it: `__` replaces the slash of the package name, which file names cannot contain.
    const name = (tool.source ?? '').replaceAll('__', '-')
    groups.set(name, [...(groups.get(name) ?? []), tool])
  }
  return groups
}

/** Spreads tools over `count` servers of equal size. No server gets two tools with one name. */
export function dealtOut(tools: readonly Tool[], count: number): Map<string, Tool[]> {
  const groups = new Map<string, Tool[]>()
  for (const [index, tool] of tools.entries()) {
    const name = `server${index % count}`
    const group = groups.get(name) ?? []
    if (!group.some((other) => other.name === tool.name)) group.push(tool)
    groups.set(name, group)
  }
  return groups
}
