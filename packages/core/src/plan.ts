/**
 * What has to be written down before a request: the latch, what came, went or changed since the last one, reminders
 * that are due, schemas that a compaction dropped. Pure: it reads state, catalogue, policy and settings, and gives facts.
 */

import { cardLine } from './cards.js'
import type { Entry } from './catalogue.js'
import type { Context } from './context.js'
import { deliveries } from './delivery/index.js'
import type { LedgerState } from './ledger.js'
import type { DeliveryName, LedgerFact, Pin } from './ledger-event.js'
import { BRIDGE_NAME, metaEntry } from './meta-tools.js'
import { toolId } from './names.js'
import { openFact } from './opening.js'
import { safeJson, stripInvisible } from './text.js'

/** Names told of one late server; the rest are counted. */
const TOLD_PER_ARRIVAL = 20

export function plan(state: LedgerState, context: Context): LedgerFact[] {
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
      ...deliver(state, context, latch.delivery, opened.tail, opened.eager),
    ]
  const tail = [...state.tail.values()].filter((each) => each.live).map((each) => each.pin)
  // What `restored` brings back on this request has to be seen on it.
  for (const [id, { pin }] of state.parked) if (!state.eager.has(id)) tail.push(pin)
  return [
    ...facts,
    ...arrivals(state, context),
    ...deliver(state, context, latch.delivery, tail, [...state.eager.values()]),
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
): LedgerFact[] {
  const raised = new Set(tail.map((pin) => pin.id))
  const loaded = new Set([...raised, ...eager.map((pin) => pin.id)])
  return [
    ...tellUnloaded(state, context, loaded),
    ...remind(state, context, delivery, raised),
    ...(deliveries[delivery].declares ? [] : showAgain(state, context, raised)),
  ]
}

function latchReason(state: LedgerState, context: Context) {
  if (state.relatch) return state.relatch
  if (!state.latch) return 'start'
  if (state.latch.wire !== context.wire) return 'wire'
  if (state.latch.mode === 'off') return undefined
  const names = { loader: context.settings.face.name, bridge: BRIDGE_NAME }
  const denied = deliveries[state.latch.delivery].metaTools.some(
    (meta) => context.gate.standing(metaEntry(names[meta]), 'see') === 'denied',
  )
  return denied ? 'loader' : undefined
}

/** Deltas since the last request. Costs what the model has been shown: not the catalogue. */
function reconcile(
  state: LedgerState,
  context: Context,
  delivery: DeliveryName,
  ids: Iterable<string>,
): LedgerFact[] {
  const lost: {
    id: string
    entry: Entry | undefined
    reason: 'vanished' | 'unavailable' | 'denied' | 'quarantined'
  }[] = []
  const back: Entry[] = []
  const changed: Entry[] = []
  for (const id of ids) {
    const entry = context.catalogue.get(id)
    const standing = context.gate.standing(entry, 'see')
    const suspended = state.suspended.has(id)
    if (standing !== 'ready') {
      const reason =
        standing === 'vanished' || standing === 'denied' || standing === 'quarantined'
          ? standing
          : 'unavailable'
      if (!suspended) lost.push({ id, entry, reason })
      continue
    }
    if (!entry) continue
    if (suspended) back.push(entry)
    const pin = state.eager.get(id) ?? state.tail.get(id)?.pin ?? state.parked.get(id)?.pin
    if (pin && pin.fingerprint !== entry.fingerprint) changed.push(entry)
  }
  return [
    ...removals(lost, state, context),
    ...returns(back, state, context, delivery),
    ...changes(changed, state, context, delivery),
  ]
}

/** What this conversation has raised, and what it was told is gone. */
function held(state: LedgerState): Set<string> {
  const ids = new Set(state.suspended.keys())
  for (const [id, { live }] of state.tail) if (live) ids.add(id)
  for (const id of state.parked.keys()) ids.add(id)
  return ids
}

/** Every id the model has read the name of in this latch, or holds. */
function mentioned(state: LedgerState): Set<string> {
  return new Set([...state.told, ...state.eager.keys(), ...held(state)])
}

function removals(
  lost: readonly {
    id: string
    entry: Entry | undefined
    reason: 'vanished' | 'unavailable' | 'denied' | 'quarantined'
  }[],
  state: LedgerState,
  context: Context,
): LedgerFact[] {
  if (lost.length === 0) return []
  const facts: LedgerFact[] = lost.map(({ id, reason }) => ({ kind: 'suspended', tool: id, reason }))
  const goneSources = new Set(
    [...state.sources.keys()].filter(
      (name) => name !== '' && context.catalogue.sources.get(name)?.state !== 'ready',
    ),
  )
  const sourceOf = ({ id, entry }: (typeof lost)[number]) =>
    entry?.source ?? [...goneSources].find((name) => id.startsWith(toolId(name, '')))
  const whole = new Set(
    lost.map(sourceOf).filter((name): name is string => name !== undefined && goneSources.has(name)),
  )
  const single = lost.filter((item) => !whole.has(sourceOf(item) ?? ''))
  const tools = single.map(
    ({ id, entry }) =>
      entry?.wireName ??
      (state.eager.get(id) ?? state.tail.get(id)?.pin ?? state.parked.get(id)?.pin)?.wireName ??
      safeJson(id),
  )
  const text = context.settings.prompts.removed({
    tools,
    sources: [...whole].sort().map((name) => safeJson(name)),
  })
  const sources = Object.fromEntries([...whole].map((name) => [name, '']))
  facts.push(
    announce(
      context,
      'removed',
      text,
      lost.map(({ id }) => id),
      sources,
    ),
  )
  return facts
}

function returns(
  back: readonly Entry[],
  state: LedgerState,
  context: Context,
  delivery: DeliveryName,
): LedgerFact[] {
  if (back.length === 0) return []
  const { declares } = deliveries[delivery]
  const facts: LedgerFact[] = back.map((entry) => {
    const parked = state.parked.has(entry.id) && !state.eager.has(entry.id)
    return { kind: 'restored', tool: entry.id, ...(parked ? { pin: context.pin(entry, declares) } : {}) }
  })
  const text = context.settings.prompts.restored({ tools: back.map((entry) => entry.wireName) })
  const sources: Record<string, string> = {}
  for (const { source } of back) {
    const known = context.catalogue.sources.get(source)
    if (known && state.sources.get(source) === '') sources[source] = known.membership
  }
  facts.push(
    announce(
      context,
      'restored',
      text,
      back.map(({ id }) => id),
      sources,
    ),
  )
  return facts
}

/** A trusted owner changed a tool in use: it stays, and the new definition goes the way the old one went. */
function changes(
  changed: readonly Entry[],
  state: LedgerState,
  context: Context,
  delivery: DeliveryName,
): LedgerFact[] {
  if (changed.length === 0) return []
  const { prompts } = context.settings
  const { declares } = deliveries[delivery]
  const facts: LedgerFact[] = changed.map((entry) => ({
    kind: 'redefined',
    tool: context.pin(entry, declares || state.eager.has(entry.id)),
  }))
  const inHistory = changed.filter((entry) => state.tail.get(entry.id)?.shownAt)
  const text = [
    prompts.changed({ tools: changed.map((entry) => entry.wireName) }),
    ...inHistory.map((entry) => schemaLine(entry, context)),
  ]
  facts.push(
    announce(
      context,
      'changed',
      text.join('\n'),
      changed.map(({ id }) => id),
    ),
  )
  return facts
}

/** Sources that joined or grew. Their eager tools go to the end of the array, or (bridge) into the text. */
function arrivals(state: LedgerState, context: Context): LedgerFact[] {
  const facts: LedgerFact[] = []
  const latch = state.latch
  if (!latch) return facts
  const delivery = deliveries[latch.delivery]
  const { prompts, face } = context.settings
  for (const source of context.catalogue.sources.values()) {
    const known = state.sources.get(source.name)
    if (known === source.membership || source.state !== 'ready') continue
    const fresh: Entry[] = []
    const eager: Entry[] = []
    for (const id of [...source.ids].sort()) {
      const entry = context.catalogue.get(id)
      if (
        !entry ||
        state.eager.has(id) ||
        state.tail.has(id) ||
        state.told.has(id) ||
        state.suspended.has(id)
      )
        continue
      if (context.gate.standing(entry, 'see') !== 'ready') continue
      if (delivery.name === 'eager' || !context.exposure(entry).deferred) eager.push(entry)
      else fresh.push(entry)
    }
    const sources = { [source.name]: source.membership }
    for (const entry of eager)
      facts.push({
        kind: 'activated',
        tool: context.pin(entry, delivery.declares),
        source: 'arrival',
        asked: entry.id,
        shown: !delivery.declares,
      })
    const lines: string[] = []
    if (eager.length > 0)
      lines.push(
        prompts.eagerArrived({
          tools: eager.map((entry) => entry.wireName),
          bridge: delivery.declares ? undefined : BRIDGE_NAME,
        }),
        ...(delivery.declares ? [] : eager.map((entry) => schemaLine(entry, context))),
      )
    // A known source whose list shrank, or lost and regained a tool, has nothing new to tell.
    if (fresh.length > 0)
      lines.push(
        prompts.arrived({
          source: source.name === '' ? '' : safeJson(source.name),
          count: fresh.length,
          tools: fresh
            .slice(0, TOLD_PER_ARRIVAL)
            .map((entry) => ({ name: entry.wireName, line: cardLine(entry) })),
          more: Math.max(0, fresh.length - TOLD_PER_ARRIVAL),
          loader: face.name,
        }),
      )
    if (lines.length > 0)
      facts.push(
        announce(
          context,
          'arrival',
          lines.join('\n'),
          [...eager, ...fresh.slice(0, TOLD_PER_ARRIVAL)].map(({ id }) => id),
          sources,
        ),
      )
  }
  return facts
}

/** What a direct call or the host put back: no answer has said so. */
function tellUnloaded(state: LedgerState, context: Context, loaded: ReadonlySet<string>): LedgerFact[] {
  const entries = usable(
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

/** One reminder for everything raised since the last request, asked again of the gate: what is gone by now is not named. */
function remind(
  state: LedgerState,
  context: Context,
  delivery: DeliveryName,
  live: ReadonlySet<string>,
): LedgerFact[] {
  const entries = usable(
    [...state.toRemind].filter((id) => live.has(id)),
    context,
  )
  if (entries.length === 0) return []
  const plain = (text: string) => stripInvisible(text).replace(/[<>]/g, '')
  const text = context.settings.prompts.activated({
    bridge: deliveries[delivery].declares ? undefined : BRIDGE_NAME,
    tools: entries.map((entry) => ({
      name: entry.wireName,
      insteadOf: plain(entry.tool.insteadOf ?? ''),
      guidelines: (entry.tool.guidelines ?? []).map(plain),
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

/** Schemas of active tools that stand nowhere: neither in the tools array nor, any more, in the history. */
function showAgain(state: LedgerState, context: Context, raised: ReadonlySet<string>): LedgerFact[] {
  const unseen = [...raised].filter((id) => (state.tail.get(id)?.shownAt ?? '') === '')
  const entries = usable(unseen, context)
  if (entries.length === 0) return []
  const text = [
    context.settings.prompts.schemas({ bridge: BRIDGE_NAME }),
    ...entries.map((entry) => schemaLine(entry, context)),
  ]
  return [
    announce(
      context,
      'schemas',
      text.join('\n'),
      entries.map(({ id }) => id),
    ),
  ]
}

function usable(ids: readonly string[], context: Context): Entry[] {
  return ids.flatMap((id) => {
    const entry = context.catalogue.get(id)
    return entry && context.gate.standing(entry, 'see') === 'ready' ? [entry] : []
  })
}

/** A whole definition on one line, exactly as the wire would carry it. */
export function schemaLine(entry: Entry, context: Context): string {
  return `- ${safeJson({ ...context.definition(entry), load: context.loadToken(entry) })}`
}

function announce(
  context: Context,
  topic: Extract<LedgerFact, { kind: 'announced' }>['topic'],
  body: string,
  about: readonly string[],
  sources: Readonly<Record<string, string>> = {},
): LedgerFact {
  const text = `<tool-update>\n${body}\n</tool-update>`
  return {
    kind: 'announced',
    topic,
    text,
    about,
    tokens: context.settings.tokenizer.count(text),
    ...(Object.keys(sources).length > 0 ? { sources } : {}),
  }
}
