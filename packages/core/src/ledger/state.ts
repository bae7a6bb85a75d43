/** What a conversation's ledger adds up to. Changed by `fold` only; everyone else reads. */
import type { DeliveryName, LoadSource } from '../tool/notice.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'
import type { LedgerEvent, SurfaceTokens } from './event.js'

export type FrozenPrefix = Extract<LedgerEvent, { kind: 'frozen' }>

/** A tool that was loaded in this conversation. `live: false` is a tombstone: unloaded, its place in the array kept. */
export interface LoadedTool {
  readonly pin: Pin
  readonly live: boolean
  /** Unloaded, with its definition still in the array. */
  readonly kept: boolean
  readonly source: LoadSource
  readonly asked: string
  /** How many requests had been begun when it was loaded: with more by now, the model has seen it. */
  readonly turn: number
  /** The anchor at which its schema stands in the history; empty where it does not. */
  readonly shownAt: string
}

/** The tool that a call was for. */
export interface ResolvedCall {
  readonly wireName: string
  /** The latch under which the call loaded it, where the provider then reveals it: such a call reads as a search. */
  readonly guessedIn: number | undefined
}

export interface Insert {
  readonly anchor: string
  /** The last message of the first request that carried it since the latch: it stands there or before. */
  readonly request?: string
  readonly topic: Extract<LedgerEvent, { kind: 'announced' }>['topic']
  readonly text: string
  readonly about: readonly string[]
  readonly tokens: number
  readonly adds: readonly WireTool[]
  readonly removes: readonly string[]
  /** Tokens of `adds`. */
  readonly revealed: number
}

/** Where the model was told that a tool is loaded: by an answer to its search, or by a reminder. */
export interface AnnouncedAt {
  readonly anchor: string
  /** The last message of the first request that carried it; undefined before that. */
  readonly request: string | undefined
}

export interface RequestRecord {
  readonly requestId: string
  /** The last message or call of the history it was begun for, and the wire. */
  readonly anchor: string
  readonly wire: string | undefined
  /** The number of events up to and including the request. */
  readonly length: number
  readonly tokens: SurfaceTokens
  /** Differs from the last request's where the tools array changed before messages that stayed. */
  readonly toolsVersion: number
  /** The number of latches so far. */
  readonly frozen: number
  metaCalls: number
  realCalls: number
  messageTokens?: number
  inputTokens?: number
  cachedTokens?: number
  outputTokens?: number
}

/** What a conversation sent at a wire that it has left: enough to send it again. */
export interface LeftPrefix {
  readonly frozen: FrozenPrefix
  readonly count: number
  readonly prefix: string
  readonly eager: ReadonlyMap<string, Pin>
  readonly loaded: ReadonlyMap<string, LoadedTool>
  readonly revealed: ReadonlySet<string>
  /** Those of that time. Later ones follow them in the history's own list. */
  readonly inserts: readonly Insert[]
  readonly carried: ReadonlySet<string>
  /** Goes on growing: what is told elsewhere stands in the history of every wire. */
  readonly told: Set<string>
  readonly sources: Map<string, string>
}

/** Law: everything before the messages is fixed from one latch to the next. */
export interface FreezingState {
  /** A new latch is due, and why. */
  due: FrozenPrefix['reason'] | undefined
  /** Which latch this is, of all that were made: the bytes before the messages are new since then. */
  count: number
  /** How many were made. */
  made: number
  /** By wire, until the history itself is shortened. */
  readonly left: Map<string, LeftPrefix>
  /** Deliveries that the next latch does without, and why. */
  readonly withheld: Map<DeliveryName, string>
}

/** Law: what was loaded stays loaded until an event unloads it, however the process ends and wherever the thread goes. */
export interface ToolsState {
  readonly eager: Map<string, Pin>
  /** In order of loading: the end of the tools array, or (bridge) the tools whose schemas were shown. */
  readonly loaded: Map<string, LoadedTool>
  /** Least recently used first. */
  readonly recency: Map<string, true>
  /** Known and not usable for now: why, by id. */
  readonly suspended: Map<string, string>
  /** Loaded, but out of the array since a latch: suspended there (`restored` brings them back), or eager for now. */
  readonly suspendedLoads: Map<string, LoadedTool>
}

/** Law: a prefix cache keeps what did not change; what stands behind a change is charged. */
export interface ArrayState {
  version: number
  /** Tools whose place in the array was written anew since the last request: what stands behind them is read again. */
  readonly rewritten: Set<string>
}

/** Law: what was written into the history stays there, at its anchor, byte for byte; nothing is told twice or forgotten. */
export interface HistoryState {
  /** What the model was told about each source: its membership. */
  readonly sources: Map<string, string>
  /** Ids whose names stand in the cards or in a delta since the latch. */
  readonly told: Set<string>
  inserts: Insert[]
  /** Last messages of the requests begun since the latch: what stands there has been read, and takes no further notice. */
  readonly carried: Set<string>
  /** Loaded, and no answer has said so: their reminder is due. */
  readonly pendingReminders: Set<string>
  /** Told at the last request, or since: due again if a compaction drops it before the model could answer. */
  readonly reminded: Map<string, AnnouncedAt>
  /** Unloaded since the last request without an answer that said so. */
  readonly pendingNotices: Set<string>
  readonly thinking: ThinkingState
}

/** Law: what was thought stands behind the bytes it was thought behind, or it is not sent. */
export interface ThinkingState {
  /** Messages, by anchor, whose thinking is sent no more. */
  readonly stripped: Set<string>
  /** What the last request on each wire had before its messages: `prefixName`. */
  readonly behind: Map<string, string>
}

/** Law: only completed calls load a tool, and no call runs twice. */
export interface CallsState {
  /** Calls that started and did not end, by anchor. */
  readonly pending: Map<string, string>
  /** The call that succeeded last. What it loads follows it. */
  succeeded: { readonly anchor: string; readonly tool: string } | undefined
  /** Identical failing searches and calls. */
  readonly failures: Map<string, number>
  /** Tools of which a call was answered that they cannot be used now, and nothing else since. */
  readonly unavailable: Set<string>
  readonly aliasUses: Map<string, number>
  /** What calls resolved to that had another name, or loaded what they guessed: by anchor. */
  readonly resolvedCalls: Map<string, ResolvedCall>
  searchHistory: { readonly turn: number; readonly query: string; readonly loaded: readonly string[] }[]
  hiddenCalls: number
}

/** Law: a reference in the history leads to a definition that the provider has, or it is words. */
export interface NativeState {
  /** Loaded tools that the provider has put before the model: by a reference, or by adding them. Ids. */
  readonly revealed: Set<string>
  /** Tools that the provider is to take away again, by id: their wire names. */
  readonly toRemove: Map<string, string>
  /** Answers that refer to tools, by anchor, with the latch under which they did. */
  readonly referredIn: Map<string, number>
  /** The model called what is declared out of its sight. */
  reserveCalled: boolean
}

/** Law: the same request id gives the same bytes, and every token that deferral costs is charged to it. */
export interface RequestsState {
  readonly byId: Map<string, RequestRecord>
  last: RequestRecord | undefined
  /** Search answers that stand in the history: tokens by anchor. */
  readonly searchTokens: Map<string, number>
  /** Definitions that the provider puts into the history: tokens by anchor. */
  readonly revealedTokens: Map<string, number>
  /** Images in the results of tools: tokens by anchor. */
  readonly mediaTokens: Map<string, number>
}

export interface LedgerState {
  /** Events folded so far; the id of the next one. */
  length: number
  /** How often the history was compacted or cleared: with its anchors, it names a request. */
  epoch: number
  /** The newest latch, or undefined before the first request. */
  frozen: FrozenPrefix | undefined
  freezing: FreezingState
  tools: ToolsState
  array: ArrayState
  history: HistoryState
  calls: CallsState
  native: NativeState
  requests: RequestsState
  /** Kept results that this conversation may read: the ledger each was given to, by handle. */
  results: Map<string, string>
}

/** A name for what a request has before its messages: equal where the bytes are. */
export function prefixName({ freezing, array }: LedgerState): string {
  return `${freezing.count}.${array.version}`
}

export function createState(): LedgerState {
  return {
    length: 0,
    epoch: 0,
    frozen: undefined,
    freezing: { due: 'start', count: 0, made: 0, left: new Map(), withheld: new Map() },
    tools: {
      eager: new Map(),
      loaded: new Map(),
      recency: new Map(),
      suspended: new Map(),
      suspendedLoads: new Map(),
    },
    array: { version: 0, rewritten: new Set() },
    history: {
      sources: new Map(),
      told: new Set(),
      inserts: [],
      carried: new Set(),
      pendingReminders: new Set(),
      reminded: new Map(),
      pendingNotices: new Set(),
      thinking: { stripped: new Set(), behind: new Map() },
    },
    calls: {
      pending: new Map(),
      succeeded: undefined,
      failures: new Map(),
      unavailable: new Set(),
      aliasUses: new Map(),
      resolvedCalls: new Map(),
      searchHistory: [],
      hiddenCalls: 0,
    },
    native: { revealed: new Set(), toRemove: new Map(), referredIn: new Map(), reserveCalled: false },
    requests: {
      byId: new Map(),
      last: undefined,
      searchTokens: new Map(),
      revealedTokens: new Map(),
      mediaTokens: new Map(),
    },
    results: new Map(),
  }
}
