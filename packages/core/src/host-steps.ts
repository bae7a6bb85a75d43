/** Steps a host takes by itself: raise, unload, compact, import, inherit. Each gives facts; none writes. */
import { createBatch, raise, unitOf } from './activation.js'
import type { Context } from './context.js'
import { deliveries } from './delivery/index.js'
import { isActive, type LedgerState } from './ledger.js'
import type { LedgerEvent, LedgerFact } from './ledger-event.js'
import type { Anchored } from './ledger-log.js'

/** Rebuilt from a provider's own messages: what a search answer says it loaded and unloaded. */
export interface ImportedStep {
  readonly anchor: string
  readonly loaded: readonly { readonly id: string; readonly fingerprint: string }[]
  readonly unloaded: readonly string[]
}

export interface ImportReport {
  readonly recovered: readonly string[]
  readonly unrecovered: readonly { readonly tool: string; readonly reason: string }[]
}

interface Raising {
  readonly facts: readonly Anchored[]
  readonly report: ImportReport
}

export function raiseByName(
  state: LedgerState,
  context: Context,
  names: readonly string[],
  source: 'operator' | 'pin',
  anchor: string,
): Raising {
  const batch = createBatch()
  const facts: LedgerFact[] = []
  const recovered: string[] = []
  const unrecovered: { tool: string; reason: string }[] = []
  for (const name of names) {
    const resolution = context.catalogue.resolve(
      name,
      (entry) => context.gate.standing(entry, 'see') !== 'denied',
    )
    const entries =
      resolution.kind === 'found'
        ? unitOf(context, resolution.entry)
        : resolution.kind === 'group'
          ? resolution.entries
          : []
    const standing = entries
      .map((entry) => context.gate.standing(entry, 'activate'))
      .find((each) => each !== 'ready')
    if (entries.length === 0 || standing) {
      unrecovered.push({
        tool: name,
        reason: standing ?? (resolution.kind === 'ambiguous' ? 'ambiguous' : 'unknown'),
      })
      continue
    }
    // Before the first request nothing is loaded yet, and what will be sent anyway need not be raised.
    const deferred = entries.filter((entry) => context.exposure(entry).deferred)
    const raised = raise(
      state,
      context,
      batch,
      deferred.map((entry) => ({ entry, source, asked: name, shown: false })),
    )
    facts.push(...raised.facts)
    recovered.push(...raised.activated)
    unrecovered.push(...raised.dropped.map(({ tool, reason }) => ({ tool, reason })))
  }
  return { facts: facts.map((fact) => [anchor, fact]), report: { recovered, unrecovered } }
}

export function unloadByName(state: LedgerState, context: Context, names: readonly string[]): LedgerFact[] {
  const ids = new Set<string>()
  for (const name of names) {
    const resolution = context.catalogue.resolve(name, (entry) => isActive(state, entry.id))
    if (resolution.kind === 'found') ids.add(resolution.entry.id)
    if (resolution.kind === 'group') for (const entry of resolution.entries) ids.add(entry.id)
    if (resolution.kind === 'none' && isActive(state, name)) ids.add(name)
  }
  return [...ids].map((tool) => ({ kind: 'deactivated', tool, reason: 'operator', untold: true }))
}

export interface Compaction {
  /** Each anchor that survived, and its name in the shortened history. */
  readonly kept: Readonly<Record<string, string>>
  /** The message that stands for what did not survive. Default: the last anchor. */
  readonly anchor?: string
  /** Gets the names of raised tools, and gives those to keep. */
  readonly trim?: (active: readonly string[]) => readonly string[]
}

export function compaction(
  state: LedgerState,
  { kept, anchor, trim }: Compaction,
  lastAnchor: string,
): Anchored[] {
  const active = [...state.tail].filter(([, held]) => held.live)
  const keep = trim ? new Set(trim(active.map(([, held]) => held.pin.wireName))) : undefined
  const trimmed = active
    .filter(([, held]) => keep && !keep.has(held.pin.wireName))
    .map(([tool]): Anchored => [lastAnchor, { kind: 'deactivated', tool, reason: 'trimmed' }])
  const known = anchorsIn(state)
  const relevant = Object.fromEntries(Object.entries(kept).filter(([each]) => known.has(each)))
  return [...trimmed, [anchor ?? lastAnchor, { kind: 'compacted', kept: relevant }]]
}

/** How a child's ledger begins: whose child it is, and (`snapshot`) the parent's raised tools as far as it may have them. */
export function inherited(parent: string, state: LedgerState | undefined, child: Context): LedgerEvent[] {
  const live = [...(state?.tail.values() ?? [])].filter((held) => held.live)
  const facts = live.flatMap(({ pin, asked }): LedgerFact[] => {
    const entry = child.catalogue.get(pin.id)
    if (!entry || child.gate.standing(entry, 'activate') !== 'ready' || !child.exposure(entry).deferred)
      return []
    return [{ kind: 'activated', tool: child.pin(entry, true), source: 'inherit', asked, shown: false }]
  })
  const all: LedgerFact[] = [{ kind: 'inherited', parent }, ...facts]
  return all.map((fact, index) => ({ id: index, anchor: '', ...fact }))
}

export function imported(
  state: LedgerState,
  context: Context,
  steps: readonly ImportedStep[],
  called: readonly string[],
  unreadable: readonly string[],
): Raising {
  const declared = deliveries[state.latch?.delivery ?? 'append'].declares
  const { maxActive = Number.POSITIVE_INFINITY } = context.settings
  const facts: Anchored[] = []
  const recovered = new Set<string>()
  const unrecovered: { tool: string; reason: string }[] = []
  for (const { anchor, loaded, unloaded } of steps) {
    for (const tool of unloaded) {
      if (!recovered.delete(tool)) continue
      facts.push([anchor, { kind: 'deactivated', tool, reason: 'unloaded' }])
    }
    for (const { id: tool, fingerprint } of loaded) {
      const entry = context.catalogue.get(tool)
      const standing = context.gate.standing(entry, 'activate')
      if (!entry || standing !== 'ready') {
        unrecovered.push({ tool, reason: standing })
        continue
      }
      if (isActive(state, tool) || recovered.has(tool) || !context.exposure(entry).deferred) continue
      if (state.activeCount + recovered.size >= maxActive) {
        unrecovered.push({ tool, reason: 'cap' })
        continue
      }
      // A schema that has changed since is not what the history shows.
      const shown = fingerprint === entry.fingerprint
      facts.push([
        anchor,
        { kind: 'activated', tool: context.pin(entry, declared), source: 'import', asked: tool, shown },
      ])
      recovered.add(tool)
    }
  }
  for (const name of new Set(called)) {
    const resolution = context.catalogue.resolve(name, (entry) => context.gate.visible(entry))
    if (resolution.kind !== 'found' || !context.exposure(resolution.entry).deferred) continue
    const { id: tool } = resolution.entry
    if (!recovered.has(tool) && !isActive(state, tool))
      unrecovered.push({ tool, reason: 'called, but no search answer shows that it was loaded' })
  }
  for (const anchor of unreadable)
    unrecovered.push({ tool: '', reason: `the search answer at ${anchor} does not say what it loaded` })
  return { facts, report: { recovered: [...recovered], unrecovered } }
}

/** The places in the history that the state speaks of. */
function anchorsIn(state: LedgerState): Set<string> {
  return new Set([
    ...state.inserts.map((insert) => insert.anchor),
    ...[...state.tail.values()].map((held) => held.shownAt),
    ...state.reminded.values(),
    ...state.searchTokens.keys(),
  ])
}

/**
 * How many events a history with these anchors has seen. A compaction gives anchors new names, so they are looked for
 * only between the newest compaction that the history shows and the one after it.
 */
export function seenBy(anchors: readonly string[], events: readonly LedgerEvent[]): number {
  const seen = new Set(anchors)
  const start = events.findLastIndex((event) => event.kind === 'compacted' && seen.has(event.anchor)) + 1
  const next = events.findIndex((event, index) => index >= start && event.kind === 'compacted')
  const known = next < 0 ? events : events.slice(0, next)
  return known.findLastIndex((event) => seen.has(event.anchor)) + 1
}
