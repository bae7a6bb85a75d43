/** The steps that a host starts itself: load, unload, compact, import, inherit. They return facts and write nothing. */

import type { Entry } from '../catalogue/catalogue.js'
import { isAway } from '../catalogue/gate.js'
import type { LedgerEvent, LedgerFact } from '../ledger/event.js'
import { isLoaded, isOnSurface, type LedgerState } from '../ledger/fold.js'
import type { Anchored } from '../ledger/log.js'
import type { Context } from '../surface/context.js'
import { findPlace } from '../surface/deliveries.js'
import {
  createBatch,
  listCounted,
  listGroupMembers,
  listLoadedUnit,
  load,
  sumTokens,
  unload,
} from './load.js'

/** The tools that one search answer in a provider's history loaded and unloaded. */
export interface ImportedStep {
  readonly anchor: string
  readonly loaded: readonly { readonly id: string; readonly fingerprint: string }[]
  readonly unloaded: readonly string[]
  /** Names of loaded tools, if the provider's references contain only names. */
  readonly named?: readonly string[]
}

export interface ImportReport {
  readonly recovered: readonly string[]
  readonly unrecovered: readonly { readonly tool: string; readonly reason: string }[]
}

/** The result of `load`. Known tools have their wire names. */
export interface LoadReport {
  readonly loaded: readonly string[]
  /** Tools that were eager or loaded before. */
  readonly already: readonly string[]
  readonly refused: readonly { readonly name: string; readonly reason: string }[]
}

export interface UnloadReport {
  readonly unloaded: readonly string[]
  /** Names that match no loaded tool. */
  readonly unknown: readonly string[]
}

interface Step<Report> {
  readonly facts: readonly Anchored[]
  readonly report: Report
}

export function loadByName(
  state: LedgerState,
  context: Context,
  names: readonly string[],
  source: 'operator' | 'pin',
  anchor: string,
): Step<LoadReport> {
  const batch = createBatch()
  const facts: LedgerFact[] = []
  const loaded: string[] = []
  const already: string[] = []
  const refused: { name: string; reason: string }[] = []
  const wireName = (id: string) => context.catalogue.get(id)?.wireName ?? id
  // The host may know every tool, so a denied tool is reported as denied, not as unknown.
  const resolved = names.map((name) => ({ name, resolution: context.catalogue.resolve(name, () => true) }))
  // No tool of the list is evicted to make room for another one.
  for (const { resolution } of resolved) {
    const single = resolution.kind === 'found' ? [resolution.entry] : []
    const entries = resolution.kind === 'group' ? resolution.entries : single
    for (const { id } of entries) if (isOnSurface(state, id)) batch.inUse.add(id)
  }
  for (const { name, resolution } of resolved) {
    const entries =
      resolution.kind === 'found'
        ? [
            resolution.entry,
            ...listGroupMembers(context, resolution.entry).filter(({ id }) => id !== resolution.entry.id),
          ]
        : resolution.kind === 'group'
          ? resolution.entries
          : []
    const availability = entries
      .map((entry) => context.gate.availability(entry, 'load'))
      .find((each) => each !== 'ready')
    if (entries.length === 0 || availability) {
      const reason = availability ?? (resolution.kind === 'ambiguous' ? 'ambiguous' : 'unknown')
      refused.push({ name: entries[0]?.wireName ?? name, reason })
      continue
    }
    // Eager tools are sent anyway, even if no request was made yet.
    const deferred = entries.filter((entry) => context.exposure(entry).deferred)
    const isSent = (entry: Entry) => !deferred.includes(entry) || isOnSurface(state, entry.id)
    already.push(...entries.filter(isSent).map((entry) => entry.wireName))
    const made = load(
      state,
      context,
      batch,
      deferred.map((entry) => ({ entry, source, asked: name, shown: false })),
    )
    facts.push(...made.facts)
    loaded.push(...made.loaded.map(wireName))
    refused.push(...made.dropped.map(({ tool, reason }) => ({ name: wireName(tool), reason })))
  }
  return { facts: facts.map((fact) => [anchor, fact]), report: { loaded, already, refused } }
}

export function unloadByName(
  state: LedgerState,
  context: Context,
  names: readonly string[],
  anchor: string,
): Step<UnloadReport> {
  const ids = new Set<string>()
  const unknown: string[] = []
  for (const name of names) {
    const resolution = context.catalogue.resolve(name, (entry) => isLoaded(state, entry.id))
    if (resolution.kind === 'found') {
      const { id } = resolution.entry
      for (const each of [id, ...listLoadedUnit(state, context, id)]) ids.add(each)
    } else if (resolution.kind === 'group') for (const entry of resolution.entries) ids.add(entry.id)
    else unknown.push(name)
  }
  return {
    facts: unload(state, context, [...ids], 'operator', true).map((fact) => [anchor, fact]),
    report: { unloaded: [...ids].map((id) => context.catalogue.get(id)?.wireName ?? id), unknown },
  }
}

export interface Compaction {
  /** Each anchor that stays in the history, and its new name. */
  readonly kept: Readonly<Record<string, string>>
  /** The message that replaces the removed ones. Default: the last anchor. */
  readonly anchor?: string
  /** Receives the names of loaded tools and returns those to keep. */
  readonly trim?: (loaded: readonly string[]) => readonly string[]
}

/**
 * Creates the facts of a compaction. It keeps the new names of all anchors in `events`, because a later fork may ask
 * for them.
 */
export function createCompactionFacts(
  state: LedgerState,
  context: Context,
  { kept, anchor, trim }: Compaction,
  lastAnchor: string,
  events: readonly LedgerEvent[],
): Anchored[] {
  // Suspended tools may come back, so the hook decides about them, too.
  const live = [...state.tools.loaded, ...state.tools.suspendedLoads].filter(([, each]) => each.live)
  const keep = trim ? new Set(trim(live.map(([, each]) => each.pin.wireName))) : undefined
  // A group is unloaded completely.
  const gone = new Set(
    live
      .filter(([, each]) => keep && !keep.has(each.pin.wireName))
      .flatMap(([id]) => listLoadedUnit(state, context, id)),
  )
  const trimmed = [...gone].map(
    (tool): Anchored => [anchor ?? lastAnchor, { kind: 'unloaded', tool, reason: 'trimmed' }],
  )
  const known = listAnchors(state)
  for (const event of events) known.add(event.anchor)
  const relevant = Object.fromEntries(Object.entries(kept).filter(([each]) => known.has(each)))
  return [...trimmed, [anchor ?? lastAnchor, { kind: 'compacted', kept: relevant }]]
}

/**
 * Creates the first events of a child's ledger: its parent, the kept results it may read and, if `state` is given, the
 * parent's loaded tools that the child may load.
 */
export function createInheritedEvents(
  parent: string,
  state: LedgerState | undefined,
  child: Context,
  results: LedgerState['results'],
): LedgerEvent[] {
  // A source that was away at the parent's last freeze may be back now.
  const all = state ? [...state.tools.loaded.values(), ...state.tools.suspendedLoads.values()] : []
  const live = all.filter((each) => each.live)
  const facts = live.flatMap(({ pin, asked }): LedgerFact[] => {
    const entry = child.catalogue.get(pin.id)
    const availability = child.gate.availability(entry, 'load')
    if (!entry || (availability !== 'ready' && !isAway(availability)) || !child.exposure(entry).deferred)
      return []
    return [{ kind: 'loaded', tool: child.pin(entry, 'array'), source: 'inherit', asked, shown: false }]
  })
  const kept = [...results].map(([handle, ledger]) => ({ handle, ledger }))
  const first: LedgerFact = { kind: 'inherited', parent, ...(kept.length > 0 ? { kept } : {}) }
  return [first, ...facts].map((fact, index) => ({ id: index, anchor: '', ...fact }))
}

/** Loads the tools that earlier search answers loaded, as far as policy and caps allow. */
export function importSteps(
  state: LedgerState,
  context: Context,
  steps: readonly ImportedStep[],
  called: readonly string[],
  unreadable: readonly string[],
): Step<ImportReport> {
  const { maxLoaded = Number.POSITIVE_INFINITY, maxLoadedTokens = Number.POSITIVE_INFINITY } =
    context.settings
  const facts: Anchored[] = []
  const recovered = new Set<string>()
  const unrecovered: { tool: string; reason: string }[] = []
  for (const { anchor, loaded, unloaded, named = [] } of steps) {
    for (const tool of unloaded) {
      if (!recovered.delete(tool) && !isLoaded(state, tool)) continue
      facts.push([anchor, { kind: 'unloaded', tool, reason: 'model' }])
    }
    const fingerprints = new Map(loaded.map(({ id, fingerprint }) => [id, fingerprint]))
    for (const name of named) {
      const resolution = context.catalogue.resolve(name, () => true)
      const entries = resolution.kind === 'group' ? resolution.entries : []
      for (const { id } of resolution.kind === 'found' ? [resolution.entry] : entries)
        fingerprints.set(id, '')
      if (resolution.kind !== 'found' && entries.length === 0) fingerprints.set(name, '')
    }
    for (const tool of fingerprints.keys()) {
      const entry = context.catalogue.get(tool)
      const availability = context.gate.availability(entry, 'load')
      if (!entry || (availability !== 'ready' && !isAway(availability))) {
        unrecovered.push({ tool, reason: availability })
        continue
      }
      // A group is loaded completely or not at all.
      const unit = listGroupMembers(context, entry).filter(
        ({ id }) => !isLoaded(state, id) && !recovered.has(id) && context.exposure(entry).deferred,
      )
      const after = [...listCounted(state), ...recovered, ...unit.map(({ id }) => id)]
      if (after.length > maxLoaded || sumTokens(after, context) > maxLoadedTokens) {
        unrecovered.push({ tool, reason: unit.length > 1 ? 'group-incomplete' : 'cap' })
        continue
      }
      for (const member of unit) {
        // The history shows the schema only if it has not changed.
        const known = fingerprints.get(member.id) ?? ''
        const shown = known !== '' && member.fingerprint.startsWith(known)
        const pin = context.pin(member, findPlace(member.id, state))
        facts.push([anchor, { kind: 'loaded', tool: pin, source: 'import', asked: member.id, shown }])
        recovered.add(member.id)
      }
    }
  }
  for (const name of new Set(called)) {
    const resolution = context.catalogue.resolve(name, (entry) => context.gate.visible(entry))
    if (resolution.kind !== 'found' || !context.exposure(resolution.entry).deferred) continue
    const { id: tool } = resolution.entry
    if (!recovered.has(tool) && !isLoaded(state, tool))
      unrecovered.push({ tool, reason: 'called, but no search answer shows that it was loaded' })
  }
  for (const anchor of unreadable)
    unrecovered.push({ tool: '', reason: `the search answer at ${anchor} does not say what it loaded` })
  return { facts, report: { recovered: [...recovered], unrecovered } }
}

/** Lists the anchors that the state refers to. */
function listAnchors(state: LedgerState): Set<string> {
  return new Set([
    ...state.history.inserts.flatMap(({ anchor, moves = [] }) => [anchor, ...moves]),
    ...[...state.tools.loaded.values()].map((each) => each.shownAt),
    ...[...state.history.reminded.values()].map(({ anchor }) => anchor),
    ...state.requests.searchTokens.keys(),
    ...state.requests.mediaTokens.keys(),
  ])
}

/**
 * Counts the events that belong to a history with these anchors. A compaction or a clear starts a new section and may
 * rename anchors. The best section has the most of these anchors and the fewest others; the newest wins a tie. (If a server
 * uses call ids again, other sections have many of the anchors, too, but also anchors that this history lacks.)
 */
export function countSeenEvents(anchors: readonly string[], events: readonly LedgerEvent[]): number {
  const seen = new Set(anchors)
  let best = { known: 0, agreed: 0, end: 0 }
  let known = new Set<string>()
  let lacking = new Set<string>()
  let agreed = 0
  let end = 0
  // A section after a clear matches without any anchor: its events come before the first message.
  let isNew = true
  const close = () => {
    const isBetter = known.size > 0 ? best.known === 0 || agreed >= best.agreed : isNew && best.known === 0
    if (isBetter) best = { known: known.size, agreed, end }
  }
  events.forEach((event, index) => {
    // The events of a compaction belong to the section that follows: their anchor is the new message.
    const begins = event.kind === 'cleared' || event.kind === 'compacted'
    if (begins || (event.kind === 'unloaded' && event.reason === 'trimmed')) {
      close()
      known = new Set()
      lacking = new Set()
      agreed = 0
      isNew = event.kind === 'cleared'
    }
    if (event.kind === 'compacted')
      for (const anchor of Object.values(event.kept)) if (seen.has(anchor)) known.add(anchor)
    const isKnown = seen.has(event.anchor) && event.kind !== 'cleared'
    if (isKnown) known.add(event.anchor)
    else if (event.anchor !== '' && !begins) lacking.add(event.anchor)
    // Events after the last known anchor do not count against this section.
    if (isKnown || begins) agreed = known.size - lacking.size
    if (begins || isKnown || event.anchor === '') end = index + 1
  })
  close()
  return best.end
}
