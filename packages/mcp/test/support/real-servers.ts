/** Real servers from npm, as they are installed for the tests. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { defineServer, type ServerConfig, type ServerOptions } from '@toolwell/mcp'

const require = createRequire(import.meta.url)

/** The program of an installed server. */
export function programOf(name: string): string {
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`)
  return join(dirname(manifest), 'dist', 'index.js')
}

export function realServer(
  name: 'everything' | 'filesystem' | 'memory' | 'sequential-thinking',
  args: readonly string[] = [],
  options: ServerOptions & { env?: Record<string, string> } = {},
): ServerConfig {
  const { env = {}, ...rest } = options
  return defineServer(name, { command: process.execPath, args: [programOf(name), ...args], env }, rest)
}
