/**
 * Plans the facts to write before a request: a frozen prefix, changes since the last request, due reminders, and
 * schemas that a compaction dropped. Pure: reads state, catalogue, policy and settings, and returns facts.
 */

import type { LedgerFact } from '../ledger/event.js'
import { type LedgerState, loaderName } from '../ledger/fold.js'
import type { AnnouncedAt } from '../ledger/state.js'
import type { DeliveryName } from '../tool/notice.js'
import type { Pin } from '../tool/wire-tool.js'
import type { WireSupport } from './auto.js'
import type { Context } from './context.js'
import { deliveries, isInArray } from './deliveries.js'
import {
  announce,
  arrivals,
  cleanGuidance,
  type FrozenPrefix,
  listMentioned,
  listVisibleEntries,
  loadedIds,
  reconcile,
  schemaLine,
} from './deltas.js'
import { applyReturn, freezePrefix, planReturn } from './freeze.js'
import { BRIDGE_NAME, createMetaEntry } from './meta-tools.js'
import { findNativeFault } from './native-check.js'
import { type BoundThinking, stripThinking } from './thinking.js'

type Announced = Extract<LedgerFact, { kind: 'announced' }>

/** The anchors of a history. */
export interface PresentAnchors {
  /** `upTo`: a match after this anchor is a different message with the same content. */
  has(anchor: string, upTo?: string): boolean
}

/** The history about to be sent, as far as it is known. */
export interface SentHistory {
  readonly present?: PresentAnchors | undefined
  /** Answers in which the provider itself finds references to tools. */
  readonly references?: ReadonlySet<string> | undefined
  /** Where a notice can go. Absent: anywhere. */
  readonly place?: NoticePlace | undefined
  /** Thinking that the provider binds to the bytes before it. Absent: none. */
  readonly thinking?: BoundThinking | undefined
  /** The list of tools that is sent if deferral is off. Absent: the caller knows none. */
  readonly array?: ToolArray | undefined
}

export interface ToolArray {
  /** Names the list as it is now. */
  name(): string
  /** True if the list of this name can still be sent. */
  has(name: string): boolean
}

/** The end of a history: a message, or the results of one batch. */
export interface NoticePlace {
  readonly anchors: readonly string[]
  /** What can be placed there without an extra message between a result and the next reply. */
  takes(delivery: DeliveryName): 'words' | 'tools' | 'nothing'
}

export function plan(
  state: LedgerState,
  context: Context,
  history: SentHistory = {},
  support: WireSupport = {},
): LedgerFact[] {
  const isElsewhere = state.frozen && state.frozen.wire !== context.wire
  const returned = isElsewhere ? planReturn(state, context, support, history.thinking) : undefined
  if (returned) {
    const back = applyReturn(state, [returned])
    return [returned, ...plan(back.state, context, history, support)]
  }
  const facts = surfaceFacts(state, context, history, support)
  return [...facts, ...stripThinking(state, facts, context.wire, history.thinking)]
}

function surfaceFacts(
  state: LedgerState,
  context: Context,
  history: SentHistory,
  support: WireSupport,
): LedgerFact[] {
  const doubts = doubt(state, context)
  const reason = freezeReason(state, context, history, support)
  const refrozen =
    reason === undefined ? undefined : freezePrefix(state, context, reason, support, history.array?.name)
  const frozen = refrozen ?? state.frozen
  const settled = refrozen ? [...doubts, refrozen] : doubts
  if (!frozen || frozen.mode === 'off') return settled
  // A notice without a place waits. It is planned again, from the state at that time, with the next results or user
  // message.
  const taken = takenAt(state, frozen, history)
  if (taken === 'nothing') return settled
  const live =
    refrozen?.loaded ?? [...state.tools.loaded.values()].filter((each) => each.live).map(({ pin }) => pin)
  if (taken === 'tools')
    return frozen.changes
      ? [...settled, ...showAgain(state, context, frozen, live, history, new Set())]
      : settled

  // A fresh prefix contains everything known now, except the fate of tools that the history mentions.
  const facts = reconcile(state, context, frozen, refrozen ? loadedIds(state) : listMentioned(state))
  if (refrozen)
    return [
      ...doubts,
      ...facts.filter((fact) => fact.kind !== 'announced' || isNews(fact, refrozen, state)).map(inWords),
      refrozen,
      ...deliver(state, context, frozen, refrozen.loaded, refrozen.eager, history, facts),
    ]
  const loadedPins = [...live]
  // Tools that `restored` brings back in this request must be visible in it.
  for (const fact of facts) if (fact.kind === 'restored' && fact.pin) loadedPins.push(fact.pin)
  return [
    ...doubts,
    ...facts,
    ...arrivals(state, context),
    ...deliver(state, context, frozen, loadedPins, [...state.tools.eager.values()], history, facts),
  ]
}

/** A message that was already sent keeps its bytes until the next freeze, when the provider reads everything again. */
function takenAt(
  state: LedgerState,
  frozen: FrozenPrefix,
  { place }: SentHistory,
): ReturnType<NoticePlace['takes']> {
  if (!place) return 'words'
  const isCarried =
    frozen === state.frozen && place.anchors.some((anchor) => state.history.carried.has(anchor))
  return isCarried ? 'nothing' : place.takes(frozen.delivery)
}

/**
 * Finds announcements whose message this history lacks, by anchor: the user edited the message, or the host cut it. A
 * message that was sent before keeps its bytes, so they follow the last message of this history.
 */
export function findLostNotices(
  state: LedgerState,
  facts: readonly LedgerFact[],
  history: SentHistory,
): string[] {
  const { present } = history
  const frozen = facts.find((fact) => fact.kind === 'frozen') ?? state.frozen
  if (!present || !frozen || frozen.mode === 'off' || takenAt(state, frozen, history) !== 'words') return []
  const lost = state.history.inserts.filter(
    ({ anchor, request, moves = [] }) =>
      !present.has(anchor, request) && !moves.some((each) => present.has(each)),
  )
  return [...new Set(lost.map(({ anchor }) => anchor))]
}

/** Recorded at once and applied at the next freeze: switching earlier would cost more. */
function doubt(state: LedgerState, context: Context): LedgerFact[] {
  const from = state.frozen?.delivery
  if (from === undefined || state.freezing.withheld.has(from)) return []
  const reason = findNativeFault(state)
  if (reason === undefined) return []
  context.notify({ kind: 'delivery-unavailable', delivery: from, detail: reason })
  return [{ kind: 'downgraded', from, reason }]
}

/** A history that begins here has named no tool, unless it was imported and shows an older definition. */
function isNews({ topic, about }: Announced, { reason }: { readonly reason: string }, state: LedgerState) {
  if (reason !== 'start' && reason !== 'clear') return true
  return topic === 'changed' && about.some((id) => (state.tools.loaded.get(id)?.shownAt ?? '') !== '')
}

/** A new array needs no announcement. */
function inWords(fact: LedgerFact): LedgerFact {
  if (fact.kind !== 'announced') return fact
  const { adds: _, removes: __, revealed: ___, ...said } = fact
  return said
}

function deliver(
  state: LedgerState,
  context: Context,
  frozen: FrozenPrefix,
  loadedPins: readonly Pin[],
  eager: readonly Pin[],
  history: SentHistory,
  facts: readonly LedgerFact[],
): LedgerFact[] {
  // A changed definition is shown together with its announcement.
  const redefined = new Set(facts.flatMap((fact) => (fact.kind === 'redefined' ? [fact.tool.id] : [])))
  const loadedIds = new Set(loadedPins.map((pin) => pin.id))
  const loaded = new Set([...loadedIds, ...eager.map((pin) => pin.id)])
  return [
    ...tellUnloaded(state, context, loaded),
    ...(frozen === state.frozen ? takeAway(state, context, loaded) : []),
    ...remind(state, context, frozen.delivery, loadedIds, history),
    ...showAgain(state, context, frozen, loadedPins, history, redefined),
  ]
}

function freezeReason(state: LedgerState, context: Context, history: SentHistory, support: WireSupport) {
  if (state.freezing.due) return state.freezing.due
  if (!state.frozen) return 'start'
  if (state.frozen.wire !== context.wire) return 'wire'
  // A new list would invalidate the thinking in this tool loop, and waiting for the end of the loop loses nothing.
  const isBound = history.thinking?.inside.some((anchor) => !state.history.thinking.stripped.has(anchor))
  if (state.frozen.mode === 'off') return hasOldArray(state.frozen, history, isBound) ? 'tools' : undefined
  if (state.frozen.delivery === 'native' && !support.native) return 'wire'
  if (state.frozen.changes && support.native === 'references') return 'wire'
  if (state.frozen.removals && support.native !== 'changes') return 'wire'
  const names = { loader: loaderName(state, context.settings.searchTool), bridge: BRIDGE_NAME }
  const denied = deliveries[state.frozen.delivery].metaTools.some(
    (meta) => context.gate.availability(createMetaEntry(names[meta]), 'see') === 'denied',
  )
  if (denied) return 'loader'
  const live = context.settings.cards === 'live' && state.frozen.delivery !== 'eager' && !isBound
  return live && hasStaleCards(state, context) ? 'cards' : undefined
}

/** True if the tools have changed since deferral was found to be off, and the list that was sent is not needed any more. */
function hasOldArray(
  { array: sent }: { readonly array?: string },
  { array }: SentHistory,
  isBound = false,
): boolean {
  if (!array || sent === array.name()) return false
  return !isBound || sent === undefined || !array.has(sent)
}

/**
 * True if the list of deferred tools is out of date: a tool was loaded or unloaded, a source changed its tools, or
 * policy changed. Walks the whole catalogue on every request; that is the price of live cards.
 */
function hasStaleCards({ frozen, tools, history }: LedgerState, context: Context): boolean {
  const { catalogue, gate } = context
  const loaded = new Set(frozen?.loaded.map((pin) => pin.id))
  const live = [...tools.loaded].filter(([, each]) => each.live).map(([id]) => id)
  if (live.length !== loaded.size || live.some((id) => !loaded.has(id))) return true
  const other = [...catalogue.sources.values()].some(
    ({ name, state, membership }) => state === 'ready' && history.sources.get(name) !== membership,
  )
  if (other || !frozen) return other
  const deferred = [...catalogue.entries()].filter(
    (entry) => context.exposure(entry).deferred && gate.visible(entry),
  )
  if (deferred.length !== frozen.deferred) return true
  const shown = new Set(frozen.shown)
  return shown.size > 0 && deferred.some(({ id }) => !loaded.has(id) && !shown.has(id))
}

/** Tools that a direct call or the host unloaded, which no answer has mentioned. */
function tellUnloaded(state: LedgerState, context: Context, loaded: ReadonlySet<string>): LedgerFact[] {
  const entries = listVisibleEntries(
    [...state.history.pendingNotices].filter((id) => !loaded.has(id)),
    context,
  )
  if (entries.length === 0) return []
  const text = context.settings.prompts.searchUnloaded({ tools: entries.map((entry) => entry.wireName) })
  return [
    announce(
      context,
      'unloaded',
      text,
      entries.map(({ id }) => id),
    ),
  ]
}

/** Tools that an answer has announced but the provider does not know yet. */
function takeAway(state: LedgerState, context: Context, loaded: ReadonlySet<string>): LedgerFact[] {
  const gone = [...state.native.toRemove].filter(([id]) => !loaded.has(id))
  if (gone.length === 0) return []
  const about = gone.map(([id]) => id)
  return [announce(context, 'unloaded', '', about, { removes: gone.map(([, name]) => name) })]
}

/**
 * One reminder for loaded tools that no answer in the history announces, and for loaded tools whose guidelines are
 * missing from it: just found, inherited, or compacted away. The gate is asked again, so that tools that have gone are
 * not named.
 */
function remind(
  state: LedgerState,
  context: Context,
  delivery: DeliveryName,
  live: ReadonlySet<string>,
  { present }: SentHistory,
): LedgerFact[] {
  // A late eager tool was announced with its guidelines; a deferred tool only with its card.
  const cameEager = (id: string) => state.tools.loaded.get(id)?.source === 'arrival'
  const announced = new Set(
    state.history.inserts.flatMap(({ topic, about }) =>
      topic === 'loaded' ? about : topic === 'arrival' ? about.filter(cameEager) : [],
    ),
  )
  // If the provider inserts definitions itself, the reminder contains only the guidelines.
  const always = deliveries[delivery].answers !== 'reference'
  // An answer that the host lost has announced nothing.
  const isLost = ({ anchor, request }: AnnouncedAt) => request === undefined && present?.has(anchor) === false
  const due = [...live].filter((id) => {
    const said = state.history.reminded.get(id)
    if (always && (state.history.pendingReminders.has(id) || (said && isLost(said)))) return true
    const { insteadOf, guidelines = [] } = context.catalogue.get(id)?.tool ?? {}
    return !announced.has(id) && (insteadOf !== undefined || guidelines.length > 0)
  })
  const entries = listVisibleEntries(due, context)
  if (entries.length === 0) return []
  const text = context.settings.prompts.loaded({
    bridge: deliveries[delivery].metaTools.includes('bridge') ? BRIDGE_NAME : undefined,
    tools: entries.map(({ wireName, tool }) => ({
      name: wireName,
      insteadOf: cleanGuidance(tool.insteadOf ?? '').join(' '),
      guidelines: (tool.guidelines ?? []).flatMap(cleanGuidance),
    })),
  })
  return [
    announce(
      context,
      'loaded',
      text,
      entries.map(({ id }) => id),
    ),
  ]
}

/** Updates that contain schemas, for deliveries that keep schemas in the history. */
const SCHEMA_TOPICS: ReadonlySet<string> = new Set(['schemas', 'changed', 'arrival'])

/** Schemas of loaded tools that are neither in the tools array nor, any longer, in the history. */
function showAgain(
  state: LedgerState,
  context: Context,
  frozen: FrozenPrefix,
  loadedPins: readonly Pin[],
  { present, references }: SentHistory,
  redefined: ReadonlySet<string>,
): LedgerFact[] {
  // A thread that returns from another wire has text in place of references. A guessed call becomes a reference again.
  const isReferred = (anchor: string) =>
    state.native.referredIn.get(anchor) !== state.freezing.count ||
    state.calls.resolvedCalls.get(anchor)?.guessedIn === state.freezing.count ||
    references?.has(anchor) !== false
  // An update finds a place even if its message is gone; an answer disappears with its call.
  const written = (id: string, anchor: string) =>
    !present ||
    (present.has(anchor) && isReferred(anchor)) ||
    state.history.inserts.some(
      (insert) => SCHEMA_TOPICS.has(insert.topic) && insert.anchor === anchor && insert.about.includes(id),
    )
  // As the new prefix will see it: content shown by reference is not in the history.
  const byReference = frozen !== state.frozen && state.frozen?.delivery === 'native'
  const unseen = loadedPins.filter((pin) => {
    if (isInArray(pin)) return false
    const shownAt = (!byReference && state.tools.loaded.get(pin.id)?.shownAt) || ''
    return shownAt === '' || (!written(pin.id, shownAt) && !redefined.has(pin.id))
  })
  const entries = listVisibleEntries(new Set(unseen.map(({ id }) => id)), context)
  if (entries.length === 0) return []
  const about = entries.map(({ id }) => id)
  if (frozen.changes) return [announce(context, 'schemas', '', about, { adds: entries })]
  const bridge = deliveries[frozen.delivery].metaTools.includes('bridge') ? BRIDGE_NAME : undefined
  const heading = context.settings.prompts.schemas({ bridge })
  const text = [heading, ...entries.map((entry) => schemaLine(entry, context))].join('\n')
  return [announce(context, 'schemas', text, about)]
}
