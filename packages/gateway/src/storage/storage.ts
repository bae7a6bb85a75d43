/** The storage of a gateway: tokens, the audit log, long results and sums of calls. Drivers: files, PostgreSQL. */
import type { ResultStore } from '@toolwell/core/result'
import type { CallStats } from './call-stats.js'

export interface GatewayStorage {
  readonly tokens: TokenStore
  readonly audit: AuditLog
  readonly results: ResultStore
  /** Sums of calls. Default: in memory. */
  readonly stats?: CallStats
  /** Lets any replica take the answer to a question. Default: only the process that runs the call. */
  readonly questions?: QuestionStore
  /** Why no request can be answered now. Asked for every request. Only of a storage that replicas share. */
  readonly problem?: () => string | undefined
  close?(): Promise<void>
}

/** Limits of a token. Patterns may contain `*`. A missing field sets no limit. */
export interface Rights {
  readonly profile?: string
  readonly servers?: readonly string[]
  /** `TOOL` or `SERVER/TOOL`. */
  readonly tools?: readonly string[]
  /** Only tools that the user has approved as read-only. */
  readonly readOnly?: boolean
}

/** A token without its text. */
export interface TokenRecord {
  readonly name: string
  /** SHA-256 of the token, in hex. */
  readonly hash: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly expiresAt?: number
  readonly rights: Rights
}

export interface TokenStore {
  /** The current tokens. Called for every request with a token, so a driver answers from memory if nothing changed. */
  list(): readonly TokenRecord[]
  /** False if the name is taken. */
  add(token: TokenRecord): Promise<boolean>
  /** False if there is no such token. */
  remove(name: string): Promise<boolean>
}

/** Answers to questions of calls that another replica runs. A handle names the question. */
export interface QuestionStore {
  /** The replica `replica` waits for an answer to this handle. `key` is the owner and the content of the request. */
  open(replica: string, handle: string, key: string): Promise<void>
  /** Says that the replica still runs, and returns answers that came for it. */
  listen(replica: string): Promise<readonly { readonly handle: string; readonly answer: unknown }[]>
  /** Stores what the call gave after its answer. */
  end(handle: string, outcome: unknown): Promise<void>
  /** The call is over without an answer of another replica. */
  forget(handle: string): Promise<void>
  /** Gives the answer. False if nobody waits for it. */
  answer(handle: string, key: string, answer: unknown): Promise<boolean>
  /** The outcome, once it is there. `isLost`: the replica with the call has not been heard of for 15 seconds. */
  read(handle: string): Promise<{ readonly outcome?: unknown; readonly isLost: boolean }>
}

/** One call of a tool behind the gateway. Contains no arguments and no results. */
export interface AuditRecord {
  /** ISO 8601, the end of the call. */
  readonly time: string
  /** The name of the token, or `stdio:CLIENT`. */
  readonly principal: string
  /** The name that the client sent. Unverified. */
  readonly client: string
  /** The project folder. Empty if the client sent none. */
  readonly folder: string
  /** Empty if no server has the requested tool. */
  readonly server: string
  /** The tool by its name on the server. */
  readonly tool: string
  /** `error`: the tool or its server reported an error. `refused`: the gateway did not run the tool. */
  readonly outcome: 'ok' | 'error' | 'refused'
  /** Why the tool did not run. */
  readonly reason?: string
  readonly milliseconds: number
  readonly bytesIn: number
  /** Bytes that the server returned. */
  readonly bytesOut: number
  /** Estimates of the tokens that the model wrote and read. */
  readonly tokensIn: number
  readonly tokensOut: number
  /** First 16 hex digits of the SHA-256 of the arguments as JSON. */
  readonly arguments: string
}

export interface AuditLog {
  /** Queues a record. Never throws and never waits: a full disk must not stop calls. */
  append(record: AuditRecord): void
  /** Records that could not be written since the start, and the last reason. */
  readonly lost: { readonly count: number; readonly reason: string }
  /** Reads the records since a time in milliseconds, oldest first. */
  read(since: number): Promise<AuditRecord[]>
  /** Writes the queued records. */
  flush(): Promise<void>
}
