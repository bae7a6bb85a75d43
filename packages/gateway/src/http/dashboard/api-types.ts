/**
 * The JSON of the dashboard and of `/api/v1`. Types only. Every text from a server or a client is data: its names, descriptions and
 * results may contain markup.
 */

import type { ServerRow, ToolRow } from './server-api-types.js'

export type * from './server-api-types.js'

/** Milliseconds since the epoch. */
export type Time = number

export type Outcome = 'ok' | 'error' | 'refused'

/** `GET session` */
export interface SessionAnswer {
  readonly version: string
  /** Unique for each run of the gateway. */
  readonly instance: string
  readonly startedAt: Time
  /** The address for MCP clients. */
  readonly address: string
  /** The words that start the command, for lines that the user pastes. */
  readonly command: string
  /** The command for a new link. */
  readonly linkCommand: string
  readonly sets: readonly SetSummary[]
}

/** A server set: the servers of one set of config files. Most users have one. */
export interface SetSummary {
  readonly id: string
  readonly files: readonly string[]
  /** Config files that do not exist. */
  readonly missing: readonly string[]
  /** Project folders that use it. */
  readonly workspaces: readonly string[]
  readonly servers: number
  readonly tools: number
  /** Tokens of all definitions, and of the list that clients get instead. */
  readonly tokens: { readonly all: number; readonly list: number }
}

/** The body of every answer with status 400 or above. `message` says what went wrong and what to do next. */
export interface ErrorAnswer {
  readonly error: { readonly code: string; readonly message: string }
}

// Now

/** `GET now` */
export interface NowAnswer {
  readonly attention: readonly Attention[]
  /** Newest first, at most 100. */
  readonly calls: readonly CallRow[]
  readonly clients: readonly ClientRow[]
  /** Since the start of the gateway. */
  readonly counts: {
    readonly calls: number
    readonly errors: number
    readonly refused: number
    readonly searches: number
  }
  /** Tokens saved in 30 days. Undefined if no client listed tools. */
  readonly saved?: number
}

/** Something that needs the user. `id` stays the same while it lasts. */
export type Attention =
  /** A definition that waits for approval. Without `tool`: the instructions or start command of the server. */
  | {
      readonly kind: 'definition'
      readonly id: string
      readonly set: string
      readonly server: string
      readonly tool?: string
      readonly change: 'added' | 'changed' | 'removed'
      readonly reason: string
      /** The scan has hard findings. Approval needs `despiteFindings`. */
      readonly isPoisoned: boolean
    }
  /** The entry of the server runs commands or sends variables that the user has not approved. */
  | {
      readonly kind: 'commands'
      readonly id: string
      readonly set: string
      readonly server: string
      readonly commands: readonly string[]
    }
  | {
      readonly kind: 'login'
      readonly id: string
      readonly set: string
      readonly server: string
      readonly reason: string
    }
  | {
      readonly kind: 'failed'
      readonly id: string
      readonly set: string
      readonly server: string
      readonly reason: string
      readonly fix: string
    }
  /** A problem in the config. Without `server`: about a whole file. */
  | {
      readonly kind: 'config'
      readonly id: string
      readonly set: string
      readonly server?: string
      readonly problem: string
    }
  /** The config of a project that is skipped until the user trusts it in a terminal. */
  | {
      readonly kind: 'untrusted'
      readonly id: string
      readonly set: string
      readonly folder: string
      readonly file: string
      readonly command: string
    }
  /** Records or long results that could not be written. */
  | {
      readonly kind: 'lost'
      readonly id: string
      readonly what: 'calls' | 'results'
      readonly count: number
      readonly reason: string
    }

export interface ClientRow {
  readonly name: string
  /** `http`: requests without a session. */
  readonly kind: 'stdio' | 'session' | 'http'
  /** For example `/mcp`. */
  readonly endpoint: string
  readonly project: string
  readonly calls: number
  readonly searches: number
  readonly refused: number
  readonly joinedAt: Time
  readonly lastSeen: Time
}

// Work

export interface CallRow {
  /** Unique while the gateway runs. Later calls have larger ids. */
  readonly id: number
  /** ISO 8601, the end of the call. */
  readonly time: string
  /** The token, or `stdio:CLIENT`. */
  readonly principal: string
  readonly client: string
  /** The project folder. Empty if the client sent none. */
  readonly project: string
  /** Empty if no server has the requested tool. */
  readonly server: string
  readonly tool: string
  readonly outcome: Outcome
  /** Why the tool did not run. */
  readonly reason?: string
  readonly milliseconds: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly tokensIn: number
  readonly tokensOut: number
}

/** `GET calls?before=ID&limit=100&client=&project=&server=&tool=&outcome=`, newest first. The latest 2,000 calls are kept. */
export interface CallsAnswer {
  readonly calls: readonly CallRow[]
  /** Pass it as `before` for the next page. Absent on the last page. */
  readonly before?: number
}

/** `GET calls/ID` */
export interface CallDetail extends CallRow {
  /** Undefined if it is too old: only the latest few megabytes are kept, in memory. Secrets of the config are replaced. */
  readonly content?: {
    readonly arguments: CutText
    readonly result: CutText
  }
  /** Where a long result is kept, for `read_result`. */
  readonly kept?: { readonly handle: string }
}

export interface CutText {
  readonly text: string
  /** Characters of the whole text. Larger than `text.length` if it is cut. */
  readonly characters: number
}

/** `GET work?unit=hour|day&from=TIME&client=&project=`. One entry per client, project and hour or day; empty slots are missing. */
export interface WorkAnswer {
  readonly unit: 'hour' | 'day'
  readonly slots: readonly WorkSlot[]
  /** Every known value, for the filters. */
  readonly clients: readonly string[]
  readonly projects: readonly string[]
  readonly servers: readonly string[]
}

export interface WorkSlot {
  readonly start: Time
  readonly client: string
  readonly project: string
  readonly calls: number
  readonly errors: number
  readonly refused: number
  readonly searches: number
  readonly tokensOut: number
}

// Search lab

/** `GET search?set=&query=&limit=` asks exactly as an agent does, and records nothing. */
export interface SearchLabAnswer {
  readonly query: string
  /** The text that the model gets, byte for byte. */
  readonly answer: string
  readonly tokens: number
  /** Nothing clearly fits. */
  readonly isUnclear: boolean
  /** In the order of the answer. */
  readonly matches: readonly SearchMatch[]
  /** Tools that ranked lower and are not in the answer, best first, at most 20. */
  readonly others: readonly SearchMatch[]
}

export interface SearchMatch {
  readonly server: string
  readonly tool: string
  /** The name that the model uses. */
  readonly name: string
  readonly rank: number
  readonly score: number
  /** 0 to 1, of the best possible hit. */
  readonly relevance: number
  /** An agent can call it next. */
  readonly isLoaded: boolean
  /** Tokens of its definition. */
  readonly tokens: number
  readonly reasons: readonly SearchReason[]
}

/** One word and what it adds to the score. */
export interface SearchReason {
  readonly term: string
  /** A `synonym` or `concept` is not in the request, but near one of its words. A `pair` is two words that follow each other. */
  readonly kind: 'word' | 'synonym' | 'concept' | 'pair' | 'literal'
  /** For example `name`, `description`, `parameters`. */
  readonly field: string
  readonly score: number
}

/** `GET searches`: what models searched for, newest first. */
export interface SearchesAnswer {
  readonly searches: readonly SearchRow[]
}

export interface SearchRow {
  readonly id: number
  /** ISO 8601. */
  readonly time: string
  readonly principal: string
  readonly client: string
  readonly project: string
  readonly query: string
  readonly found: number
  readonly tokens: number
  /** `SERVER/TOOL`, what the same client called before its next search. */
  readonly called: readonly string[]
}

// Savings

/** `GET savings?from=TIME` */
export interface SavingsAnswer {
  /** The list that clients get now, and all definitions, in tokens. */
  readonly now: { readonly all: number; readonly list: number }
  /** One row per client and day (UTC), oldest first. */
  readonly days: readonly SavingsRow[]
  readonly total: Omit<SavingsRow, 'start' | 'client'>
  /** Most tokens first, at most 50. */
  readonly definitions: readonly { readonly server: string; readonly tool: string; readonly tokens: number }[]
  readonly responses: readonly {
    readonly server: string
    readonly tool: string
    readonly calls: number
    readonly tokens: number
    readonly largest: number
  }[]
}

/** Tokens. The gateway sees lists and searches, not requests to the model, so each list counts as one request. */
export interface SavingsRow {
  readonly start: Time
  readonly client: string
  /** How often the client listed the tools. */
  readonly lists: number
  /** Sending every definition instead. */
  readonly everything: number
  /** Sent: the lists. */
  readonly listTokens: number
  readonly searches: number
  /** Sent: answers to searches and refusals. */
  readonly answerTokens: number
  /** Sent: the list once more for each search, because a search takes one more request. */
  readonly roundTokens: number
  /** `everything` without what was sent. Negative if deferral cost more. */
  readonly saved: number
}

// Events

/** `GET events`: server-sent events by name, with JSON data. A comment keeps the connection open. */
export interface DashboardEvents {
  /** The first event. Another instance means that the gateway was restarted: load everything again. */
  readonly hello: { readonly instance: string }
  readonly call: CallRow
  readonly search: SearchRow
  readonly attention: readonly Attention[]
  /** Servers, tools or the config changed: load them again. */
  readonly changed: { readonly servers: boolean; readonly tools: boolean }
  /** The browser read too slowly and missed this many events: load everything again. */
  readonly missed: { readonly count: number }
  /** The gateway stops. */
  readonly bye: Record<string, never>
}

// /api/v1, read-only, for tokens

/** `GET /api/v1/calls`: `CallsAnswer`. A named token sees its own calls only. */
/** `GET /api/v1/tools`: the tools that the token may use. */
export interface ToolsV1 {
  readonly tools: readonly Omit<ToolRow, 'set'>[]
}

/** `GET /api/v1/servers`: the servers that the token may use. Only the owner sees `endpoint`, `config` and `processes`. */
export interface ServersV1 {
  readonly servers: readonly (Pick<
    ServerRow,
    'name' | 'state' | 'description' | 'tools' | 'quarantined' | 'info' | 'listedAt'
  > &
    Partial<Pick<ServerRow, 'reason' | 'fix' | 'endpoint' | 'config' | 'processes' | 'starts'>>)[]
}
