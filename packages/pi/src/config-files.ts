/** Where servers are looked for: what clients with a config for each project call it, pi's own places, and Toolwell's. The weaker first. */
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type ConfigFile, defaultConfigFiles } from '@toolwell/mcp'

export function configFiles(
  folder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConfigFile[] {
  const agent = env.PI_CODING_AGENT_DIR || join(homedir(), '.pi', 'agent')
  const [user, project] = defaultConfigFiles(folder, env)
  const paths = [join(agent, 'mcp.json'), join(folder, '.mcp.json'), join(folder, '.pi', 'mcp.json')]
  const others = paths.map((path) => ({ path, optional: true }))
  return [...(user ? [user] : []), ...others, ...(project ? [project] : [])]
}
