/** State of a conversation. Only `fold` changes it. */
import type { DeliveryName, LoadSource } from '../tool/notice.js'
import type { Pin, WireTool } from '../tool/wire-tool.js'
import type { LedgerEvent, SurfaceTokens } from './event.js'

export type FrozenPrefix = Extract<LedgerEvent, { kind: 'frozen' }>

/** A tool that was loaded in this conversation. With `live: false`, it is unloaded and keeps its place in the array. */
export interface LoadedTool {
  readonly pin: Pin
  readonly live: boolean
  /** Unloaded, but its definition is still in the array. */
  readonly kept: boolean
  readonly source: LoadSource
  readonly asked: string
  /** Number of requests before it was loaded. After a later request, the model has seen the tool. */
  readonly turn: number
  /** Anchor of its schema in the history; empty if the schema is not there. */
  readonly shownAt: string
}

/** Tool that a call resolved to. */
export interface ResolvedCall {
  readonly wireName: string
  /** Number of the frozen prefix in which the call loaded the tool and the provider revealed it. The call then counts as a search. */
  readonly guessedIn: number | undefined
}

export interface Insert {
  readonly anchor: string
  /** Last message of the first request that carried it since the prefix was frozen. Its position is at or before this message. */
  readonly request?: string
  /** Other positions, for histories without `anchor`: the last messages of requests in which the announcement was missing. */
  readonly moves?: readonly string[]
  readonly topic: Extract<LedgerEvent, { kind: 'announced' }>['topic']
  readonly text: string
  readonly about: readonly string[]
  readonly tokens: number
  readonly adds: readonly WireTool[]
  readonly removes: readonly string[]
  /** Tokens of `adds`. */
  readonly revealed: number
}

/** Position of the announcement of a loaded tool: a search answer or a reminder. */
export interface AnnouncedAt {
  readonly anchor: string
  /** Last message of the first request that carried it; undefined before that. */
  readonly request: string | undefined
}

export interface RequestRecord {
  readonly requestId: string
  /** Last message or call of its history. */
  readonly anchor: string
  readonly wire: string | undefined
  /** Number of compactions and clears before it. */
  readonly epoch: number
  /** Number of events up to and including the request. */
  readonly length: number
  readonly tokens: SurfaceTokens
  /** Grows if the tools array changes while the messages stay. */
  readonly toolsVersion: number
  /** Number of prefixes frozen so far. */
  readonly frozen: number
  metaCalls: number
  realCalls: number
  messageTokens?: number
  inputTokens?: number
  cachedTokens?: number
  outputTokens?: number
}

/** Frozen prefix of a wire that the conversation has left: enough to send it again. */
export interface LeftPrefix {
  readonly frozen: FrozenPrefix
  readonly count: number
  /** Version of its tools array. It may have grown at other wires since. */
  readonly version: number
  readonly eager: ReadonlyMap<string, Pin>
  readonly loaded: ReadonlyMap<string, LoadedTool>
  readonly revealed: ReadonlySet<string>
  /** Announcements up to that time. Later ones follow in `HistoryState.inserts`. */
  readonly inserts: readonly Insert[]
  readonly carried: ReadonlySet<string>
  /** Keeps growing: announcements at other wires are in the history of every wire. */
  readonly announcedIds: Set<string>
  readonly sources: Map<string, string>
}

/** Rule: everything before the messages is frozen until the prefix is frozen again. */
export interface FreezingState {
  /** Reason to freeze a new prefix at the next request. */
  due: FrozenPrefix['reason'] | undefined
  /** Number of the current prefix. */
  count: number
  /** Number of prefixes frozen so far. */
  made: number
  /** By wire, until the history is compacted or cleared. */
  readonly left: Map<string, LeftPrefix>
  /** Deliveries that the next prefix must not use, with the reason. */
  readonly withheld: Map<DeliveryName, string>
}

/** Rule: a loaded tool stays loaded until an event unloads it, even after a crash or a change of provider. */
export interface ToolsState {
  readonly eager: Map<string, Pin>
  /** In order of loading: the end of the tools array, or (bridge) the tools whose schemas were shown. */
  readonly loaded: Map<string, LoadedTool>
  /** Least recently used first. */
  readonly recency: Map<string, true>
  /** Known tools that are not usable for now: the reason by id. */
  readonly suspended: Map<string, string>
  /** Loaded tools outside the frozen array: suspended (`restored` brings them back), or eager for now. */
  readonly suspendedLoads: Map<string, LoadedTool>
}

/** Rule: a prefix cache keeps everything before a change. Everything after it is charged. */
export interface ArrayState {
  version: number
  /** Tools whose place in the array changed since the last request. Later definitions are read again. */
  readonly rewritten: Set<string>
}

/** Rule: text in the history keeps its position and its bytes; every announcement is made exactly once. */
export interface HistoryState {
  /** Hash of the tool ids of each source, as announced to the model. */
  readonly sources: Map<string, string>
  /** Ids of the tools named in the cards or in an announcement since the prefix was frozen. */
  readonly announcedIds: Set<string>
  inserts: Insert[]
  /** Fingerprints of changed tools that the model was shown since the prefix was frozen, by id. */
  readonly editions: Map<string, Set<string>>
  /** Last messages of the requests since the prefix was frozen. The model has read them, so no notice is added there. */
  readonly carried: Set<string>
  /** Loaded tools that no answer has announced. A reminder is due. */
  readonly pendingReminders: Set<string>
  /** Announced at or after the last request. Due again if a compaction drops the text before the model could answer. */
  readonly reminded: Map<string, AnnouncedAt>
  /** Tools unloaded since the last request, which no answer has announced. */
  readonly pendingNotices: Set<string>
  readonly thinking: ThinkingState
}

/** Rule: thinking is sent only after the bytes it was written after. */
export interface ThinkingState {
  /** Anchors of messages whose thinking is never sent again. */
  readonly stripped: Set<string>
  /** ID of the prefix of the last request, by wire: see `prefixName`. */
  readonly behind: Map<string, string>
}

/** Rule: only completed calls load a tool, and no call runs twice. */
export interface CallsState {
  /** Calls that started and did not end, by anchor. */
  readonly pending: Map<string, string>
  /** Last call that succeeded. The events of the tools it loads follow it. */
  succeeded: { readonly anchor: string; readonly tool: string } | undefined
  /** Number of identical failing searches and calls. */
  readonly failures: Map<string, number>
  /** Tools whose last call found them unavailable. */
  readonly unavailable: Set<string>
  readonly aliasUses: Map<string, number>
  /** Resolved tools of calls that used another name or guessed a hidden tool, by anchor. */
  readonly resolvedCalls: Map<string, ResolvedCall>
  searchHistory: { readonly turn: number; readonly query: string; readonly loaded: readonly string[] }[]
  hiddenCalls: number
}

/** Rule: a reference in the history is sent only while the provider has its definition; otherwise text replaces it. */
export interface NativeState {
  /** Ids of loaded tools that the provider has shown to the model, by a reference or by adding them. */
  readonly revealed: Set<string>
  /** Wire names of tools that the provider has to remove, by id. */
  readonly toRemove: Map<string, string>
  /** Answers that refer to tools, by anchor, with the number of their frozen prefix. */
  readonly referredIn: Map<string, number>
  /** The model called `toolwell_reserve`, which it should not see. */
  reserveCalled: boolean
}

/** Rule: the same request id gives the same bytes, and every token that deferral costs is charged to it. */
export interface RequestsState {
  readonly byId: Map<string, RequestRecord>
  last: RequestRecord | undefined
  /** Tokens of search answers in the history, by anchor. */
  readonly searchTokens: Map<string, number>
  /** Tokens of definitions that the provider inserts into the history, by anchor. */
  readonly revealedTokens: Map<string, number>
  /** Tokens of images in tool results, by anchor. */
  readonly mediaTokens: Map<string, number>
}

export interface LedgerState {
  /** Number of folded events; the id of the next one. */
  length: number
  /** Number of compactions and clears. Together with its anchors, it identifies a request. */
  epoch: number
  /** The current frozen prefix; undefined before the first request. */
  frozen: FrozenPrefix | undefined
  freezing: FreezingState
  tools: ToolsState
  array: ArrayState
  history: HistoryState
  calls: CallsState
  native: NativeState
  requests: RequestsState
  /** Kept results that this conversation may read: the ledger that produced each, by handle. */
  results: Map<string, string>
}

/** ID of the request prefix. Same ID, same bytes. */
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
      announcedIds: new Set(),
      inserts: [],
      editions: new Map(),
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
