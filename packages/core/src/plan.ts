/**
 * What has to be written down before a request: the latch, what came, went or changed since the last one, reminders
 * that are due, schemas that a compaction dropped. Pure: it reads state, catalogue, policy and settings, and gives facts.
 */

import { announce, guidance, schemaLine, speakable } from './announce.js'
import type { Context } from './context.js'
import { deliveries } from './delivery/index.js'
import { arrivals, held, mentioned, reconcile } from './deltas.js'
import { type LedgerState, loaderName } from './ledger.js'
import type { DeliveryName, LedgerFact, Pin } from './ledger-event.js'
import { BRIDGE_NAME, metaEntry } from './meta-tools.js'
import { openFact } from './opening.js'

/** `present`: the anchors of the history that is about to be sent, where they are known. */
export function plan(state: LedgerState, context: Context, present?: ReadonlySet<string>): LedgerFact[] {
  const reason = latchReason(state, context)
  const opened = reason === undefined ? undefined : openFact(state, context, reason)
  const latch = opened ?? state.latch
  if (!latch || latch.mode === 'off') return opened ? [opened] : []

  // A fresh latch tells everything that is known now, except what became of the tools that the history speaks of.
  const facts = reconcile(state, context, latch.delivery, opened ? held(state) : mentioned(state))
  if (opened)
    return [
      ...facts.filter((fact) => fact.kind !== 'announced' || !startsOver(opened)),
      opened,
      ...deliver(state, context, latch.delivery, opened.tail, opened.eager, present, facts),
    ]
  const tail = [...state.tail.values()].filter((each) => each.live).map((each) => each.pin)
  // What `restored` brings back on this request has to be seen on it.
  for (const [id, { pin }] of state.parked) if (!state.eager.has(id)) tail.push(pin)
  return [
    ...facts,
    ...arrivals(state, context),
    ...deliver(state, context, latch.delivery, tail, [...state.eager.values()], present, facts),
  ]
}

/** A history that begins here has never named a tool. */
function startsOver({ reason }: { readonly reason: string }): boolean {
  return reason === 'start' || reason === 'clear'
}

function deliver(
  state: LedgerState,
  context: Context,
  delivery: DeliveryName,
  tail: readonly Pin[],
  eager: readonly Pin[],
  present: ReadonlySet<string> | undefined,
  facts: readonly LedgerFact[],
): LedgerFact[] {
  // What has changed is shown with the news of it.
  const told = new Set(facts.flatMap((fact) => (fact.kind === 'redefined' ? [fact.tool.id] : [])))
  const raised = new Set(tail.map((pin) => pin.id))
  const loaded = new Set([...raised, ...eager.map((pin) => pin.id)])
  return [
    ...tellUnloaded(state, context, loaded),
    ...remind(state, context, delivery, raised),
    ...(deliveries[delivery].declares ? [] : showAgain(state, context, raised, present, told)),
  ]
}

function latchReason(state: LedgerState, context: Context) {
  if (state.relatch) return state.relatch
  if (!state.latch) return 'start'
  if (state.latch.wire !== context.wire) return 'wire'
  if (state.latch.mode === 'off') return undefined
  const names = { loader: loaderName(state, context.settings.face), bridge: BRIDGE_NAME }
  const denied = deliveries[state.latch.delivery].metaTools.some(
    (meta) => context.gate.standing(metaEntry(names[meta]), 'see') === 'denied',
  )
  return denied ? 'loader' : undefined
}

/** What a direct call or the host put back: no answer has said so. */
function tellUnloaded(state: LedgerState, context: Context, loaded: ReadonlySet<string>): LedgerFact[] {
  const entries = speakable(
    [...state.toTell].filter((id) => !loaded.has(id)),
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

/**
 * One reminder for everything raised since the last request, and for raised tools whose guidelines stand nowhere in the
 * history: inherited, or compacted away. Asked again of the gate: what is gone by now is not named.
 */
function remind(
  state: LedgerState,
  context: Context,
  delivery: DeliveryName,
  live: ReadonlySet<string>,
): LedgerFact[] {
  const told = new Set(state.inserts.flatMap((insert) => (insert.topic === 'activation' ? insert.about : [])))
  const due = [...live].filter((id) => {
    if (state.toRemind.has(id)) return true
    const { insteadOf, guidelines = [] } = context.catalogue.get(id)?.tool ?? {}
    return !told.has(id) && (insteadOf !== undefined || guidelines.length > 0)
  })
  const entries = speakable(due, context)
  if (entries.length === 0) return []
  const text = context.settings.prompts.activated({
    bridge: deliveries[delivery].declares ? undefined : BRIDGE_NAME,
    tools: entries.map(({ wireName, tool }) => ({
      name: wireName,
      insteadOf: guidance(tool.insteadOf ?? '').join(' '),
      guidelines: (tool.guidelines ?? []).flatMap(guidance),
    })),
  })
  return [
    announce(
      context,
      'activation',
      text,
      entries.map(({ id }) => id),
    ),
  ]
}

/** Updates that hold schemas where schemas live in the history. */
const SCHEMA_TOPICS: ReadonlySet<string> = new Set(['schemas', 'changed', 'arrival'])

/** Schemas of active tools that stand nowhere: neither in the tools array nor, any more, in the history. */
function showAgain(
  state: LedgerState,
  context: Context,
  raised: ReadonlySet<string>,
  present: ReadonlySet<string> | undefined,
  told: ReadonlySet<string>,
): LedgerFact[] {
  // An update finds a place even where its message is gone; an answer goes with its call.
  const written = (id: string, anchor: string) =>
    !present ||
    present.has(anchor) ||
    state.inserts.some(
      (insert) => SCHEMA_TOPICS.has(insert.topic) && insert.anchor === anchor && insert.about.includes(id),
    )
  const unseen = [...raised].filter((id) => {
    const shownAt = state.tail.get(id)?.shownAt ?? ''
    return shownAt === '' || (!written(id, shownAt) && !told.has(id))
  })
  const entries = speakable(unseen, context)
  if (entries.length === 0) return []
  const heading = context.settings.prompts.schemas({ bridge: BRIDGE_NAME })
  const text = [heading, ...entries.map((entry) => schemaLine(entry, context))].join('\n')
  return [
    announce(
      context,
      'schemas',
      text,
      entries.map(({ id }) => id),
    ),
  ]
}
