/** The JSON of the dashboard about tools, changes of the config, servers and approvals. Types only. */
import type { Time } from './api-types.js'

// Tools

/**
 * `read-only`: approved by you. `claims-read-only`, `changes`, `destructive`: the annotations of its server, which prove nothing.
 */
export type Risk = 'read-only' | 'claims-read-only' | 'changes' | 'destructive' | 'unknown'

/**
 * `pinned`: named by `alwaysLoad`. `eager`: sent for another reason. `deferred`: found by search. `denied`: not offered.
 * `quarantined`: waits for approval.
 */
export type ToolState = 'pinned' | 'eager' | 'deferred' | 'denied' | 'quarantined'

/** `GET tools?set=` */
export interface ToolsAnswer {
  readonly tools: readonly ToolRow[]
}

export interface ToolRow {
  readonly set: string
  readonly server: string
  readonly tool: string
  readonly risk: Risk
  readonly state: ToolState
  /** Why it is in this state, in one sentence. */
  readonly why: string
  readonly description: string
  /** Calls that ran, with those that failed. */
  readonly calls: number
  readonly errors: number
  readonly refused: number
  /** How often a recent search was followed by a call of this tool. */
  readonly searched: number
  readonly lastUsed?: Time
  readonly definitionTokens: number
  /** Tokens of all results, and of the longest one. */
  readonly responseTokens: number
  readonly largestResponse: number
  /** Milliseconds. Absent without calls. */
  readonly p50?: number
  readonly p95?: number
}

export interface ToolName {
  readonly set: string
  readonly server: string
  readonly tool: string
}

/** `allow` removes an earlier `deny` of exactly this name. */
export type ToolAction = 'pin' | 'defer' | 'deny' | 'allow' | 'read-only' | 'not-read-only'

/** `POST changes/preview` writes nothing. `POST changes` writes. */
export interface ChangeRequest {
  readonly action: ToolAction
  readonly tools: readonly ToolName[]
}

export interface ChangePreview {
  readonly files: readonly FileChange[]
  /** Tools that the change does not reach, with the reason. */
  readonly skipped: readonly (ToolName & { readonly reason: string })[]
}

export interface FileChange {
  readonly path: string
  readonly lines: readonly ChangedLine[]
}

export interface ChangedLine {
  readonly kind: 'kept' | 'added' | 'removed'
  /** In the file before the change for `removed`, otherwise after it. */
  readonly line: number
  readonly text: string
}

/** Answer to `POST changes`. `GET changes` returns `{ changes: ChangeResult[] }`, newest first. */
export interface ChangeResult extends ChangePreview {
  readonly id: string
  readonly time: Time
  readonly title: string
  /** False after an undo, or if somebody changed a file since. `POST changes/ID/undo` undoes it. */
  readonly isUndoable: boolean
}

// Server

export type ServerState =
  | 'cached'
  | 'connecting'
  | 'ready'
  | 'idle'
  | 'failed'
  | 'disabled'
  | 'quarantined'
  | 'needs-login'

/** `GET servers?set=` */
export interface ServersAnswer {
  readonly servers: readonly ServerRow[]
}

export interface ServerRow {
  readonly set: string
  readonly name: string
  readonly state: ServerState
  /** Why it is in this state. May be empty. */
  readonly reason: string
  /** What to do next. Empty if nothing is needed. */
  readonly fix: string
  readonly description: string
  /** Command or address, without secrets. */
  readonly endpoint: string
  /** The name and version that the server sent. */
  readonly info?: { readonly name: string; readonly version: string }
  readonly config?: string
  readonly tools: number
  readonly quarantined: number
  /** Successful starts. */
  readonly starts: number
  readonly sharedBy: 'everyone' | 'folder' | 'client' | 'conversation'
  readonly processes: readonly ProcessRow[]
  /** When its tools were last read. */
  readonly listedAt?: Time
  readonly trusted: 'lock' | 'first-use' | 'config' | 'nothing'
  /** It has a login that `POST servers/login` starts. */
  readonly canLogIn: boolean
}

export interface ProcessRow {
  /** Absent for remote servers. */
  readonly pid?: number
  /** Absent if the system does not report it. */
  readonly startedAt?: Time
  /** Bytes. Absent if the system does not report it. */
  readonly memory?: number
  readonly client?: string
  readonly project: string
  /** Running calls. */
  readonly busy: number
}

/** `GET server?set=&name=` */
export interface ServerDetail extends ServerRow {
  readonly log: {
    readonly file: string
    /** The last 200 lines, oldest first. */
    readonly lines: readonly string[]
  }
  /** Changes that wait for approval. */
  readonly changes: readonly DefinitionChange[]
  readonly definitions: readonly DefinitionRow[]
  readonly instructions: string
  /** Findings of the scan that do not quarantine. */
  readonly findings: readonly FindingRow[]
  /** Commands of its entry that wait for approval. */
  readonly commands: readonly string[]
}

export interface DefinitionRow {
  readonly tool: string
  readonly state: ToolState
  readonly description: string
  /** The definition as its server lists it, as JSON. */
  readonly definition: string
  readonly tokens: number
}

export interface DefinitionChange {
  readonly kind: 'added' | 'changed' | 'removed'
  readonly tool?: string
  readonly reason: string
  /** The text before is the approved one. `path` is for example `description` or `inputSchema.properties.path.type`. */
  readonly fields: readonly { readonly path: string; readonly before?: string; readonly after?: string }[]
  readonly findings: readonly FindingRow[]
  readonly isPoisoned: boolean
  /** Names exactly this change and definition. An approval sends it back. */
  readonly seen: string
}

export interface FindingRow {
  readonly severity: 'hard' | 'soft'
  readonly tool?: string
  readonly detail: string
}

/**
 * `POST approvals`. Without `tool`: the instructions and start command of the server, or its commands with `what: 'commands'`.
 * `reject` denies the tool in the config, or disables the server.
 */
export interface ApprovalRequest {
  readonly set: string
  readonly server: string
  readonly tool?: string
  readonly what?: 'definition' | 'commands'
  readonly decision: 'approve' | 'reject'
  /** What the user read before an approval: `seen` of the change, or the commands, joined by line ends. */
  readonly seen?: string
  readonly despiteFindings?: boolean
}

export interface ApprovalAnswer {
  /** Where the approval was written: a lock file, or the first-use records. */
  readonly written: string
  /** A rejection is a change of the config, which can be undone. */
  readonly change?: ChangeResult
}

/** `POST servers/restart`, answered with the new `ServerRow`, and `POST servers/login`, answered with `LoginAnswer`. */
export interface ServerRequest {
  readonly set: string
  readonly server: string
}

/** Open the address in a new tab. When the login ends, the event `attention` follows. */
export interface LoginAnswer {
  readonly address: string
}
