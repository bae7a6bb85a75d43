/** Announces what joined, left, returned or changed since the last request: one fact and one text each. */

import { toolId } from '../base/names.js'
import { safeJson, stripInvisible, truncateText } from '../base/text.js'
import type { Entry } from '../catalogue/catalogue.js'
import type { LedgerFact } from '../ledger/event.js'
import type { LedgerState } from '../ledger/fold.js'
import type { Tool } from '../tool/tool.js'
import type { WireTool } from '../tool/wire-tool.js'
import { ownWords, toRows } from './cards.js'
import type { Context } from './context.js'
import { deliveries, findPlace, placeWhenFreezing } from './deliveries.js'
import { BRIDGE_NAME } from './meta-tools.js'
import type { Prompts } from './prompts.js'

/** Tools named when a server joins late; the rest are counted. */
const NAMED_PER_ARRIVAL = 20

/** The part of the frozen prefix that announcements depend on. */
export type FrozenPrefix = Pick<
  Extract<LedgerFact, { kind: 'frozen' }>,
  'delivery' | 'changes' | 'removals' | 'loaded'
>

interface Lost {
  readonly id: string
  readonly entry: Entry | undefined
  readonly reason: 'vanished' | 'unavailable' | 'denied' | 'quarantined'
}

/** Announcements since the last request. The cost depends on what the model has been shown, not on the catalogue. */
export function reconcile(
  state: LedgerState,
  context: Context,
  frozen: FrozenPrefix,
  ids: Iterable<string>,
): LedgerFact[] {
  // A new prefix could not include it because its definition is unknown here, so it is unavailable for now.
  const isCarried = (id: string) => frozen === state.frozen || frozen.loaded.some((pin) => pin.id === id)
  const lost: Lost[] = []
  const back: Entry[] = []
  const changed: Entry[] = []
  const isChanged = (entry: Entry) => {
    const { eager, loaded, suspendedLoads } = state.tools
    const pin = eager.get(entry.id) ?? loaded.get(entry.id)?.pin ?? suspendedLoads.get(entry.id)?.pin
    // An unloaded tool is defined again when it is loaded again.
    const isHeld = eager.has(entry.id) || loaded.get(entry.id)?.live !== false
    if (!isHeld || pin === undefined || pin.fingerprint === entry.fingerprint) return false
    // Replicas may see two editions of a tool. A known edition is news only if this process saw the change.
    const isKnown = state.history.editions.get(entry.id)?.has(entry.fingerprint)
    return !isKnown || entry.replaced === pin.fingerprint
  }
  for (const id of ids) {
    const entry = context.catalogue.get(id)
    const suspended = state.tools.suspended.has(id)
    // An unreachable source is not announced: another process may reach it and would announce the opposite. A new
    // prefix, however, contains what is known here.
    if (context.gate.isSourceAway(id) && (entry || isCarried(id))) {
      if (entry && frozen !== state.frozen && !suspended && isChanged(entry)) changed.push(entry)
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
    ...removals(lost, state, context, frozen),
    ...returns(back, state, context, frozen),
    ...cameBack(state, context),
    ...changes(changed, state, context, frozen),
  ]
}

/** Tools that this conversation has loaded, and tools announced as removed. */
export function loadedIds(state: LedgerState): Set<string> {
  const ids = new Set(state.tools.suspended.keys())
  for (const [id, { live }] of state.tools.loaded) if (live) ids.add(id)
  for (const id of state.tools.suspendedLoads.keys()) ids.add(id)
  return ids
}

/** Ids of tools that are loaded or whose names the model has read since the prefix was frozen. */
export function listMentioned(state: LedgerState): Set<string> {
  return new Set([...state.history.announcedIds, ...state.tools.eager.keys(), ...loadedIds(state)])
}

function removals(
  lost: readonly Lost[],
  state: LedgerState,
  context: Context,
  frozen: FrozenPrefix,
): LedgerFact[] {
  if (lost.length === 0) return []
  const facts: LedgerFact[] = lost.map(({ id, reason }) => ({ kind: 'suspended', tool: id, reason }))
  // A tool that no request has named is not named now: a host loaded it, and it left before the model could see it.
  const known = lost.filter(({ id }) => {
    const loaded = state.tools.loaded.get(id) ?? state.tools.suspendedLoads.get(id)
    return (
      state.history.announcedIds.has(id) ||
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
      { sources, removes: frozen.removals ? namesOf(known, state) : [] },
    ),
  )
  return facts
}

/** Tools that a call found unavailable and that work again. Announced only once they really work. */
function cameBack(state: LedgerState, context: Context): LedgerFact[] {
  const back = [...state.calls.unavailable].flatMap((id) => {
    const entry = state.tools.suspended.has(id) ? undefined : context.catalogue.get(id)
    if (!entry || context.gate.availability(entry, 'see') !== 'ready') return []
    return context.catalogue.sources.get(entry.source)?.tentative ? [] : [entry]
  })
  if (back.length === 0) return []
  const text = context.settings.prompts.restored({ tools: back.map(({ wireName }) => wireName) })
  // A tool that the model called by guessing was never announced, and is not announced now.
  const about = back.map(({ id }) => id).filter((id) => isKnown(id, state))
  const facts = back.map(({ id }): LedgerFact => ({ kind: 'restored', tool: id }))
  return [...facts, announce(context, 'restored', text, about)]
}

/** Declared since the prefix was frozen, or announced. */
function isKnown(id: string, { tools, history }: LedgerState): boolean {
  return tools.eager.has(id) || tools.loaded.has(id) || history.announcedIds.has(id)
}

function returns(
  back: readonly Entry[],
  state: LedgerState,
  context: Context,
  frozen: FrozenPrefix,
): LedgerFact[] {
  if (back.length === 0) return []
  const facts: LedgerFact[] = back.map((entry) => {
    const isSuspendedLoad = state.tools.suspendedLoads.has(entry.id) && !state.tools.eager.has(entry.id)
    const pin = isSuspendedLoad
      ? { pin: context.pin(entry, findPlace(entry.id, state, frozen.delivery)) }
      : {}
    return { kind: 'restored', tool: entry.id, ...pin }
  })
  const sources: Record<string, string> = {}
  for (const { source } of back) {
    const known = context.catalogue.sources.get(source)
    if (known && state.history.sources.get(source) === '') sources[source] = known.membership
  }
  // An eager tool that a freeze skipped has no place to return to. The next freeze gives it one.
  const joining = back.filter(
    ({ id }) =>
      frozen === state.frozen &&
      !state.tools.eager.has(id) &&
      !state.tools.loaded.has(id) &&
      !state.tools.suspendedLoads.has(id),
  )
  const eager = joining.filter((entry) => isEager(entry, context, frozen))
  const others = back.filter((entry) => !eager.includes(entry))
  if (others.length > 0) {
    const text = context.settings.prompts.restored({ tools: others.map((entry) => entry.wireName) })
    const about = others.map(({ id }) => id)
    const adds = frozen.changes ? others.filter(({ id }) => isAside(id, state)) : []
    facts.push(announce(context, 'restored', text, about, { sources, adds }))
  }
  if (eager.length > 0) {
    const joined = join(eager, state, context, frozen)
    const about = eager.map(({ id }) => id)
    const also = { adds: joined.adds, ...(others.length > 0 ? {} : { sources }) }
    facts.push(...joined.facts, announce(context, 'arrival', joined.lines.join('\n'), about, also))
  }
  return facts
}

function isEager(entry: Entry, context: Context, frozen: FrozenPrefix): boolean {
  return frozen.delivery === 'eager' || !context.exposure(entry).deferred
}

/** Eager tools that join between two freezes go to the end of the array or (bridge) into the text. */
function join(entries: readonly Entry[], state: LedgerState, context: Context, frozen: FrozenPrefix) {
  const place = (entry: Entry) => findPlace(entry.id, state)
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
        bridge: deliveries[frozen.delivery].metaTools.includes('bridge') ? BRIDGE_NAME : undefined,
      }),
      ...(frozen.changes ? [] : unseen.map((entry) => schemaLine(entry, context))),
    ],
    adds: frozen.changes ? unseen : [],
  }
}

function rulesOf({ insteadOf = '', guidelines = [] }: Tool): string[] {
  return [insteadOf, ...guidelines].flatMap(cleanGuidance)
}

function isAside(id: string, state: LedgerState): boolean {
  const known = state.tools.loaded.get(id)
  return known?.live === true && known.pin.declaredHidden === true
}

/** Names of tools that the provider has inserted and can remove again. */
function namesOf(lost: readonly Lost[], state: LedgerState): string[] {
  return lost.flatMap(({ id }) =>
    isAside(id, state) ? (state.tools.loaded.get(id)?.pin.wireName ?? []) : [],
  )
}

/**
 * A trusted owner changed a tool that is in use. The tool stays, its old bytes stay until the next freeze, and the new
 * definition is shown afterwards: by the provider's own mechanism if it carries definitions, otherwise as text.
 */
function changes(
  changed: readonly Entry[],
  state: LedgerState,
  context: Context,
  frozen: FrozenPrefix,
): LedgerFact[] {
  if (changed.length === 0) return []
  const { prompts } = context.settings
  const isNew = frozen !== state.frozen
  const place = ({ id }: Entry) =>
    isNew ? placeWhenFreezing(frozen.delivery) : findPlace(id, state, frozen.delivery)
  const facts: LedgerFact[] = changed.map((entry) => ({
    kind: 'redefined',
    tool: context.pin(entry, 'text'),
  }))
  const isShown = ({ id }: Entry) => (state.tools.loaded.get(id)?.shownAt ?? '') !== ''
  // If tools come and go by name, the declared definition stays behind the name.
  const carries = frozen.changes === true && !frozen.removals
  const added = carries ? changed.filter((entry) => place(entry) === 'hidden' && isShown(entry)) : []
  const inWords = changed.filter((entry) => {
    if (place(entry) === 'text') return isShown(entry)
    // A new prefix declares the new definition.
    if (isNew) return false
    return place(entry) === 'array' || (!carries && (isShown(entry) || frozen.removals === true))
  })
  const text = [
    prompts.changed({
      tools: changed.map(({ id, wireName, tool }) => ({
        name: wireName,
        // Usage guidelines of a deferred tool stay hidden.
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

/** Sources that joined or grew. Their eager tools go to the end of the array or (bridge) into the text. */
export function arrivals(state: LedgerState, context: Context): LedgerFact[] {
  const facts: LedgerFact[] = []
  const frozen = state.frozen
  if (!frozen) return facts
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
      if (isEager(entry, context, frozen)) eager.push(entry)
      else fresh.push(entry)
    }
    const sources = { [source.name]: source.membership }
    const joined = eager.length > 0 ? join(eager, state, context, frozen) : undefined
    facts.push(...(joined?.facts ?? []))
    const lines = [...(joined?.lines ?? [])]
    // A known source whose list shrank, or that lost and regained a tool, has nothing new to announce. A group is one
    // line.
    // If the model knows a source in part, only tools that joined while this process watched are certainly new.
    const isNew = known === undefined || known === ''
    const certain = isNew || state.frozen?.shown.length !== 0 ? fresh : []
    const rows = toRows(certain, context.catalogue, context.describe)
    const named = rows.slice(0, NAMED_PER_ARRIVAL)
    if (rows.length === 0 && fresh.length > 0)
      lines.push(
        prompts.grown({ source: safeJson(source.name), count: source.ids.size, loader: searchTool.name }),
      )
    if (rows.length > 0)
      lines.push(
        prompts.arrived({
          source: source.name === '' ? '' : safeJson(source.name),
          count: certain.length,
          tools: named.map((row) => ({ name: row.label, line: row.line() })),
          more: rows.slice(NAMED_PER_ARRIVAL).reduce((sum, row) => sum + row.ids.length, 0),
          loader: searchTool.name,
          about: isNew ? ownWords(source) : '',
        }),
      )
    const about = [...eager.map(({ id }) => id), ...named.flatMap((row) => row.ids)]
    const { adds = [] } = joined ?? {}
    if (lines.length > 0) facts.push(announce(context, 'arrival', lines.join('\n'), about, { sources, adds }))
  }
  return facts
}

// Texts written into the history once and replayed at their anchor: their frame and their escaping.

/** Characters of one guideline that reach the model. */
const GUIDANCE_LIMIT = 2000

/** Returns the text inside the frame, or the text itself. */
export function removeFrame(text: string, prompts: Prompts): string {
  const [before = ''] = prompts.frame({ body: PLACE }).split(PLACE)
  return text.startsWith(before) ? text.slice(before.length) : text
}

/** True if the whole text is ours: one frame, or several. */
export function isFramed(text: string, prompts: Prompts): boolean {
  const [before = '', after = ''] = prompts.frame({ body: PLACE }).split(PLACE)
  return before !== '' && text.startsWith(before) && text.endsWith(after)
}

/** Placeholder body that shows what the frame puts around a text. */
const PLACE = '\u0000'

/** A whole definition on one line, exactly as the wire carries it. */
export function definitionLine(entry: Entry, context: Context): string {
  return `- ${safeJson(context.definition(entry))}`
}

/** The same with the load token, which a call through the bridge can return. */
export function schemaLine(entry: Entry, context: Context): string {
  return `- ${safeJson({ ...context.definition(entry), load: context.loadToken(entry) })}`
}

export function announce(
  context: Context,
  topic: Extract<LedgerFact, { kind: 'announced' }>['topic'],
  body: string,
  about: readonly string[],
  also: {
    readonly sources?: Readonly<Record<string, string>>
    /** Tools that the provider itself inserts at this position. */
    readonly adds?: readonly Entry[]
    readonly removes?: readonly string[]
  } = {},
): LedgerFact {
  const { sources = {}, adds = [], removes = [] } = also
  const text = body === '' ? '' : context.settings.prompts.frame({ body })
  const definitions = adds.map((entry) => context.definition(entry))
  const added = definitions.reduce((sum, definition) => sum + context.tokens(definition), 0)
  return {
    kind: 'announced',
    topic,
    text,
    about,
    tokens: text === '' ? 0 : context.settings.tokenizer.count(text),
    ...(adds.length > 0 ? { adds: adds.map((entry) => sourced(entry, context)), revealed: added } : {}),
    ...(removes.length > 0 ? { removes } : {}),
    ...(Object.keys(sources).length > 0 ? { sources } : {}),
  }
}

function sourced(entry: Entry, context: Context): WireTool {
  const definition = context.definition(entry)
  return entry.source === '' ? definition : { ...definition, source: entry.source }
}

/** Lines that a tool's owner wrote for the model: without tags and invisible characters, and limited in length. */
export function cleanGuidance(text: string): string[] {
  const lines = stripInvisible(text.slice(0, GUIDANCE_LIMIT * 2))
    .replace(/[<>]/g, '')
    .split(/[\r\n]+/)
  const kept: string[] = []
  let left = GUIDANCE_LIMIT
  for (const line of lines.map((each) => each.trim()).filter((each) => each !== '')) {
    if (left <= 0) break
    kept.push(line.length > left ? `${truncateText(line, left)}…` : line)
    left -= line.length
  }
  return kept
}

/** Entries of the ids that may be named now. */
export function listVisibleEntries(ids: Iterable<string>, context: Context): Entry[] {
  return [...ids].flatMap((id) => {
    const entry = context.catalogue.get(id)
    return entry && context.gate.visible(entry) ? [entry] : []
  })
}
