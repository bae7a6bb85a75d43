/**
 * Names of tools that were listed before. With each tool that joins a running session, pi makes its whole list anew; those that it
 * gets while the extension is loaded cost nothing. A name that is gone by now does no harm: it is not offered.
 */
import { createToolwell } from '@toolwell/core'
import { diskCache, type ServerConfig } from '@toolwell/mcp'

export function knownNames(servers: readonly ServerConfig[]): string[] {
  const cache = diskCache()
  const { catalogue } = createToolwell()
  for (const server of servers) {
    const tools = server.enabled ? (cache.read(server)?.definition.tools ?? []) : []
    const named = tools.map(({ name }) => ({
      name,
      description: '',
      inputSchema: { type: 'object' as const },
    }))
    catalogue.setSource(server.name, { tools: named })
  }
  return [...catalogue.entries()].map(({ wireName }) => wireName)
}
