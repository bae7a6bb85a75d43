/** The agent, put together: tools and their manifest, plugins, sub-agents, MCP servers, permissions, and sessions in a folder. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createToolwell, type TargetCall, type Toolwell, type ToolwellOptions } from '@toolwell/core'
import { jsonlStore } from '@toolwell/core/stores/jsonl'
import {
  type ConnectOptions,
  connectServers,
  defaultConfigFiles,
  describeProblem,
  loadConfig,
  type Servers,
} from '@toolwell/mcp'
import { type AgentEvent, fromServers, fromToolwell } from './events.ts'
import { readAgents, readPlugins, transformWith } from './extensions.ts'
import { createPermissions, type Mode, type PermissionRules } from './permissions.ts'
import { openSession, type Session, type SessionOptions } from './session.ts'
import { delegateTo, exitPlanMode, queryJournal, todoWrite } from './session-tools.ts'
import { type SurfaceName, surfaces } from './surfaces.ts'
import { workspaceTools } from './tools.ts'

export interface AgentOptions
  extends Pick<SessionOptions, 'servers' | 'wire' | 'contextTokens' | 'signal' | 'pause' | 'onRequest'> {
  /** The folder that is worked on. `.agent` in it holds `agents/*.md`, `plugins/*.mjs`, and the sessions unless `sessions` says otherwise. */
  readonly workspace: string
  readonly sessions?: string
  /** Config files of MCP servers, weaker first. Default: the user's toolwell.json, then the workspace's. */
  readonly serverFiles?: readonly string[]
  readonly surface?: SurfaceName
  /** Laid over the surface. */
  readonly toolwell?: ToolwellOptions
  readonly permissions?: PermissionRules
  /** The mode of new sessions. */
  readonly mode?: Mode
  /** Puts a question to a person; without one, what has to be asked is refused. */
  readonly ask?: (call: TargetCall) => Promise<boolean>
  readonly connect?: ConnectOptions
  readonly onEvent?: (event: AgentEvent, session: string) => void
}

export interface Agent {
  readonly well: Toolwell
  readonly servers: Servers
  /** Where sessions lie. */
  readonly folder: string
  /** A new session, or a known one as it was. */
  open(id: string): Promise<Session>
  close(): Promise<void>
}

const MANIFEST = fileURLToPath(new URL('./extension-manifest.json', import.meta.url))
/** A search that finds nothing waits for servers; the first request need not. */
const WAIT_FOR_SERVERS = 2000

export async function openAgent(options: AgentOptions): Promise<Agent> {
  const { workspace, surface = 'toolwell', mode, permissions: rules = {}, ask } = options
  const own = join(workspace, '.agent')
  const folder = options.sessions ?? join(own, 'sessions')
  const [agents, plugins, manifest] = await Promise.all([
    readAgents(join(own, 'agents')),
    readPlugins(join(own, 'plugins')),
    readFile(MANIFEST, 'utf8'),
  ])
  const files = options.serverFiles ?? defaultConfigFiles(workspace)
  const config = loadConfig({ files, workspaceFolder: workspace })
  const tell = (event: AgentEvent | undefined, session = '') => {
    if (event) options.onEvent?.(event, session)
  }
  for (const problem of config.problems) tell({ kind: 'notice', text: describeProblem(problem) })

  const tools = [...workspaceTools(workspace), delegateTo(agents), todoWrite, exitPlanMode, queryJournal]
  const permissions = createPermissions(rules, ask)
  const { options: shown, childOf } = surfaces[surface]
  const preset = shown({ tools, manifest, file: MANIFEST, connect: (server) => servers.refresh(server) })
  const well = createToolwell({
    ...preset,
    surface: { ...preset.surface, ...transformWith(plugins) },
    store: jsonlStore(folder),
    onEvent: (event) => tell(fromToolwell(event), event.conversation),
    ...options.toolwell,
  })
  const servers: Servers = connectServers(well.catalogue, config, {
    ...options.connect,
    onEvent: (event) => tell(fromServers(event)),
  })
  await servers.settled(WAIT_FOR_SERVERS)

  return {
    well,
    servers,
    folder,
    async open(id) {
      const session = await openSession(
        {
          ...options,
          ...permissions,
          well,
          folder,
          agents,
          ...(childOf ? { childOf } : {}),
          system: `You are a coding agent. You work on the project in ${workspace}. Say what you did when you are done.`,
          onEvent: tell,
        },
        id,
      )
      const { length } = session.messages
      if (length === 0 && mode !== undefined && mode !== session.mode) await session.setMode(mode)
      const { loadedLazyTools: loaded } = session.conversation.inspect()
      tell({ kind: 'session', wire: session.wire, mode: session.mode, messages: length, loaded }, id)
      return session
    },
    close: () => servers.close(),
  }
}
