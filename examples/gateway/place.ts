/** Folders, config, servers and example project of the gateway of `npm start`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { projectOf, seedProject } from '../proof/setup.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** The command for clients: an absolute path to node and to the script. */
export const SCRIPT = join(root, 'packages', 'cli', 'bin', 'toolwell.mjs')

export interface Place {
  readonly folder: string
  /** The example project. */
  readonly project: string
  /** The private folder of the gateway. */
  readonly state: string
  /** Keeps all files of the command in this folder instead of the user's folders. */
  readonly env: Record<string, string>
}

/** Paths only. Writes nothing. */
export function placeIn(folder: string): Place {
  return {
    folder,
    project: projectOf(folder),
    state: join(folder, 'gateway'),
    env: {
      ...(process.env as Record<string, string>),
      // Hints then say `npm run -s toolwell --`, which works in a clone.
      npm_lifecycle_event: 'toolwell',
      XDG_CONFIG_HOME: join(folder, 'config'),
      XDG_STATE_HOME: join(folder, 'state'),
      XDG_CACHE_HOME: join(folder, 'cache'),
      XDG_DATA_HOME: join(folder, 'data'),
    },
  }
}

/** Writes the example project and the config. Call it only if no gateway uses them. */
export async function preparePlace(place: Place, more: object = {}): Promise<Place> {
  const { folder, project } = place
  await seedProject(folder)
  const config = join(folder, 'config', 'toolwell')
  mkdirSync(config, { recursive: true })
  writeFileSync(
    join(config, 'toolwell.json'),
    `${JSON.stringify(configOf(folder, project, more), null, 2)}\n`,
  )
  return place
}

/** True if definitions are cached from an earlier start. */
export function isListed({ folder }: Place): boolean {
  return existsSync(join(folder, 'cache'))
}

/** Keeps only the token and the cached definitions. */
export function clearPlace({ folder, project }: Place): void {
  for (const name of [project, join(folder, 'website')]) rmSync(name, { recursive: true, force: true })
  rmSync(join(folder, 'memory.jsonl'), { force: true })
  rmSync(join(folder, 'config'), { recursive: true, force: true })
}

/** Servers have a fixed folder, so that clients in any folder share them. */
function configOf(folder: string, project: string, more: object): object {
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
        // Stays offline: no update check and no usage statistics.
        env: { CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS: '1', CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS: '1' },
      }),
      ...more,
    },
    profiles: { files: { servers: ['filesystem'] } },
  }
}

/** A process ended by a signal has no exit code. */
export const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null

/** Starts the gateway as a separate process. */
export function startServe({ state, env, project }: Place, ...words: string[]) {
  return spawn(process.execPath, [SCRIPT, 'serve', '--folder', state, ...words], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
