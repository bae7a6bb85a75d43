/** What a conversation's ledger adds up to. Changed by `fold` only; everyone else reads. */
import type {
  ActivationSource,
  DeliveryName,
  LedgerEvent,
  Pin,
  SurfaceTokens,
  WireTool,
} from './ledger-event.js'

export type Opened = Extract<LedgerEvent, { kind: 'opened' }>

/** A tool that was raised in this conversation. `live: false` is a tombstone: unloaded, its place in the array kept. */
export interface Held {
  readonly pin: Pin
  readonly live: boolean
  /** Unloaded, with its definition still in the array. */
  readonly kept: boolean
  readonly source: ActivationSource
  readonly asked: string
  /** How many requests had been begun when it was raised: with more by now, the model has seen it. */
  readonly turn: number
  /** The anchor at which its schema stands in the history; empty where it does not. */
  readonly shownAt: string
}

/** The tool a call was for. */
export interface Meant {
  readonly wireName: string
  /** The latch under which the call raised it, where the provider then reveals it: such a call reads as a search. */
  readonly guessedIn: number | undefined
}

export interface Insert {
  readonly anchor: string
  readonly topic: Extract<LedgerEvent, { kind: 'announced' }>['topic']
  readonly text: string
  readonly about: readonly string[]
  readonly tokens: number
  readonly adds: readonly WireTool[]
  readonly removes: readonly string[]
  /** Tokens of `adds`. */
  readonly revealed: number
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
  readonly latch: number
  metaCalls: number
  realCalls: number
  messageTokens?: number
  inputTokens?: number
  cachedTokens?: number
  outputTokens?: number
}

export interface LedgerState {
  /** Events folded so far; the id of the next one. */
  length: number
  /** How often the history was compacted or cleared: with its anchors, it names a request. */
  epoch: number
  /** The newest latch, or undefined before the first request. */
  latch: Opened | undefined
  /** A new latch is due, and why. */
  relatch: Opened['reason'] | undefined
  readonly eager: Map<string, Pin>
  /** Hidden tools that are declared by their name and one line. */
  readonly stubbed: Set<string>
  /** Deliveries that the next latch does without, and why. */
  readonly withheld: Map<DeliveryName, string>
  /** In order of activation: the end of the tools array, or (bridge) the tools whose schemas were shown. */
  readonly tail: Map<string, Held>
  /** Least recently used first. */
  readonly recency: Map<string, true>
  readonly suspended: Map<string, string>
  /** Raised, but off the tail since a latch: suspended there (`restored` brings them back), or eager for now. */
  readonly parked: Map<string, Held>
  /** What the model was told about each source: its membership. */
  readonly sources: Map<string, string>
  /** Ids whose names stand in the cards or in a delta since the latch. */
  readonly told: Set<string>
  inserts: Insert[]
  /** Raised since the last request; their reminder is due. */
  readonly toRemind: Set<string>
  /** Tools whose place in the array was written anew since the last request: what stands behind them is read again. */
  readonly rewritten: Set<string>
  /** Reminded at the last request, with the anchor: due again if a compaction drops it before the model could answer. */
  readonly reminded: Map<string, string>
  /** Unloaded since the last request without an answer that said so. */
  readonly toTell: Set<string>
  /** Calls that started and did not end, by anchor. */
  readonly pending: Map<string, string>
  /** The call that succeeded last. What it raises follows it. */
  succeeded: { readonly anchor: string; readonly tool: string } | undefined
  /** Identical failing searches and calls. */
  readonly failures: Map<string, number>
  readonly aliasUses: Map<string, number>
  readonly requests: Map<string, RequestRecord>
  lastRequest: RequestRecord | undefined
  toolsVersion: number
  /** Search answers that stand in the history: tokens by anchor. */
  readonly searchTokens: Map<string, number>
  /** Definitions that the provider puts into the history: tokens by anchor. */
  readonly revealedTokens: Map<string, number>
  /** Raised tools that the provider has put before the model: by a reference, or by adding them. Ids. */
  readonly revealed: Set<string>
  /** Tools that the provider is to take away again, by id: their wire names. */
  readonly toRemove: Map<string, string>
  /** Answers that refer to tools, by anchor, with the latch under which they did. */
  readonly referredIn: Map<string, number>
  /** What calls meant that had another name, or raised what they guessed: by anchor. */
  readonly meant: Map<string, Meant>
  /** How often a latch was made: the bytes before the messages are new since then. */
  latches: number
  searchHistory: { readonly turn: number; readonly query: string; readonly loaded: readonly string[] }[]
  hiddenCalls: number
  /** The model called what is declared out of its sight. */
  reserveCalled: boolean
}

export function createState(): LedgerState {
  return {
    length: 0,
    epoch: 0,
    latch: undefined,
    relatch: 'start',
    eager: new Map(),
    stubbed: new Set(),
    withheld: new Map(),
    tail: new Map(),
    recency: new Map(),
    suspended: new Map(),
    parked: new Map(),
    sources: new Map(),
    told: new Set(),
    inserts: [],
    toRemind: new Set(),
    rewritten: new Set(),
    reminded: new Map(),
    toTell: new Set(),
    pending: new Map(),
    succeeded: undefined,
    failures: new Map(),
    aliasUses: new Map(),
    requests: new Map(),
    lastRequest: undefined,
    toolsVersion: 0,
    searchTokens: new Map(),
    revealedTokens: new Map(),
    revealed: new Set(),
    toRemove: new Map(),
    referredIn: new Map(),
    meant: new Map(),
    latches: 0,
    searchHistory: [],
    hiddenCalls: 0,
    reserveCalled: false,
  }
}
