/** What a bridge and a daemon agree on. Imported by the thin bridge: nothing but constants, types and paths. */

/** Grows when a bridge of one version cannot talk to a daemon of another. */
export const PROTOCOL = 1

/** The name of the protocol in the HTTP upgrade. What follows is MCP, one message in each line, in both directions. */
export const UPGRADE = 'toolwell-stdio'
/** The absolute path of the folder that a caller works in. */
export const WORKSPACE_HEADER = 'X-Toolwell-Workspace'
/** Bytes of one request, over HTTP and over stdio. */
export const LARGEST_REQUEST = 16 * 1024 * 1024
/** Megabytes of one line: what is longer is no message, and what follows cannot be read. */
export const LONGEST_LINE_MEGABYTES = 64
export const LONGEST_LINE = LONGEST_LINE_MEGABYTES * 1024 * 1024
/** The id of the process at the other end, for `status`. */
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

/** Why no config can have a profile of this name; a sentence. The path of one would lead to other tools, and mostly to all. */
export function profileFault(profile: string): string | undefined {
  const isPart = profile.trim() !== '' && !['all', '.', '..'].includes(profile) && !/[/\\]/.test(profile)
  if (isPart) return undefined
  const instead = profile === 'all' ? ' For every tool, give --all instead.' : ''
  return `No profile can be called ${JSON.stringify(profile)}.${instead}`
}

/** Where a daemon is, as its file says. */
export interface DaemonFile {
  readonly pid: number
  readonly port: number
  /** One daemon in its whole life. */
  readonly instance: string
  readonly version: string
  readonly protocol: number
  /** `bridge`: it stops when it is idle. */
  readonly startedBy: 'bridge' | 'person'
  readonly startedAt: number
  /** When its process started, as the system counts: its id may go to another. Absent where the system does not say. */
  readonly start?: string
  /** What it was started with besides its folder: its config, its port. Whoever starts it again after it was killed gives the same. */
  readonly words?: readonly string[]
}

/** What a daemon says to anyone who asks. `proof` shows that it knows the token, without saying it. */
export interface Identity {
  readonly toolwell: 'gateway'
  readonly instance: string
  readonly version: string
  readonly protocol: number
  readonly proof: string
}
