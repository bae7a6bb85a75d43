/**
 * Step 3 of the flow: the state of one conversation as a fold over its events. The fold reads nothing but the
 * event: not the catalogue, not the policy, not the options, not the clock. So live, replayed, resumed and
 * forked conversations cannot differ.
 */
import type { ActivationSource, FailureReason, LedgerEvent, Pin, SurfaceTokens } from './ledger-event.js'

type Opened = Extract<LedgerEvent, { kind: 'opened' }>

/** A tool that was raised in this conversation. `live: false` is a tombstone: unloaded, its place in the array kept. */
export interface Held {
  readonly pin: Pin
  readonly live: boolean
  readonly source: ActivationSource
  readonly asked: string
  /** How many requests had been begun when it was raised: with more by now, the model has seen it. */
  readonly turn: number
  /** The anchor at which its schema stands in the history; empty where it does not. */
  readonly shownAt: string
}

export interface Insert {
  readonly anchor: string
  readonly topic: Extract<LedgerEvent, { kind: 'announced' }>['topic']
  readonly text: string
  readonly about: readonly string[]
  readonly tokens: number
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
  metaCalls: number
  realCalls: number
  messageTokens?: number
  inputTokens?: number
  cachedTokens?: number
  outputTokens?: number
}

/** Changed by `fold` only. Everyone else reads. */
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
  /** In order of activation: the end of the tools array, or (bridge) the tools whose schemas were shown. */
  readonly tail: Map<string, Held>
  /** Raised tools that count against a cap, parked ones too; not the late arrivals of eager tools. */
  activeCount: number
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
  /** Identical failing searches and calls. */
  readonly failures: Map<string, number>
  readonly aliasUses: Map<string, number>
  readonly requests: Map<string, RequestRecord>
  lastRequest: RequestRecord | undefined
  toolsVersion: number
  /** Search answers that stand in the history: tokens by anchor. */
  readonly searchTokens: Map<string, number>
  searchHistory: { readonly turn: number; readonly query: string; readonly loaded: readonly string[] }[]
  hiddenCalls: number
}

export function createState(): LedgerState {
  return {
    length: 0,
    epoch: 0,
    latch: undefined,
    relatch: 'start',
    eager: new Map(),
    tail: new Map(),
    activeCount: 0,
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
    failures: new Map(),
    aliasUses: new Map(),
    requests: new Map(),
    lastRequest: undefined,
    toolsVersion: 0,
    searchTokens: new Map(),
    searchHistory: [],
    hiddenCalls: 0,
  }
}

/**
 * Takes the state and gives the next one. The argument is used up (it is changed in place, so that one event costs
 * O(1) amortised whatever came before it): keep the events, not old states.
 */
export function fold(state: LedgerState, event: LedgerEvent): LedgerState {
  state.length = event.id + 1
  switch (event.kind) {
    case 'opened':
      open(state, event)
      break
    case 'inherited':
      break
    case 'searched':
      replaced(state, event.anchor)
      count(state.failures, event.missed ? searchKey(event.query) : undefined)
      if (state.lastRequest) state.lastRequest.metaCalls++
      charge(state, event.anchor, event.tokens)
      state.searchHistory.push({ turn: state.requests.size, query: event.query, loaded: event.loaded })
      break
    case 'activated':
      activate(state, event)
      break
    case 'deactivated':
      deactivate(state, event.tool)
      if (event.untold) state.toTell.add(event.tool)
      break
    case 'suspended':
      state.suspended.set(event.tool, event.reason)
      break
    case 'restored':
      restore(state, event.tool, event.pin)
      break
    case 'redefined':
      redefine(state, event.tool, event.anchor)
      break
    case 'call-started':
      replaced(state, event.anchor)
      state.pending.set(event.anchor, event.tool)
      touch(state, event.tool)
      if (event.alias !== undefined) count(state.aliasUses, event.alias)
      if (state.lastRequest) state.lastRequest.realCalls++
      break
    case 'call-succeeded':
      state.pending.delete(event.anchor)
      touch(state, event.tool)
      break
    case 'call-failed':
      fail(state, event)
      break
    case 'announced':
      announce(state, event)
      break
    case 'requested':
      request(state, event)
      break
    case 'measured': {
      const record = state.requests.get(event.requestId)
      if (!record) break
      record.messageTokens = event.messageTokens
      if (event.inputTokens !== undefined) record.inputTokens = event.inputTokens
      if (event.cachedTokens !== undefined) record.cachedTokens = event.cachedTokens
      if (event.outputTokens !== undefined) record.outputTokens = event.outputTokens
      break
    }
    case 'compacted':
      compact(state, event.kept)
      break
    case 'cleared':
      clear(state)
      break
  }
  return state
}

export function replay(events: Iterable<LedgerEvent>): LedgerState {
  let state = createState()
  for (const event of events) state = fold(state, event)
  return state
}

/** Identical searches share a key. */
export function searchKey(query: string): string {
  return `search ${query.trim().toLowerCase()}`
}

export function isActive(state: LedgerState, id: string): boolean {
  return state.tail.get(id)?.live === true
}

/** The loader's name as it stands in this conversation's requests: a host that resumes may have given it another one. */
export function loaderName(state: LedgerState, face: { readonly name: string }): string {
  return state.latch?.metaTools[0]?.name ?? face.name
}

/** Sent, or raised: the model need not search for it. */
export function isLoaded(state: LedgerState, id: string): boolean {
  return state.eager.has(id) || isActive(state, id)
}

function open(state: LedgerState, event: Opened) {
  const before = new Map(state.tail)
  state.latch = event
  state.relatch = undefined
  // At every other latch the messages are new, too.
  if (event.reason === 'loader') state.toolsVersion++
  state.eager.clear()
  for (const pin of event.eager) state.eager.set(pin.id, pin)
  state.tail.clear()
  for (const pin of event.tail) {
    const held = before.get(pin.id) ?? state.parked.get(pin.id)
    if (!held) continue
    state.tail.set(pin.id, { ...held, pin, live: true })
    state.parked.delete(pin.id)
  }
  for (const [id, held] of before)
    if (held.live && !state.tail.has(id)) state.parked.set(id, { ...held, shownAt: '' })
  // A late eager tool that has become an ordinary one.
  for (const [id, held] of state.parked)
    if (held.source === 'arrival' && state.eager.has(id)) {
      state.parked.delete(id)
      state.recency.delete(id)
    }
  state.told.clear()
  for (const id of event.shown) state.told.add(id)
  state.sources.clear()
  for (const [name, membership] of Object.entries(event.sources)) state.sources.set(name, membership)
}

function activate(state: LedgerState, event: Extract<LedgerEvent, { kind: 'activated' }>) {
  const { tool, source, asked, anchor } = event
  const held = state.tail.get(tool.id)
  // A call by another name counts when it starts; a search by one counts here.
  if (source === 'select' || source === 'search') count(state.aliasUses, event.alias)
  if (held && tool.definition) state.rewritten.add(tool.id)
  const counted = held?.live ? held : state.parked.get(tool.id)
  if (counted && counted.source !== 'arrival') state.activeCount--
  if (source !== 'arrival') state.activeCount++
  const shownAt = event.shown ? anchor : (held?.live && held.shownAt) || ''
  state.tail.set(tool.id, { pin: tool, live: true, source, asked, turn: state.requests.size, shownAt })
  state.parked.delete(tool.id)
  touch(state, tool.id)
  state.toTell.delete(tool.id)
  if (source !== 'inherit' && source !== 'arrival') state.toRemind.add(tool.id)
  if (tool.definition) state.toolsVersion++
}

function deactivate(state: LedgerState, id: string) {
  const onTail = state.tail.get(id)
  const held = onTail?.live ? onTail : state.parked.get(id)
  if (!held) return
  if (held !== onTail) state.parked.delete(id)
  else if (held.pin.definition) {
    state.tail.set(id, { ...held, live: false })
    state.rewritten.add(id)
    state.toolsVersion++
  } else state.tail.delete(id)
  if (held.source !== 'arrival') state.activeCount--
  state.recency.delete(id)
  state.toRemind.delete(id)
  state.reminded.delete(id)
}

function restore(state: LedgerState, id: string, pin: Pin | undefined) {
  state.suspended.delete(id)
  const held = state.parked.get(id)
  if (!held || !pin) return
  state.parked.delete(id)
  state.tail.set(id, { ...held, pin })
  if (pin.definition) state.toolsVersion++
}

function redefine(state: LedgerState, pin: Pin, anchor: string) {
  if (pin.definition) state.toolsVersion++
  if (state.eager.has(pin.id)) state.eager.set(pin.id, pin)
  const held = state.tail.get(pin.id)
  // The announcement that goes with this event shows the new schema where schemas live in the history.
  if (held) state.tail.set(pin.id, { ...held, pin, shownAt: held.shownAt === '' ? '' : anchor })
}

function fail(state: LedgerState, event: Extract<LedgerEvent, { kind: 'call-failed' }>) {
  const { anchor, reason, tokens } = event
  const started = state.pending.delete(anchor)
  if (!started) replaced(state, anchor)
  count(state.failures, event.key)
  count(state.aliasUses, started ? undefined : event.alias)
  if (GUESSES.has(reason)) state.hiddenCalls++
  // A round spent on a hint or a schema would not exist with every tool on the wire; where it is, the round is the model's.
  const deferring = state.latch?.mode === 'on' && state.latch.delivery !== 'eager'
  if (!started && state.lastRequest) {
    if (!deferring || ANYWAY.has(reason)) state.lastRequest.realCalls++
    else state.lastRequest.metaCalls++
  }
  if (deferring && !started && tokens !== undefined && !ANYWAY.has(reason)) charge(state, anchor, tokens)
}

/** Would have failed with every tool on the wire, too. */
const ANYWAY: ReadonlySet<FailureReason> = new Set(['error', 'invalid', 'denied', 'unavailable'])

/** Another answer stands at this place now: the host went back, and the server gave the same call id again. */
function replaced(state: LedgerState, anchor: string) {
  if (!state.searchTokens.delete(anchor)) return
  for (const [id, held] of state.tail)
    if (held.shownAt === anchor) state.tail.set(id, { ...held, shownAt: '' })
}

/** What a model that does not search runs into. */
const GUESSES: ReadonlySet<FailureReason> = new Set(['hint', 'schema-needed', 'unknown', 'refused'])

/** An answer that deferral put into the history stays there, and is paid for on every request that follows. */
function charge(state: LedgerState, anchor: string, tokens: number) {
  state.searchTokens.set(anchor, (state.searchTokens.get(anchor) ?? 0) + tokens)
}

function announce(state: LedgerState, event: Extract<LedgerEvent, { kind: 'announced' }>) {
  const { anchor, text, about, tokens } = event
  state.inserts.push({ anchor, topic: event.topic, text, about, tokens })
  for (const id of about) state.told.add(id)
  if (event.topic === 'activation')
    for (const id of about) {
      state.toRemind.delete(id)
      state.reminded.set(id, anchor)
    }
  if (event.topic === 'unloaded') for (const id of about) state.toTell.delete(id)
  if (event.topic === 'schemas' || event.topic === 'changed')
    for (const id of about) {
      const held = state.tail.get(id)
      if (held && !held.pin.definition) state.tail.set(id, { ...held, shownAt: anchor })
    }
  for (const [name, membership] of Object.entries(event.sources ?? {})) state.sources.set(name, membership)
}

function request(state: LedgerState, event: Extract<LedgerEvent, { kind: 'requested' }>) {
  // A history is sent only once its calls are answered: what is still open was cut off and will not end.
  state.pending.clear()
  state.rewritten.clear()
  // Reminders older than this request were answered by the model.
  for (const [id, anchor] of state.reminded) if (anchor !== event.anchor) state.reminded.delete(id)
  const record: RequestRecord = {
    requestId: event.requestId,
    anchor: event.anchor,
    wire: state.latch?.wire,
    length: state.length,
    tokens: event.tokens,
    toolsVersion: state.toolsVersion,
    metaCalls: 0,
    realCalls: 0,
  }
  state.requests.set(event.requestId, record)
  state.lastRequest = record
}

function compact(state: LedgerState, kept: Readonly<Record<string, string>>) {
  const renamed = (anchor: string): string | undefined =>
    Object.hasOwn(kept, anchor) ? kept[anchor] : undefined
  state.inserts = state.inserts.flatMap((insert) => {
    const anchor = renamed(insert.anchor)
    return anchor === undefined ? [] : [{ ...insert, anchor }]
  })
  for (const [id, held] of state.tail) {
    if (held.shownAt === '') continue
    state.tail.set(id, { ...held, shownAt: renamed(held.shownAt) ?? '' })
  }
  for (const [id, anchor] of [...state.reminded]) {
    const moved = renamed(anchor)
    state.reminded.delete(id)
    if (moved !== undefined) state.reminded.set(id, moved)
    else if (state.tail.get(id)?.live) state.toRemind.add(id)
  }
  for (const [anchor, tokens] of [...state.searchTokens]) {
    const moved = renamed(anchor)
    state.searchTokens.delete(anchor)
    if (moved !== undefined) state.searchTokens.set(moved, tokens)
  }
  state.pending.clear()
  state.epoch++
  if (state.latch) state.relatch = 'compaction'
}

/** What was measured stays: the tokens were spent. */
function clear(state: LedgerState) {
  const { length, epoch, requests, lastRequest, toolsVersion, aliasUses, latch } = state
  Object.assign(state, createState(), {
    length,
    epoch: epoch + 1,
    requests,
    lastRequest,
    toolsVersion,
    aliasUses,
  })
  state.relatch = latch ? 'clear' : 'start'
}

function touch(state: LedgerState, id: string) {
  if (!state.tail.has(id)) return
  state.recency.delete(id)
  state.recency.set(id, true)
}

function count(table: Map<string, number>, key: string | undefined) {
  if (key !== undefined) table.set(key, (table.get(key) ?? 0) + 1)
}
