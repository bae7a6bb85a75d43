/** Constants and types shared by bridge and daemon. */

/** Increase it when bridges and daemons of different versions can no longer talk to each other. */
export const PROTOCOL = 1

/** Names of the gateway's search tool and of the tool that calls others. */
export const SEARCH_NAME = 'find_tools'
export const CALL_NAME = 'run_tool'

/** Protocol name in the HTTP upgrade. The connection then carries MCP messages, one per line, in both directions. */
export const UPGRADE = 'toolwell-stdio'
/** Absolute path of the folder in which the caller works. */
export const WORKSPACE_HEADER = 'X-Toolwell-Workspace'
/** Limit of one request in bytes, over HTTP and stdio. */
export const LARGEST_REQUEST = 16 * 1024 * 1024
/** Limit of one line in megabytes. After a longer line, the input cannot be read any more. */
export const LONGEST_LINE_MEGABYTES = 64
export const LONGEST_LINE = LONGEST_LINE_MEGABYTES * 1024 * 1024
/** Id of the bridge, which it keeps when it reconnects. Servers with `share: client` have one process for each id. */
export const CLIENT_HEADER = 'X-Toolwell-Client'
/** The principal of the bridge: the name of a token, or `stdio:` and the client of the entry. */
export const PRINCIPAL_HEADER = 'X-Toolwell-Principal'
/** No name of a token contains a colon. */
export const STDIO_PRINCIPAL = 'stdio:'
/** Process id of the bridge, for `status`. */
export const PID_HEADER = 'X-Toolwell-Pid'

/** `/mcp`, `/mcp/all`, `/mcp/PROFILE`, `/mcp/PROFILE/all`. */
export function endpointPath({
  profile,
  isAll,
}: {
  readonly profile: string | undefined
  readonly isAll: boolean
}): string {
  return `/mcp${profile === undefined ? '' : `/${encodeURIComponent(profile)}`}${isAll ? '/all' : ''}`
}

/** Why a profile cannot have this name: its path would lead to other tools. Undefined if it can. */
export function profileFault(profile: string): string | undefined {
  const isPart = profile.trim() !== '' && !['all', '.', '..'].includes(profile) && !/[/\\]/.test(profile)
  if (isPart) return undefined
  const instead = profile === 'all' ? ' For every tool, give --all instead.' : ''
  return `No profile can be called ${JSON.stringify(profile)}.${instead}`
}

/** Path that stops a daemon. For an upgrade, it frees its address at once and finishes its running calls. */
export const STOP_PATH = '/stop'
export const UPGRADE_PATH = `${STOP_PATH}?for=upgrade`

/** Path that creates a link to the dashboard, for the key only. */
export const DASHBOARD_LINK_PATH = '/dashboard/link'

/** The file that says where the daemon runs. */
export interface DaemonFile {
  readonly pid: number
  readonly port: number
  /** Unique for each run of a daemon. */
  readonly instance: string
  /** Secret of this run, for bridges and the command. HTTP clients send the token, which reaches any program on their port. */
  readonly key: string
  readonly version: string
  readonly protocol: number
  /** A daemon started by `bridge` stops when idle. */
  readonly startedBy: 'bridge' | 'person'
  readonly startedAt: number
  /** Start time of the process, because process ids are reused. Absent if the system does not report it. */
  readonly start?: string
  /** Arguments of the daemon without its folder, used to restart it after it was killed. */
  readonly words?: readonly string[]
  /** The wanted port, if another program has it. The gateway then accepts no HTTP clients. */
  readonly takenPort?: number
}

/** Public identity of a daemon. `proof` shows that it knows the key. */
export interface Identity {
  readonly toolwell: 'gateway'
  readonly instance: string
  readonly version: string
  readonly protocol: number
  readonly proof: string
}
