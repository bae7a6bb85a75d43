/** The config of one hall: its servers as they are in one workspace, and what each profile leaves of them. */
import { homedir } from 'node:os'
import { defined } from '@toolwell/core/internal'
import {
  type Config,
  type ConfigFile,
  type ConfigProblem,
  loadConfig,
  type ServerConfig,
} from '@toolwell/mcp'

/** Servers, and the names of those that work in a project folder where there is none. */
export interface Selection {
  readonly servers: readonly ServerConfig[]
  readonly homeless: readonly string[]
}

export interface HallConfig extends Config, Selection {
  /** What a profile selects; undefined where there is none of that name. */
  profile(name: string): Selection | undefined
}

export interface HallConfigOptions {
  /** The config files that count in a workspace, the weaker first. */
  readonly files: (workspace: string | undefined) => readonly ConfigFile[]
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A folder that no config names. */
const NOWHERE = '/toolwell-without-a-workspace'

export function readHallConfig({ files, env }: HallConfigOptions, workspace: string | undefined): HallConfig {
  const load = (workspaceFolder: string, profile?: string): Config =>
    loadConfig({ files: files(workspace), env, workspaceFolder, ...defined({ profile }) })
  const whole = load(workspace ?? homedir())
  const settled = new Map(
    workspace === undefined ? load(NOWHERE).servers.map((each) => [each.name, reached(each)]) : [],
  )
  const select = ({ servers }: Config): Selection => {
    if (workspace !== undefined) return { servers, homeless: [] }
    const isSettled = (server: ServerConfig) => settled.get(server.name) === reached(server)
    return {
      servers: servers.filter(isSettled),
      homeless: servers.filter((server) => !isSettled(server)).map(({ name }) => name),
    }
  }
  return {
    ...whole,
    ...select(whole),
    profile: (name) =>
      Object.hasOwn(whole.profiles, name) ? select(load(workspace ?? homedir(), name)) : undefined,
  }
}

/** How a server is started or reached. The folder it runs in when nothing is said of one is no part of it. */
function reached({ endpoint }: ServerConfig): string {
  if (endpoint.type !== 'stdio') return JSON.stringify(endpoint)
  const { cwd, ...rest } = endpoint
  return JSON.stringify([rest, cwd === homedir() || cwd === NOWHERE ? '' : cwd])
}

/** What makes a config unusable as a whole: a file that cannot be read. One broken entry costs only that server. */
export function brokenFiles({ problems }: Config): ConfigProblem[] {
  return problems.filter(
    ({ severity, server, path }) => severity === 'error' && server === undefined && path === '',
  )
}
