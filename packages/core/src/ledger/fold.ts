/**
 * Folds the events of one conversation into its state. The fold reads only the event, never the catalogue, the policy, the options or
 * the clock. Live, replayed, resumed and forked conversations therefore have the same state.
 */

import { RESERVE_NAME } from '../base/names.js'
import type { FailureReason } from '../tool/notice.js'
import type { Pin } from '../tool/wire-tool.js'
import type { KeptResult, LedgerEvent } from './event.js'
import { carry, inWords, leave, returnTo, tellLeft } from './return-to-wire.js'
import { createState, type FrozenPrefix, type LedgerState, prefixName, type RequestRecord } from './state.js'

export { createState, type Insert, type LedgerState, type LoadedTool, type RequestRecord } from './state.js'

/** Gives the next state. Changes the given state in place, so that an event costs the same in a long ledger: keep events, not states. */
export function fold(state: LedgerState, event: LedgerEvent): LedgerState {
  state.length = event.id + 1
  switch (event.kind) {
    case 'frozen':
      frozen(state, event)
      break
    case 'returned':
      returnTo(state, event.wire, event.loaded)
      break
    case 'inherited':
      keep(state, event)
      break
    case 'searched':
      replaced(state, event.anchor)
      count(state.calls.failures, event.missed ? searchKey(event.query) : undefined)
      if (state.requests.last) state.requests.last.metaCalls++
      charge(state.requests.searchTokens, event.anchor, event.tokens)
      charge(state.requests.revealedTokens, event.anchor, event.revealed ?? 0)
      if (event.revealed !== undefined) state.native.referredIn.set(event.anchor, state.freezing.count)
      for (const id of event.again ?? []) touch(state, id)
      state.calls.searchHistory.push({
        turn: state.requests.byId.size,
        query: event.query,
        loaded: event.loaded,
      })
      break
    case 'loaded':
      load(state, event)
      break
    case 'unloaded':
      unload(state, event.tool, event.kept === true)
      if (event.unannounced) state.history.pendingNotices.add(event.tool)
      break
    case 'suspended':
      state.tools.suspended.set(event.tool, event.reason)
      break
    case 'restored':
      restore(state, event.tool, event.pin)
      break
    case 'redefined':
      redefine(state, event.tool, event.anchor)
      break
    case 'call-started':
      replaced(state, event.anchor)
      state.calls.pending.set(event.anchor, event.tool)
      touch(state, event.tool)
      misspell(state, event)
      if (event.alias !== undefined) count(state.calls.aliasUses, event.alias)
      if (state.requests.last) state.requests.last.realCalls++
      break
    case 'call-succeeded':
      state.calls.pending.delete(event.anchor)
      state.calls.succeeded = { anchor: event.anchor, tool: event.tool }
      state.calls.unavailable.delete(event.tool)
      touch(state, event.tool)
      keep(state, event)
      charge(state.requests.mediaTokens, event.anchor, event.media ?? 0)
      break
    case 'call-failed':
      fail(state, event)
      keep(state, event)
      charge(state.requests.mediaTokens, event.anchor, event.media ?? 0)
      break
    case 'announced':
      announce(state, event)
      break
    case 'thinking-stripped': {
      const { stripped } = state.history.thinking
      for (const anchor of event.messages) stripped.add(anchor)
      break
    }
    case 'requested':
      request(state, event)
      break
    case 'measured': {
      const record = state.requests.byId.get(event.requestId)
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
      state.freezing.withheld.set(event.from, event.reason)
      state.native.reserveCalled = false
      if (event.request !== undefined) endRequest(state, event.request)
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

export function isLoaded(state: LedgerState, id: string): boolean {
  return state.tools.loaded.get(id)?.live === true
}

/** Name of the search tool in the requests of this conversation. A host that resumes it may have chosen another name since. */
export function loaderName(state: LedgerState, searchTool: { readonly name: string }): string {
  return state.frozen?.metaTools[0]?.name ?? searchTool.name
}

/** Whether the model can call the tool without a search. */
export function isOnSurface(state: LedgerState, id: string): boolean {
  return state.tools.eager.has(id) || isLoaded(state, id)
}

function frozen(state: LedgerState, event: FrozenPrefix) {
  // Deferral stays off, and only the array changes.
  if (event.reason === 'tools' && event.mode === 'off') {
    state.frozen = event
    state.freezing.count = ++state.freezing.made
    state.array.version++
    return
  }
  const before = new Map(state.tools.loaded)
  leave(state, event.wire)
  // References lose their definitions if the provider does not insert them any more.
  const byReference = state.frozen?.delivery === 'native'
  state.frozen = event
  state.freezing.due = undefined
  state.freezing.count = ++state.freezing.made
  state.history.editions.clear()
  // For every other reason, the messages are new too.
  if (['loader', 'cards', 'delivery', 'tools'].includes(event.reason)) state.array.version++
  state.tools.eager.clear()
  for (const pin of event.eager) state.tools.eager.set(pin.id, pin)
  state.native.revealed.clear()
  state.native.toRemove.clear()
  // Tools that the provider added or removed between messages refer to the old array.
  state.history.inserts = state.history.inserts.map(inWords)
  state.tools.loaded.clear()
  for (const pin of event.loaded) {
    const known = before.get(pin.id) ?? state.tools.suspendedLoads.get(pin.id)
    if (!known) continue
    const shownAt = byReference ? '' : known.shownAt
    state.tools.loaded.set(pin.id, { ...known, pin, shownAt, live: true, kept: false })
    state.tools.suspendedLoads.delete(pin.id)
  }
  for (const [id, known] of before)
    if (known.live && !state.tools.loaded.has(id))
      state.tools.suspendedLoads.set(id, { ...known, shownAt: '' })
  // A tool that arrived late and loaded is an ordinary eager tool now.
  for (const [id, known] of state.tools.suspendedLoads)
    if (known.source === 'arrival' && state.tools.eager.has(id)) {
      state.tools.suspendedLoads.delete(id)
      state.tools.recency.delete(id)
    }
  // The provider has read none of these bytes.
  state.history.carried.clear()
  state.history.announcedIds.clear()
  for (const id of event.shown) state.history.announcedIds.add(id)
  state.history.sources.clear()
  for (const [name, membership] of Object.entries(event.sources)) state.history.sources.set(name, membership)
}

function load(state: LedgerState, event: Extract<LedgerEvent, { kind: 'loaded' }>) {
  const { tool, source, asked, anchor } = event
  const known = state.tools.loaded.get(tool.id)
  // Counts an alias in a search. An alias in a call counts when the call starts.
  if (source === 'select' || source === 'search') count(state.calls.aliasUses, event.alias)
  // A tool that returns while its bytes are still in the array rewrites nothing.
  const inPlace = known?.kept === true && known.pin.fingerprint === tool.fingerprint
  const declared = tool.definition !== undefined && !tool.declaredHidden && !inPlace
  if (known && declared) state.array.rewritten.add(tool.id)
  const shownAt = event.shown ? anchor : (known?.live && known.shownAt) || ''
  const turn = state.requests.byId.size
  state.tools.loaded.set(tool.id, { pin: tool, live: true, kept: false, source, asked, turn, shownAt })
  state.tools.suspendedLoads.delete(tool.id)
  // A call loads the whole group of its tool, but resolves only to the tool itself.
  const isCalled = state.calls.succeeded?.anchor === anchor && state.calls.succeeded.tool === tool.id
  if (source === 'call' && isCalled && (asked !== tool.wireName || tool.declaredHidden)) {
    const guessedIn = event.shown && tool.declaredHidden ? state.freezing.count : undefined
    state.calls.resolvedCalls.set(anchor, { wireName: tool.wireName, guessedIn })
  }
  if (event.shown && tool.declaredHidden) state.native.referredIn.set(anchor, state.freezing.count)
  touch(state, tool.id)
  state.history.pendingNotices.delete(tool.id)
  state.native.toRemove.delete(tool.id)
  if (event.shown && tool.declaredHidden && source !== 'arrival') state.native.revealed.add(tool.id)
  // The search answer already announces the tool.
  if (source === 'search' || source === 'select')
    state.history.reminded.set(tool.id, { anchor, request: undefined })
  else if (source !== 'inherit' && source !== 'arrival') state.history.pendingReminders.add(tool.id)
  if (declared) state.array.version++
}

function unload(state: LedgerState, id: string, kept: boolean) {
  const current = state.tools.loaded.get(id)
  // It was unloaded before. Now its bytes leave the array.
  if (current?.kept && !current.pin.declaredHidden && !kept) {
    state.tools.loaded.set(id, { ...current, kept: false })
    state.array.rewritten.add(id)
    state.array.version++
    return
  }
  const known = current?.live ? current : state.tools.suspendedLoads.get(id)
  if (!known) return
  if (known !== current) state.tools.suspendedLoads.delete(id)
  else if (known.pin.declaredHidden || (known.pin.definition && kept)) {
    state.tools.loaded.set(id, { ...known, live: false, kept: true })
    if (state.frozen?.removals && state.native.revealed.delete(id))
      state.native.toRemove.set(id, known.pin.wireName)
  } else if (known.pin.definition) {
    state.tools.loaded.set(id, { ...known, live: false, kept: false })
    state.array.rewritten.add(id)
    state.array.version++
  } else state.tools.loaded.delete(id)
  state.tools.recency.delete(id)
  state.history.pendingReminders.delete(id)
  state.history.reminded.delete(id)
}

function restore(state: LedgerState, id: string, pin: Pin | undefined) {
  state.tools.suspended.delete(id)
  state.calls.unavailable.delete(id)
  const known = state.tools.suspendedLoads.get(id)
  if (!known || !pin) return
  state.tools.suspendedLoads.delete(id)
  state.tools.loaded.set(id, { ...known, pin })
  if (pin.definition && !pin.declaredHidden) state.array.version++
}

function redefine(state: LedgerState, tool: Pin, anchor: string) {
  // Without a definition, the declared bytes stay.
  if (tool.definition) state.array.version++
  const eager = state.tools.eager.get(tool.id)
  if (eager) state.tools.eager.set(tool.id, { ...eager, ...tool })
  const known = state.tools.loaded.get(tool.id)
  const editions = state.history.editions.get(tool.id) ?? new Set()
  for (const pin of [eager, known?.pin, tool]) if (pin) editions.add(pin.fingerprint)
  state.history.editions.set(tool.id, editions)
  if (!known) return
  const pin = { ...known.pin, ...tool }
  // If schemas are in the history, the announcement of this event has the new one. A reference keeps its position.
  const shownAt = known.shownAt === '' || pin.declaredHidden ? known.shownAt : anchor
  state.tools.loaded.set(tool.id, { ...known, pin, shownAt })
}

function fail(state: LedgerState, event: Extract<LedgerEvent, { kind: 'call-failed' }>) {
  const { anchor, reason, tokens } = event
  const started = state.calls.pending.delete(anchor)
  // The tool ran, so it was used, even if it failed.
  if (started) touch(state, event.tool)
  else replaced(state, anchor)
  count(state.calls.failures, event.key)
  if (reason === 'unavailable' && event.tool !== '') state.calls.unavailable.add(event.tool)
  count(state.calls.aliasUses, started ? undefined : event.alias)
  if (GUESSES.has(reason)) state.calls.hiddenCalls++
  // With another delivery, this is an ordinary unknown name.
  if (event.asked === RESERVE_NAME && state.frozen?.delivery === 'native') state.native.reserveCalled = true
  // Deferral pays for a round that only brought a hint or a schema. Without deferral, the model would have made it anyway.
  const deferring = state.frozen?.mode === 'on' && state.frozen.delivery !== 'eager'
  if (!started && state.requests.last) {
    if (!deferring || ANYWAY.has(reason)) state.requests.last.realCalls++
    else state.requests.last.metaCalls++
  }
  if (deferring && !started && tokens !== undefined && !ANYWAY.has(reason))
    charge(state.requests.searchTokens, anchor, tokens)
}

/** Failures that would also happen if every tool were sent. */
const ANYWAY: ReadonlySet<FailureReason> = new Set(['error', 'timed-out', 'invalid', 'denied', 'unavailable'])

/** Forgets the answer at this anchor: the host went back, and the server reused the call id for another answer. */
function replaced(state: LedgerState, anchor: string) {
  state.requests.mediaTokens.delete(anchor)
  const revealed = state.requests.revealedTokens.delete(anchor)
  if (!state.requests.searchTokens.delete(anchor) && !revealed) return
  for (const [id, known] of state.tools.loaded)
    if (known.shownAt === anchor) state.tools.loaded.set(id, { ...known, shownAt: '' })
}

/** Failures of a model that guesses names and does not search. */
const GUESSES: ReadonlySet<FailureReason> = new Set(['hint', 'schema-needed', 'unknown', 'refused'])

/** Charges an answer that deferral added to the history. Every later request pays for it. */
function charge(table: Map<string, number>, anchor: string, tokens: number) {
  if (tokens > 0) table.set(anchor, (table.get(anchor) ?? 0) + tokens)
}

/** Kept results stay readable, even if their answer has left the history. */
function keep(state: LedgerState, { kept = [] }: { readonly kept?: readonly KeptResult[] }) {
  for (const { handle, ledger } of kept) state.results.set(handle, ledger)
}

function announce(state: LedgerState, event: Extract<LedgerEvent, { kind: 'announced' }>) {
  const { anchor, topic, text, about, tokens, adds = [], removes = [], revealed = 0 } = event
  state.history.inserts.push({ anchor, topic, text, about, tokens, adds, removes, revealed })
  for (const id of about) {
    const name = state.tools.loaded.get(id)?.pin.wireName
    if (adds.some((tool) => tool.name === name)) state.native.revealed.add(id)
    if (name !== undefined && removes.includes(name)) state.native.revealed.delete(id)
    state.native.toRemove.delete(id)
  }
  for (const id of about) state.history.announcedIds.add(id)
  tellLeft(state, about, event.sources ?? {})
  if (event.topic === 'loaded')
    for (const id of about) {
      state.history.pendingReminders.delete(id)
      state.history.reminded.set(id, { anchor, request: undefined })
    }
  if (event.topic === 'unloaded') for (const id of about) state.history.pendingNotices.delete(id)
  if (event.topic === 'schemas' || event.topic === 'changed')
    for (const id of about) {
      const known = state.tools.loaded.get(id)
      const added = adds.some(({ name }) => name === known?.pin.wireName)
      const written =
        !known?.pin.definition || (known.pin.declaredHidden && (added || event.topic === 'schemas'))
      if (known && written) state.tools.loaded.set(id, { ...known, shownAt: anchor })
    }
  for (const [name, membership] of Object.entries(event.sources ?? {}))
    state.history.sources.set(name, membership)
}

function request(state: LedgerState, event: Extract<LedgerEvent, { kind: 'requested' }>) {
  // A history is sent only when its calls are answered. Calls that are still pending were cut off and never end.
  state.calls.pending.clear()
  state.array.rewritten.clear()
  // The provider shows loaded tools by itself.
  if (state.frozen?.delivery === 'native') state.history.pendingReminders.clear()
  // The model has answered the reminders of earlier requests.
  for (const [id, { anchor, request = event.anchor }] of [...state.history.reminded])
    if (request === event.anchor) state.history.reminded.set(id, { anchor, request })
    else state.history.reminded.delete(id)
  state.history.carried.add(event.anchor)
  carry(state.history.inserts, event.anchor, event.moved)
  const record: RequestRecord = {
    requestId: event.requestId,
    anchor: event.anchor,
    wire: state.frozen?.wire,
    epoch: state.epoch,
    length: state.length,
    tokens: event.tokens,
    toolsVersion: state.array.version,
    frozen: state.freezing.count,
    metaCalls: 0,
    realCalls: 0,
  }
  if (state.frozen) state.history.thinking.behind.set(state.frozen.wire, prefixName(state))
  state.requests.byId.set(event.requestId, record)
  state.requests.last = record
}

/** The provider refused this request. Its id is free again, and the next request freezes a new prefix. */
function endRequest(state: LedgerState, requestId: string) {
  state.requests.byId.delete(requestId)
  state.requests.last = [...state.requests.byId.values()].at(-1)
  state.freezing.due = 'delivery'
}

function compact(state: LedgerState, kept: Readonly<Record<string, string>>) {
  const renamed = (anchor: string): string | undefined =>
    Object.hasOwn(kept, anchor) ? kept[anchor] : undefined
  state.history.inserts = state.history.inserts.flatMap((insert) => {
    const [anchor, ...moves] = [insert.anchor, ...(insert.moves ?? [])].flatMap((each) => renamed(each) ?? [])
    return anchor === undefined ? [] : [{ ...insert, anchor, moves }]
  })
  for (const [id, known] of state.tools.loaded) {
    if (known.shownAt === '') continue
    state.tools.loaded.set(id, { ...known, shownAt: renamed(known.shownAt) ?? '' })
  }
  for (const [id, { anchor, request }] of [...state.history.reminded]) {
    const moved = renamed(anchor)
    state.history.reminded.delete(id)
    if (moved !== undefined)
      state.history.reminded.set(id, {
        anchor: moved,
        request: request === undefined ? undefined : (renamed(request) ?? request),
      })
    else if (state.tools.loaded.get(id)?.live) state.history.pendingReminders.add(id)
  }
  const { searchTokens, revealedTokens, mediaTokens } = state.requests
  for (const table of [searchTokens, revealedTokens, mediaTokens, state.native.referredIn])
    for (const [anchor, value] of [...table]) {
      const moved = renamed(anchor)
      table.delete(anchor)
      if (moved !== undefined) table.set(moved, value)
    }
  const { stripped } = state.history.thinking
  const moved = [...stripped].flatMap((anchor) => renamed(anchor) ?? [])
  stripped.clear()
  for (const anchor of moved) stripped.add(anchor)
  for (const [anchor, meant] of [...state.calls.resolvedCalls]) {
    const moved = renamed(anchor)
    state.calls.resolvedCalls.delete(anchor)
    if (moved !== undefined) state.calls.resolvedCalls.set(moved, meant)
  }
  state.calls.pending.clear()
  state.freezing.left.clear()
  state.epoch++
  if (state.frozen) state.freezing.due = 'compaction'
}

/** Keeps the measured usage, because the tokens were spent. */
function clear(state: LedgerState) {
  const { length, epoch, frozen, freezing, array, calls, requests } = state
  const fresh = createState()
  Object.assign(state, fresh, {
    length,
    epoch: epoch + 1,
    freezing: { ...freezing, left: new Map(), due: frozen ? 'clear' : 'start' },
    array: { ...fresh.array, version: array.version },
    calls: { ...fresh.calls, aliasUses: calls.aliasUses },
    requests: { ...fresh.requests, byId: requests.byId, last: requests.last },
  })
}

/** Notes a call of a loaded tool by another name, or before the provider has shown the tool. The first such call counts as a search. */
function misspell(state: LedgerState, event: Extract<LedgerEvent, { kind: 'call-started' }>) {
  const pin = state.tools.eager.get(event.tool) ?? state.tools.loaded.get(event.tool)?.pin
  if (!pin) return
  const unseen = pin.declaredHidden === true && isLoaded(state, pin.id) && !state.native.revealed.has(pin.id)
  if (pin.wireName === event.asked && !unseen) return
  state.calls.resolvedCalls.set(event.anchor, {
    wireName: pin.wireName,
    guessedIn: unseen ? state.freezing.count : undefined,
  })
  if (unseen) state.native.revealed.add(pin.id)
}

function touch(state: LedgerState, id: string) {
  if (!state.tools.loaded.has(id)) return
  state.tools.recency.delete(id)
  state.tools.recency.set(id, true)
}

function count(table: Map<string, number>, key: string | undefined) {
  if (key !== undefined) table.set(key, (table.get(key) ?? 0) + 1)
}
