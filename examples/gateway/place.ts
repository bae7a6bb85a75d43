/** Where the gateway of `npm start` lives: its folders, its five servers, the example project they work on. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { projectOf, seedProject } from '../proof/setup.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The command, as clients are given it: an absolute node and an absolute script. */
export const SCRIPT = join(root, 'packages', 'cli', 'bin', 'toolwell.mjs')

export interface Place {
  readonly folder: string
  /** The example project. */
  readonly project: string
  /** The private folder of the gateway. */
  readonly state: string
  /** Everything that the command keeps is kept here, and not in the user's own folders. */
  readonly env: Record<string, string>
}

/** Where everything is. Nothing is written. */
export function placeIn(folder: string): Place {
  return {
    folder,
    project: projectOf(folder),
    state: join(folder, 'state', 'toolwell', 'gateway'),
    env: {
      ...(process.env as Record<string, string>),
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_DATA_HOME: join(folder, 'data'),
    },
  }
}

/** The example project and the config. Only where no gateway runs on them. */
export async function preparePlace(place: Place): Promise<Place> {
  const { folder, project } = place
  await seedProject(folder)
  const config = join(folder, 'config', 'toolwell')
  mkdirSync(config, { recursive: true })
  writeFileSync(join(config, 'toolwell.json'), `${JSON.stringify(configOf(folder, project), null, 2)}\n`)
  return place
}

/** Whether what is known of the servers is kept from an earlier start. */
export function isListed({ folder }: Place): boolean {
  return existsSync(join(folder, 'cache'))
}

/** What is worth keeping is the token and what is known of the servers. */
export function clearPlace({ folder, project }: Place): void {
  rmSync(project, { recursive: true, force: true })
  rmSync(join(folder, 'memory.jsonl'), { force: true })
  rmSync(join(folder, 'config'), { recursive: true, force: true })
}

/** With a folder of their own, so that clients in any folder share them. */
function configOf(folder: string, project: string): object {
  const installed = (name: string) => join(root, 'node_modules', '.bin', name)
  const server = (command: string, more: object = {}) => ({
    command: installed(command),
    cwd: project,
    ...more,
  })
  return {
    mcpServers: {
      everything: server('mcp-server-everything', { readOnly: ['echo', 'get-sum'] }),
      filesystem: server('mcp-server-filesystem', {
        args: [project],
        readOnly: ['read_*', 'list_*', 'get_*', 'search_*', 'directory_tree'],
      }),
      memory: server('mcp-server-memory', {
        env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
        readOnly: ['read_graph', 'search_nodes', 'open_nodes'],
      }),
      playwright: server('playwright-mcp', {
        args: ['--headless', '--isolated', '--caps=vision,pdf,devtools'],
      }),
      'chrome-devtools': server('chrome-devtools-mcp', {
        args: ['--headless', '--isolated', '--categoryExtensions', '--categoryPwa', '--memoryDebugging'],
        // Nothing leaves this machine: it would ask for a newer version of itself, and report how it is used.
        env: { CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: '1', CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS: '1' },
      }),
    },
    profiles: { files: { servers: ['filesystem'] } },
  }
}

/** One that was ended by a signal has no exit code. */
export const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** The gateway as a process of its own. */
export function startServe({ state, env, project }: Place, ...words: string[]) {
  return spawn(process.execPath, [SCRIPT, 'serve', '--folder', state, ...words], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
