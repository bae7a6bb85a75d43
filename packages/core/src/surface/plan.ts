/**
 * What has to be written down before a request: the latch, what came, went or changed since the last one, reminders
 * that are due, schemas that a compaction dropped. Pure: it reads state, catalogue, policy and settings, and gives facts.
 */

import type { LedgerFact } from '../ledger/event.js'
import { type LedgerState, loaderName } from '../ledger/fold.js'
import type { Told } from '../ledger/state.js'
import type { DeliveryName } from '../tool/reasons.js'
import type { Pin } from '../tool/wire-tool.js'
import { announce, guidance, schemaLine, speakable } from './announce.js'
import type { WireSupport } from './auto.js'
import type { Context } from './context.js'
import { deliveries } from './deliveries.js'
import { arrivals, type Latch, loadedIds, mentioned, reconcile } from './deltas.js'
import { latchFact } from './latch.js'
import { BRIDGE_NAME, metaEntry } from './meta-tools.js'
import { findNativeFault } from './native-check.js'
import { isInArray } from './placement.js'
import { afterReturn, returnFact } from './return.js'
import { type BoundThinking, stripThinking } from './thinking.js'

type Announced = Extract<LedgerFact, { kind: 'announced' }>

/** The history that is about to be sent, as far as it is known. */
export interface SentHistory {
  /** Every anchor of it. */
  readonly present?: { has(anchor: string): boolean } | undefined
  /** Of these, the answers in which the provider itself finds references to tools. */
  readonly references?: ReadonlySet<string> | undefined
  /** Where a notice would stand. Absent: anywhere. */
  readonly place?: NoticePlace | undefined
  /** Thinking that the provider binds to what stands before it. Absent: it does not. */
  readonly thinking?: BoundThinking | undefined
}

/** The end of a history: a message, or the results of one batch. */
export interface NoticePlace {
  readonly anchors: readonly string[]
  /** What can stand there without a message of its own between a result and the next reply. */
  takes(delivery: DeliveryName): 'words' | 'tools' | 'nothing'
}

export function plan(
  state: LedgerState,
  context: Context,
  history: SentHistory = {},
  support: WireSupport = {},
): LedgerFact[] {
  const isElsewhere = state.latch && state.latch.wire !== context.wire
  const returned = isElsewhere ? returnFact(state, context, support, history.thinking) : undefined
  if (returned) {
    const back = afterReturn(state, [returned])
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
  const reason = latchReason(state, context, history, support)
  const latched = reason === undefined ? undefined : latchFact(state, context, reason, support)
  const latch = latched ?? state.latch
  const settled = latched ? [...doubts, latched] : doubts
  if (!latch || latch.mode === 'off') return settled
  // What has no place waits: it is found again, as it is by then, when the next results or the user's next message come.
  const taken = takenAt(state, latch, history)
  if (taken === 'nothing') return settled
  const live =
    latched?.loaded ?? [...state.tools.loaded.values()].filter((each) => each.live).map(({ pin }) => pin)
  if (taken === 'tools')
    return latch.changes
      ? [...settled, ...showAgain(state, context, latch, live, history, new Set())]
      : settled

  // A fresh latch tells everything that is known now, except what became of the tools that the history speaks of.
  const facts = reconcile(state, context, latch, latched ? loadedIds(state) : mentioned(state))
  if (latched)
    return [
      ...doubts,
      ...facts.filter((fact) => fact.kind !== 'announced' || isNews(fact, latched, state)).map(inWords),
      latched,
      ...deliver(state, context, latch, latched.loaded, latched.eager, history, facts),
    ]
  const loadedPins = [...live]
  // What `restored` brings back on this request has to be seen on it.
  for (const fact of facts) if (fact.kind === 'restored' && fact.pin) loadedPins.push(fact.pin)
  return [
    ...doubts,
    ...facts,
    ...arrivals(state, context),
    ...deliver(state, context, latch, loadedPins, [...state.tools.eager.values()], history, facts),
  ]
}

/** A message that a request has carried stays as it is until the next latch, when everything is read anew. */
function takenAt(state: LedgerState, latch: Latch, { place }: SentHistory): ReturnType<NoticePlace['takes']> {
  if (!place) return 'words'
  const isCarried = latch === state.latch && place.anchors.some((anchor) => state.history.carried.has(anchor))
  return isCarried ? 'nothing' : place.takes(latch.delivery)
}

/** Said as soon as it shows, acted on at the next latch: until then, changing course would cost more. */
function doubt(state: LedgerState, context: Context): LedgerFact[] {
  const from = state.latch?.delivery
  if (from === undefined || state.latching.withheld.has(from)) return []
  const reason = findNativeFault(state)
  if (reason === undefined) return []
  context.notify({ kind: 'delivery-unavailable', delivery: from, detail: reason })
  return [{ kind: 'downgraded', from, reason }]
}

/** A history that begins here has never named a tool, unless it was imported and shows an older definition. */
function isNews({ topic, about }: Announced, { reason }: { readonly reason: string }, state: LedgerState) {
  if (reason !== 'start' && reason !== 'clear') return true
  return topic === 'changed' && about.some((id) => (state.tools.loaded.get(id)?.shownAt ?? '') !== '')
}

/** A new array says by itself what there is. */
function inWords(fact: LedgerFact): LedgerFact {
  if (fact.kind !== 'announced') return fact
  const { adds: _, removes: __, revealed: ___, ...said } = fact
  return said
}

function deliver(
  state: LedgerState,
  context: Context,
  latch: Latch,
  loadedPins: readonly Pin[],
  eager: readonly Pin[],
  history: SentHistory,
  facts: readonly LedgerFact[],
): LedgerFact[] {
  // What has changed is shown with the news of it.
  const told = new Set(facts.flatMap((fact) => (fact.kind === 'redefined' ? [fact.tool.id] : [])))
  const loadedIds = new Set(loadedPins.map((pin) => pin.id))
  const loaded = new Set([...loadedIds, ...eager.map((pin) => pin.id)])
  return [
    ...tellUnloaded(state, context, loaded),
    ...(latch === state.latch ? takeAway(state, context, loaded) : []),
    ...remind(state, context, latch.delivery, loadedIds, history),
    ...showAgain(state, context, latch, loadedPins, history, told),
  ]
}

function latchReason(state: LedgerState, context: Context, { thinking }: SentHistory, support: WireSupport) {
  if (state.latching.due) return state.latching.due
  if (!state.latch) return 'start'
  if (state.latch.wire !== context.wire) return 'wire'
  if (state.latch.mode === 'off') return undefined
  if (state.latch.delivery === 'native' && !support.native) return 'wire'
  if (state.latch.changes && support.native === 'references') return 'wire'
  if (state.latch.removals && support.native !== 'changes') return 'wire'
  const names = { loader: loaderName(state, context.settings.searchTool), bridge: BRIDGE_NAME }
  const denied = deliveries[state.latch.delivery].metaTools.some(
    (meta) => context.gate.availability(metaEntry(names[meta]), 'see') === 'denied',
  )
  if (denied) return 'loader'
  // A new list would make invalid what was thought in this tool loop, and nothing is lost by waiting for the loop's end.
  const isBound = thinking?.inside.some((anchor) => !state.history.thinking.stripped.has(anchor))
  const live = context.settings.cards === 'live' && state.latch.delivery !== 'eager' && !isBound
  return live && hasStaleCards(state, context) ? 'cards' : undefined
}

/**
 * Whether the list of hidden tools is not that of now: something was loaded or unloaded, a source has other tools, or
 * policy has changed its mind. Walks the whole catalogue, on every request: a list that is always true costs that too.
 */
function hasStaleCards({ latch, tools, history }: LedgerState, context: Context): boolean {
  const { catalogue, gate } = context
  const loaded = new Set(latch?.loaded.map((pin) => pin.id))
  const live = [...tools.loaded].filter(([, each]) => each.live).map(([id]) => id)
  if (live.length !== loaded.size || live.some((id) => !loaded.has(id))) return true
  const other = [...catalogue.sources.values()].some(
    ({ name, state, membership }) => state === 'ready' && history.sources.get(name) !== membership,
  )
  if (other || !latch) return other
  const deferred = [...catalogue.entries()].filter(
    (entry) => context.exposure(entry).deferred && gate.visible(entry),
  )
  if (deferred.length !== latch.deferred) return true
  const shown = new Set(latch.shown)
  return shown.size > 0 && deferred.some(({ id }) => !loaded.has(id) && !shown.has(id))
}

/** What a direct call or the host unloaded: no answer has said so. */
function tellUnloaded(state: LedgerState, context: Context, loaded: ReadonlySet<string>): LedgerFact[] {
  const entries = speakable(
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

/** What an answer has told of already, and the provider has to know too. */
function takeAway(state: LedgerState, context: Context, loaded: ReadonlySet<string>): LedgerFact[] {
  const gone = [...state.native.toRemove].filter(([id]) => !loaded.has(id))
  if (gone.length === 0) return []
  const about = gone.map(([id]) => id)
  return [announce(context, 'unloaded', '', about, { removes: gone.map(([, name]) => name) })]
}

/**
 * One reminder for what was loaded and no answer in the history tells of, and for loaded tools whose guidelines stand nowhere
 * in it: just found, inherited, or compacted away. Asked again of the gate: what is gone by now is not named.
 */
function remind(
  state: LedgerState,
  context: Context,
  delivery: DeliveryName,
  live: ReadonlySet<string>,
  { present }: SentHistory,
): LedgerFact[] {
  // An eager tool that came late was told of with its rules of use; a deferred one only by its card.
  const cameEager = (id: string) => state.tools.loaded.get(id)?.source === 'arrival'
  const told = new Set(
    state.history.inserts.flatMap(({ topic, about }) =>
      topic === 'loaded' ? about : topic === 'arrival' ? about.filter(cameEager) : [],
    ),
  )
  // Where the provider puts definitions before the model itself, there is nothing to remind of but how to use them.
  const always = deliveries[delivery].answers !== 'reference'
  // An answer that the host has lost has said nothing.
  const isLost = ({ anchor, request }: Told) => request === undefined && present?.has(anchor) === false
  const due = [...live].filter((id) => {
    const said = state.history.reminded.get(id)
    if (always && (state.history.pendingReminders.has(id) || (said && isLost(said)))) return true
    const { insteadOf, guidelines = [] } = context.catalogue.get(id)?.tool ?? {}
    return !told.has(id) && (insteadOf !== undefined || guidelines.length > 0)
  })
  const entries = speakable(due, context)
  if (entries.length === 0) return []
  const text = context.settings.prompts.loaded({
    bridge: deliveries[delivery].metaTools.includes('bridge') ? BRIDGE_NAME : undefined,
    tools: entries.map(({ wireName, tool }) => ({
      name: wireName,
      insteadOf: guidance(tool.insteadOf ?? '').join(' '),
      guidelines: (tool.guidelines ?? []).flatMap(guidance),
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

/** Updates that hold schemas where schemas live in the history. */
const SCHEMA_TOPICS: ReadonlySet<string> = new Set(['schemas', 'changed', 'arrival'])

/** Schemas of loaded tools that stand nowhere: neither in the tools array nor, any more, in the history. */
function showAgain(
  state: LedgerState,
  context: Context,
  latch: Latch,
  loadedPins: readonly Pin[],
  { present, references }: SentHistory,
  told: ReadonlySet<string>,
): LedgerFact[] {
  // A thread that was on another wire meanwhile comes back with words in their place. A guess is made a reference again.
  const isReferred = (anchor: string) =>
    state.native.referredIn.get(anchor) !== state.latching.count ||
    state.calls.resolvedCalls.get(anchor)?.guessedIn === state.latching.count ||
    references?.has(anchor) !== false
  // An update finds a place even where its message is gone; an answer goes with its call.
  const written = (id: string, anchor: string) =>
    !present ||
    (present.has(anchor) && isReferred(anchor)) ||
    state.history.inserts.some(
      (insert) => SCHEMA_TOPICS.has(insert.topic) && insert.anchor === anchor && insert.about.includes(id),
    )
  // As the new latch will see it: what a reference showed stands nowhere.
  const byReference = latch !== state.latch && state.latch?.delivery === 'native'
  const unseen = loadedPins.filter((pin) => {
    if (isInArray(pin)) return false
    const shownAt = (!byReference && state.tools.loaded.get(pin.id)?.shownAt) || ''
    return shownAt === '' || (!written(pin.id, shownAt) && !told.has(pin.id))
  })
  const entries = speakable(new Set(unseen.map(({ id }) => id)), context)
  if (entries.length === 0) return []
  const about = entries.map(({ id }) => id)
  if (latch.changes) return [announce(context, 'schemas', '', about, { adds: entries })]
  const bridge = deliveries[latch.delivery].metaTools.includes('bridge') ? BRIDGE_NAME : undefined
  const heading = context.settings.prompts.schemas({ bridge })
  const text = [heading, ...entries.map((entry) => schemaLine(entry, context))].join('\n')
  return [announce(context, 'schemas', text, about)]
}
