/** What a bridge and a daemon agree on. Imported by the thin bridge: nothing but constants and types. */

/** Grows when a bridge of one version cannot talk to a daemon of another. */
export const PROTOCOL = 1

/** The name of the protocol in the HTTP upgrade. What follows is MCP, one message in each line, in both directions. */
export const UPGRADE = 'toolwell-stdio'
/** The absolute path of the folder that a caller works in. */
export const WORKSPACE_HEADER = 'X-Toolwell-Workspace'
/** The id of the process at the other end, for `status`. */
export const PID_HEADER = 'X-Toolwell-Pid'

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
}

/** What a daemon says to anyone who asks. `proof` shows that it knows the token, without saying it. */
export interface Identity {
  readonly toolwell: 'gateway'
  readonly instance: string
  readonly version: string
  readonly protocol: number
  readonly proof: string
}
