/**
 * Step 3 of the flow: the state of one conversation as a fold over its events. The fold reads nothing but the
 * event: not the catalogue, not the policy, not the options, not the clock. So live, replayed, resumed and
 * forked conversations cannot differ.
 */
import type { FailureReason, LedgerEvent, Pin } from './ledger-event.js'
import { createState, type LedgerState, type Opened, type RequestRecord } from './ledger-state.js'
import { RESERVE_NAME } from './names.js'

export { createState, type Held, type Insert, type LedgerState, type RequestRecord } from './ledger-state.js'

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
      charge(state.searchTokens, event.anchor, event.tokens)
      charge(state.revealedTokens, event.anchor, event.revealed ?? 0)
      if (event.revealed !== undefined) state.referredIn.set(event.anchor, state.latches)
      state.searchHistory.push({ turn: state.requests.size, query: event.query, loaded: event.loaded })
      break
    case 'activated':
      activate(state, event)
      break
    case 'deactivated':
      deactivate(state, event.tool, event.kept === true)
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
      misspell(state, event)
      if (event.alias !== undefined) count(state.aliasUses, event.alias)
      if (state.lastRequest) state.lastRequest.realCalls++
      break
    case 'call-succeeded':
      state.pending.delete(event.anchor)
      state.succeeded = { anchor: event.anchor, tool: event.tool }
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
    case 'downgraded':
      state.withheld.set(event.from, event.reason)
      state.reserveCalled = false
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
  // What a reference showed stands nowhere when the provider does not put the definition behind it any more.
  const byReference = state.latch?.delivery === 'native'
  state.latch = event
  state.relatch = undefined
  state.latches++
  // At every other latch the messages are new, too.
  if (event.reason === 'loader' || event.reason === 'cards') state.toolsVersion++
  state.eager.clear()
  for (const pin of event.eager) state.eager.set(pin.id, pin)
  state.revealed.clear()
  state.toRemove.clear()
  // What the provider was told of tools between the messages was about the array before this one.
  state.inserts = state.inserts.map((insert) => ({ ...insert, adds: [], removes: [], revealed: 0 }))
  state.stubbed.clear()
  for (const pin of event.stubs ?? []) state.stubbed.add(pin.id)
  state.tail.clear()
  for (const pin of event.tail) {
    const held = before.get(pin.id) ?? state.parked.get(pin.id)
    if (!held) continue
    const shownAt = byReference ? '' : held.shownAt
    state.tail.set(pin.id, { ...held, pin, shownAt, live: true, kept: false })
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
  // What comes back with the bytes that are still there rewrites nothing.
  const inPlace = held?.kept === true && held.pin.fingerprint === tool.fingerprint
  const declared = tool.definition !== undefined && !tool.aside && !inPlace
  if (held && declared) state.rewritten.add(tool.id)
  const shownAt = event.shown ? anchor : (held?.live && held.shownAt) || ''
  const turn = state.requests.size
  state.tail.set(tool.id, { pin: tool, live: true, kept: false, source, asked, turn, shownAt })
  state.parked.delete(tool.id)
  // A group rises with the one of it that was called: the call was for that one.
  const isCalled = state.succeeded?.anchor === anchor && state.succeeded.tool === tool.id
  if (source === 'call' && isCalled && (asked !== tool.wireName || tool.aside)) {
    const guessedIn = event.shown && tool.aside ? state.latches : undefined
    state.meant.set(anchor, { wireName: tool.wireName, guessedIn })
  }
  if (event.shown && tool.aside) state.referredIn.set(anchor, state.latches)
  touch(state, tool.id)
  state.toTell.delete(tool.id)
  state.toRemove.delete(tool.id)
  if (event.shown && tool.aside && source !== 'arrival') state.revealed.add(tool.id)
  if (source !== 'inherit' && source !== 'arrival') state.toRemind.add(tool.id)
  if (declared) state.toolsVersion++
}

function deactivate(state: LedgerState, id: string, kept: boolean) {
  const onTail = state.tail.get(id)
  // Unloaded before, and its bytes go now.
  if (onTail?.kept && !onTail.pin.aside && !kept) {
    state.tail.set(id, { ...onTail, kept: false })
    state.rewritten.add(id)
    state.toolsVersion++
    return
  }
  const held = onTail?.live ? onTail : state.parked.get(id)
  if (!held) return
  if (held !== onTail) state.parked.delete(id)
  else if (held.pin.aside || (held.pin.definition && kept)) {
    state.tail.set(id, { ...held, live: false, kept: true })
    if (state.latch?.removals && state.revealed.delete(id)) state.toRemove.set(id, held.pin.wireName)
  } else if (held.pin.definition) {
    state.tail.set(id, { ...held, live: false, kept: false })
    state.rewritten.add(id)
    state.toolsVersion++
  } else state.tail.delete(id)
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
  if (pin.definition && !pin.aside) state.toolsVersion++
}

function redefine(state: LedgerState, pin: Pin, anchor: string) {
  if (pin.definition) state.toolsVersion++
  if (state.eager.has(pin.id)) state.eager.set(pin.id, pin)
  const held = state.tail.get(pin.id)
  // The announcement that goes with this event shows the new schema where schemas live in the history. A reference stays
  // where it is, and means the new one.
  const shownAt = held?.shownAt === '' || pin.aside ? (held?.shownAt ?? '') : anchor
  if (held) state.tail.set(pin.id, { ...held, pin, shownAt })
}

function fail(state: LedgerState, event: Extract<LedgerEvent, { kind: 'call-failed' }>) {
  const { anchor, reason, tokens } = event
  const started = state.pending.delete(anchor)
  // It has run: that is a use, whatever came of it.
  if (started) touch(state, event.tool)
  else replaced(state, anchor)
  count(state.failures, event.key)
  count(state.aliasUses, started ? undefined : event.alias)
  if (GUESSES.has(reason)) state.hiddenCalls++
  // Elsewhere it is a name like any other that no tool has.
  if (event.asked === RESERVE_NAME && state.latch?.delivery === 'native') state.reserveCalled = true
  // A round spent on a hint or a schema would not exist with every tool on the wire; where it is, the round is the model's.
  const deferring = state.latch?.mode === 'on' && state.latch.delivery !== 'eager'
  if (!started && state.lastRequest) {
    if (!deferring || ANYWAY.has(reason)) state.lastRequest.realCalls++
    else state.lastRequest.metaCalls++
  }
  if (deferring && !started && tokens !== undefined && !ANYWAY.has(reason))
    charge(state.searchTokens, anchor, tokens)
}

/** Would have failed with every tool on the wire, too. */
const ANYWAY: ReadonlySet<FailureReason> = new Set(['error', 'invalid', 'denied', 'unavailable'])

/** Another answer stands at this place now: the host went back, and the server gave the same call id again. */
function replaced(state: LedgerState, anchor: string) {
  const revealed = state.revealedTokens.delete(anchor)
  if (!state.searchTokens.delete(anchor) && !revealed) return
  for (const [id, held] of state.tail)
    if (held.shownAt === anchor) state.tail.set(id, { ...held, shownAt: '' })
}

/** What a model that does not search runs into. */
const GUESSES: ReadonlySet<FailureReason> = new Set(['hint', 'schema-needed', 'unknown', 'refused'])

/** An answer that deferral put into the history stays there, and is paid for on every request that follows. */
function charge(table: Map<string, number>, anchor: string, tokens: number) {
  if (tokens > 0) table.set(anchor, (table.get(anchor) ?? 0) + tokens)
}

function announce(state: LedgerState, event: Extract<LedgerEvent, { kind: 'announced' }>) {
  const { anchor, topic, text, about, tokens, adds = [], removes = [], revealed = 0 } = event
  state.inserts.push({ anchor, topic, text, about, tokens, adds, removes, revealed })
  for (const id of about) {
    const name = state.tail.get(id)?.pin.wireName
    if (adds.some((tool) => tool.name === name)) state.revealed.add(id)
    if (name !== undefined && removes.includes(name)) state.revealed.delete(id)
    state.toRemove.delete(id)
  }
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
      const added = adds.some(({ name }) => name === held?.pin.wireName)
      const written = !held?.pin.definition || (held.pin.aside && (added || event.topic === 'schemas'))
      if (held && written) state.tail.set(id, { ...held, shownAt: anchor })
    }
  for (const [name, membership] of Object.entries(event.sources ?? {})) state.sources.set(name, membership)
}

function request(state: LedgerState, event: Extract<LedgerEvent, { kind: 'requested' }>) {
  // A history is sent only once its calls are answered: what is still open was cut off and will not end.
  state.pending.clear()
  state.rewritten.clear()
  // The provider itself shows what was raised.
  if (state.latch?.delivery === 'native') state.toRemind.clear()
  // Reminders older than this request were answered by the model.
  for (const [id, anchor] of state.reminded) if (anchor !== event.anchor) state.reminded.delete(id)
  const record: RequestRecord = {
    requestId: event.requestId,
    anchor: event.anchor,
    wire: state.latch?.wire,
    length: state.length,
    tokens: event.tokens,
    toolsVersion: state.toolsVersion,
    latch: state.latches,
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
  for (const table of [state.searchTokens, state.revealedTokens, state.referredIn])
    for (const [anchor, value] of [...table]) {
      const moved = renamed(anchor)
      table.delete(anchor)
      if (moved !== undefined) table.set(moved, value)
    }
  for (const [anchor, meant] of [...state.meant]) {
    const moved = renamed(anchor)
    state.meant.delete(anchor)
    if (moved !== undefined) state.meant.set(moved, meant)
  }
  state.pending.clear()
  state.epoch++
  if (state.latch) state.relatch = 'compaction'
}

/** What was measured stays: the tokens were spent. */
function clear(state: LedgerState) {
  const { length, epoch, requests, lastRequest, toolsVersion, aliasUses, latch, withheld, latches } = state
  Object.assign(state, createState(), {
    length,
    epoch: epoch + 1,
    requests,
    lastRequest,
    toolsVersion,
    aliasUses,
    withheld,
    latches,
  })
  state.relatch = latch ? 'clear' : 'start'
}

/** A loaded tool was called by another name than its own, or without the provider having shown it: the first such call reads as a search. */
function misspell(state: LedgerState, event: Extract<LedgerEvent, { kind: 'call-started' }>) {
  const pin = state.eager.get(event.tool) ?? state.tail.get(event.tool)?.pin
  if (!pin) return
  const unseen = pin.aside === true && isActive(state, pin.id) && !state.revealed.has(pin.id)
  if (pin.wireName === event.asked && !unseen) return
  state.meant.set(event.anchor, { wireName: pin.wireName, guessedIn: unseen ? state.latches : undefined })
  if (unseen) state.revealed.add(pin.id)
}

function touch(state: LedgerState, id: string) {
  if (!state.tail.has(id)) return
  state.recency.delete(id)
  state.recency.set(id, true)
}

function count(table: Map<string, number>, key: string | undefined) {
  if (key !== undefined) table.set(key, (table.get(key) ?? 0) + 1)
}
