/** What came, went, returned or changed since the last request, as facts and as one piece of text each. */

import { toolId } from '../base/names.js'
import { safeJson } from '../base/text.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import type { Tool } from '../tool/tool.js'
import { announce, definitionLine, guidance, schemaLine } from './announce.js'
import { ownWords, toRows } from './cards.js'
import type { Context } from './context.js'
import { deliveries } from './deliveries.js'
import { BRIDGE_NAME } from './meta-tools.js'
import { placeAtLatch, placeOf } from './placement.js'

/** Names told of one late server; the rest are counted. */
const TOLD_PER_ARRIVAL = 20

/** What the deltas have to know of the latch they are told under. */
export type Latch = Pick<
  Extract<LedgerFact, { kind: 'latched' }>,
  'delivery' | 'changes' | 'removals' | 'loaded'
>

interface Lost {
  readonly id: string
  readonly entry: Entry | undefined
  readonly reason: 'vanished' | 'unavailable' | 'denied' | 'quarantined'
}

/** Deltas since the last request. Costs what the model has been shown: not the catalogue. */
export function reconcile(
  state: LedgerState,
  context: Context,
  latch: Latch,
  ids: Iterable<string>,
): LedgerFact[] {
  // What a new latch could not write down, because its definition is not known here, is gone for now.
  const isCarried = (id: string) => latch === state.latch || latch.loaded.some((pin) => pin.id === id)
  const lost: Lost[] = []
  const back: Entry[] = []
  const changed: Entry[] = []
  const isChanged = (entry: Entry) => {
    const { eager, loaded, suspendedLoads } = state.tools
    const pin = eager.get(entry.id) ?? loaded.get(entry.id)?.pin ?? suspendedLoads.get(entry.id)?.pin
    // What is unloaded is read anew when it is loaded again.
    const isHeld = eager.has(entry.id) || loaded.get(entry.id)?.live !== false
    return isHeld && pin !== undefined && pin.fingerprint !== entry.fingerprint
  }
  for (const id of ids) {
    const entry = context.catalogue.get(id)
    const suspended = state.tools.suspended.has(id)
    // A source that is out of reach here is no news: another process may have it, and would say the opposite. But a new
    // latch writes down what is known here.
    if (context.gate.away(id) && (entry || isCarried(id))) {
      if (entry && latch !== state.latch && !suspended && isChanged(entry)) changed.push(entry)
      continue
    }
    const availability = context.gate.availability(entry, 'see')
    if (availability !== 'ready') {
      const reason =
        availability === 'vanished' || availability === 'denied' || availability === 'quarantined'
          ? availability
          : 'unavailable'
      if (!suspended) lost.push({ id, entry, reason })
      continue
    }
    if (!entry) continue
    if (suspended) back.push(entry)
    if (isChanged(entry)) changed.push(entry)
  }
  return [
    ...removals(lost, state, context, latch),
    ...returns(back, state, context, latch),
    ...cameBack(state, context),
    ...changes(changed, state, context, latch),
  ]
}

/** What this conversation has loaded, and what it was told is gone. */
export function loadedIds(state: LedgerState): Set<string> {
  const ids = new Set(state.tools.suspended.keys())
  for (const [id, { live }] of state.tools.loaded) if (live) ids.add(id)
  for (const id of state.tools.suspendedLoads.keys()) ids.add(id)
  return ids
}

/** Every id the model has read the name of in this latch, or holds. */
export function mentioned(state: LedgerState): Set<string> {
  return new Set([...state.history.told, ...state.tools.eager.keys(), ...loadedIds(state)])
}

function removals(lost: readonly Lost[], state: LedgerState, context: Context, latch: Latch): LedgerFact[] {
  if (lost.length === 0) return []
  const facts: LedgerFact[] = lost.map(({ id, reason }) => ({ kind: 'suspended', tool: id, reason }))
  // What no request has named is not named now: loaded by a host, and gone before the model could know.
  const known = lost.filter(({ id }) => {
    const loaded = state.tools.loaded.get(id) ?? state.tools.suspendedLoads.get(id)
    return (
      state.history.told.has(id) ||
      state.tools.eager.has(id) ||
      (loaded !== undefined && loaded.turn < state.requests.byId.size)
    )
  })
  if (known.length === 0) return facts
  const goneSources = new Set(
    [...state.history.sources.keys()].filter(
      (name) => name !== '' && (context.catalogue.sources.get(name)?.state ?? 'disabled') === 'disabled',
    ),
  )
  const sourceOf = ({ id, entry }: Lost) =>
    entry?.source ?? [...goneSources].find((name) => id.startsWith(toolId(name, '')))
  const whole = new Set(
    known.map(sourceOf).filter((name): name is string => name !== undefined && goneSources.has(name)),
  )
  const single = known.filter((item) => !whole.has(sourceOf(item) ?? ''))
  const tools = single.map(
    ({ id, entry }) =>
      entry?.wireName ??
      (
        state.tools.eager.get(id) ??
        state.tools.loaded.get(id)?.pin ??
        state.tools.suspendedLoads.get(id)?.pin
      )?.wireName ??
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
      known.map(({ id }) => id),
      { sources, removes: latch.removals ? namesOf(known, state) : [] },
    ),
  )
  return facts
}

/** What a call was told cannot be used now, and works again. Never on the mere hope that it does. */
function cameBack(state: LedgerState, context: Context): LedgerFact[] {
  const back = [...state.calls.unavailable].flatMap((id) => {
    const entry = state.tools.suspended.has(id) ? undefined : context.catalogue.get(id)
    if (!entry || context.gate.availability(entry, 'see') !== 'ready') return []
    return context.catalogue.sources.get(entry.source)?.tentative ? [] : [entry]
  })
  if (back.length === 0) return []
  const text = context.settings.prompts.restored({ tools: back.map(({ wireName }) => wireName) })
  // What the model called by a guess was not told of before, and is not by this.
  const about = back.map(({ id }) => id).filter((id) => isKnown(id, state))
  const facts = back.map(({ id }): LedgerFact => ({ kind: 'restored', tool: id }))
  return [...facts, announce(context, 'restored', text, about)]
}

/** Declared in this latch, or told of. */
function isKnown(id: string, { tools, history }: LedgerState): boolean {
  return tools.eager.has(id) || tools.loaded.has(id) || history.told.has(id)
}

function returns(back: readonly Entry[], state: LedgerState, context: Context, latch: Latch): LedgerFact[] {
  if (back.length === 0) return []
  const facts: LedgerFact[] = back.map((entry) => {
    const isSuspendedLoad = state.tools.suspendedLoads.has(entry.id) && !state.tools.eager.has(entry.id)
    const pin = isSuspendedLoad ? { pin: context.pin(entry, placeOf(entry.id, state, latch.delivery)) } : {}
    return { kind: 'restored', tool: entry.id, ...pin }
  })
  const sources: Record<string, string> = {}
  for (const { source } of back) {
    const known = context.catalogue.sources.get(source)
    if (known && state.history.sources.get(source) === '') sources[source] = known.membership
  }
  // An eager tool that a latch has passed over: it has no place to return to, and needs one. A new latch gives it one.
  const joining = back.filter(
    ({ id }) =>
      latch === state.latch &&
      !state.tools.eager.has(id) &&
      !state.tools.loaded.has(id) &&
      !state.tools.suspendedLoads.has(id),
  )
  const eager = joining.filter((entry) => isEager(entry, context, latch))
  const others = back.filter((entry) => !eager.includes(entry))
  if (others.length > 0) {
    const text = context.settings.prompts.restored({ tools: others.map((entry) => entry.wireName) })
    const about = others.map(({ id }) => id)
    const adds = latch.changes ? others.filter(({ id }) => isAside(id, state)) : []
    facts.push(announce(context, 'restored', text, about, { sources, adds }))
  }
  if (eager.length > 0) {
    const joined = join(eager, state, context, latch)
    const about = eager.map(({ id }) => id)
    const also = { adds: joined.adds, ...(others.length > 0 ? {} : { sources }) }
    facts.push(...joined.facts, announce(context, 'arrival', joined.lines.join('\n'), about, also))
  }
  return facts
}

function isEager(entry: Entry, context: Context, latch: Latch): boolean {
  return latch.delivery === 'eager' || !context.exposure(entry).deferred
}

/** Eager tools that come between two latches: at the end of the array, or (bridge) in the text. */
function join(entries: readonly Entry[], state: LedgerState, context: Context, latch: Latch) {
  const place = (entry: Entry) => placeOf(entry.id, state)
  const unseen = entries.filter((entry) => place(entry) !== 'array')
  return {
    facts: entries.map(
      (entry): LedgerFact => ({
        kind: 'loaded',
        tool: context.pin(entry, place(entry)),
        source: 'arrival',
        asked: entry.id,
        shown: place(entry) !== 'array',
      }),
    ),
    lines: [
      context.settings.prompts.eagerArrived({
        tools: entries.map(({ wireName, tool }) => ({ name: wireName, guidelines: rulesOf(tool) })),
        bridge: deliveries[latch.delivery].metaTools.includes('bridge') ? BRIDGE_NAME : undefined,
      }),
      ...(latch.changes ? [] : unseen.map((entry) => schemaLine(entry, context))),
    ],
    adds: latch.changes ? unseen : [],
  }
}

function rulesOf({ insteadOf = '', guidelines = [] }: Tool): string[] {
  return [insteadOf, ...guidelines].flatMap(guidance)
}

function isAside(id: string, state: LedgerState): boolean {
  const known = state.tools.loaded.get(id)
  return known?.live === true && known.pin.declaredHidden === true
}

/** Names of tools that the provider has put before the model, and can take away again. */
function namesOf(lost: readonly Lost[], state: LedgerState): string[] {
  return lost.flatMap(({ id }) =>
    isAside(id, state) ? (state.tools.loaded.get(id)?.pin.wireName ?? []) : [],
  )
}

/**
 * A trusted owner changed a tool in use: it stays, what was sent of it stays as it was sent until the next latch, and the
 * new definition is shown behind: by the provider's own means where those carry definitions, and in words elsewhere.
 */
function changes(
  changed: readonly Entry[],
  state: LedgerState,
  context: Context,
  latch: Latch,
): LedgerFact[] {
  if (changed.length === 0) return []
  const { prompts } = context.settings
  const isNew = latch !== state.latch
  const place = ({ id }: Entry) => (isNew ? placeAtLatch(latch.delivery) : placeOf(id, state, latch.delivery))
  const facts: LedgerFact[] = changed.map((entry) => ({
    kind: 'redefined',
    tool: context.pin(entry, 'text'),
  }))
  const isShown = ({ id }: Entry) => (state.tools.loaded.get(id)?.shownAt ?? '') !== ''
  // Where tools come and go by name, what was declared stands behind the name.
  const carries = latch.changes === true && !latch.removals
  const added = carries ? changed.filter((entry) => place(entry) === 'hidden' && isShown(entry)) : []
  const inWords = changed.filter((entry) => {
    if (place(entry) === 'text') return isShown(entry)
    // A new latch declares it anew.
    if (isNew) return false
    return place(entry) === 'array' || (!carries && (isShown(entry) || latch.removals === true))
  })
  const text = [
    prompts.changed({
      tools: changed.map(({ id, wireName, tool }) => ({
        name: wireName,
        // Rules of use of what is still hidden stay hidden.
        guidelines: state.tools.loaded.get(id)?.live ? rulesOf(tool) : [],
      })),
    }),
    ...inWords.map((entry) =>
      place(entry) === 'text' ? schemaLine(entry, context) : definitionLine(entry, context),
    ),
  ]
  facts.push(
    announce(
      context,
      'changed',
      text.join('\n'),
      changed.map(({ id }) => id),
      { adds: added },
    ),
  )
  return facts
}

/** Sources that joined or grew. Their eager tools go to the end of the array, or (bridge) into the text. */
export function arrivals(state: LedgerState, context: Context): LedgerFact[] {
  const facts: LedgerFact[] = []
  const latch = state.latch
  if (!latch) return facts
  const { prompts, searchTool } = context.settings
  for (const source of context.catalogue.sources.values()) {
    const known = state.history.sources.get(source.name)
    if (known === source.membership || source.state !== 'ready') continue
    const fresh: Entry[] = []
    const eager: Entry[] = []
    for (const id of [...source.ids].sort()) {
      const entry = context.catalogue.get(id)
      if (!entry || isKnown(id, state) || state.tools.suspended.has(id)) continue
      if (context.gate.availability(entry, 'see') !== 'ready') continue
      if (isEager(entry, context, latch)) eager.push(entry)
      else fresh.push(entry)
    }
    const sources = { [source.name]: source.membership }
    const joined = eager.length > 0 ? join(eager, state, context, latch) : undefined
    facts.push(...(joined?.facts ?? []))
    const lines = [...(joined?.lines ?? [])]
    // A known source whose list shrank, or lost and regained a tool, has nothing new to tell. A group is one line.
    // Of a source the model knows in part, only what joined while this process watched is certainly new.
    const isNew = known === undefined || known === ''
    const certain = isNew || state.latch?.shown.length !== 0 ? fresh : []
    const rows = toRows(certain, context.catalogue, context.describe)
    const told = rows.slice(0, TOLD_PER_ARRIVAL)
    if (rows.length === 0 && fresh.length > 0)
      lines.push(
        prompts.grown({ source: safeJson(source.name), count: source.ids.size, loader: searchTool.name }),
      )
    if (rows.length > 0)
      lines.push(
        prompts.arrived({
          source: source.name === '' ? '' : safeJson(source.name),
          count: certain.length,
          tools: told.map((row) => ({ name: row.label, line: row.line() })),
          more: rows.slice(TOLD_PER_ARRIVAL).reduce((sum, row) => sum + row.ids.length, 0),
          loader: searchTool.name,
          about: isNew ? ownWords(source) : '',
        }),
      )
    const about = [...eager.map(({ id }) => id), ...told.flatMap((row) => row.ids)]
    const { adds = [] } = joined ?? {}
    if (lines.length > 0) facts.push(announce(context, 'arrival', lines.join('\n'), about, { sources, adds }))
  }
  return facts
}
