/** The tools of a corpus as servers that have been listed. */
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

/** The tools by server; generated ones, which have few servers, are dealt out to as many. */
export function bySource(tools: readonly Tool[], count: number): Map<string, Tool[]> {
  const isReal = new Set(tools.map(({ source }) => source)).size >= count
  if (!isReal) return dealtOut(tools, count)
  const groups = new Map<string, Tool[]>()
  for (const tool of tools) {
    // As a config would name it: the joint stands for a slash of the package, which file names cannot hold.
    const name = (tool.source ?? '').replaceAll('__', '-')
    groups.set(name, [...(groups.get(name) ?? []), tool])
  }
  return groups
}

/** One after the other to so many servers of the same size, none with two of one name. */
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
