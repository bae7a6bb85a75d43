/** Where servers are looked for: what clients with a config for each project call it, pi's own places, and Toolwell's. The weaker first. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { type ConfigFile, defaultConfigFiles } from '@toolwell/mcp'

export interface ConfigFiles {
  /** The user's, for every folder. */
  readonly own: readonly ConfigFile[]
  /** Those of the folder where pi runs: somebody else may have written them. */
  readonly project: readonly string[]
}

export function configFiles(
  folder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConfigFiles {
  const agent = env.PI_CODING_AGENT_DIR || join(homedir(), '.pi', 'agent')
  const [user, project] = defaultConfigFiles(folder, env)
  const own = [...(user ? [user] : []), { path: join(agent, 'mcp.json'), optional: true, own: true }]
  const paths = [
    join(folder, '.mcp.json'),
    join(folder, '.pi', 'mcp.json'),
    ...(project ? [project.path] : []),
  ]
  const isOwn = (path: string) => own.some((file) => resolve(file.path) === resolve(path))
  return { own, project: paths.filter((path) => !isOwn(path)) }
}
