/**
 * Lets a conversation move to another provider and return. The state keeps the frozen prefix of each wire, so that the same bytes can be
 * sent again. Part of the fold: it reads only the state and the event.
 */

import type { Pin } from '../tool/wire-tool.js'
import type { Insert, LedgerState, LoadedTool } from './state.js'

/** Keeps the frozen prefix of the current wire when the conversation leaves it. A new prefix for the same wire replaces the old one. */
export function leave(state: LedgerState, wire: string): void {
  const { frozen, freezing, array, tools, native, history } = state
  freezing.left.delete(wire)
  if (!frozen || frozen.wire === wire || frozen.mode === 'off') return
  freezing.left.set(frozen.wire, {
    frozen,
    count: freezing.count,
    version: array.version,
    eager: new Map(tools.eager),
    loaded: new Map(tools.loaded),
    revealed: new Set(native.revealed),
    inserts: [...history.inserts],
    carried: new Set(history.carried),
    announcedIds: new Set(history.announcedIds),
    sources: new Map(history.sources),
  })
}

/** Notes an announcement for the wires that were left: it is in the history of all of them. */
export function tellLeft(
  { freezing }: LedgerState,
  about: readonly string[],
  sources: Readonly<Record<string, string>>,
): void {
  for (const left of freezing.left.values()) {
    for (const id of about) left.announcedIds.add(id)
    for (const [name, membership] of Object.entries(sources)) left.sources.set(name, membership)
  }
}

/** Restores the frozen prefix of a wire. `joined` are tools that were loaded at other wires meanwhile, as they are sent here. */
export function returnTo(state: LedgerState, wire: string, joined: readonly Pin[]): void {
  const { freezing, tools, native, history } = state
  const left = freezing.left.get(wire)
  if (!left) return
  const live = new Map([...tools.suspendedLoads, ...[...tools.loaded].filter(([, each]) => each.live)])
  leave(state, wire)
  state.frozen = left.frozen
  freezing.count = left.count
  freezing.due = undefined
  state.array.version = left.version
  replace(tools.eager, left.eager)
  replace(tools.loaded, new Map<string, LoadedTool>())
  native.revealed.clear()
  native.toRemove.clear()
  for (const id of left.revealed) native.revealed.add(id)
  for (const [id, known] of left.loaded) {
    const now = live.get(id)
    if (now) tools.loaded.set(id, { ...known, turn: now.turn, live: true, kept: false })
    else if (known.pin.definition) {
      tools.loaded.set(id, { ...known, live: false, kept: true })
      if (left.frozen.removals && native.revealed.delete(id)) native.toRemove.set(id, known.pin.wireName)
    }
  }
  for (const pin of joined) {
    const now = live.get(pin.id)
    if (now) tools.loaded.set(pin.id, { ...now, pin, shownAt: '', kept: false })
  }
  tools.suspendedLoads.clear()
  for (const [id, each] of live)
    if (!tools.loaded.has(id) && !tools.eager.has(id)) tools.suspendedLoads.set(id, { ...each, shownAt: '' })
  history.inserts = [...left.inserts, ...history.inserts.slice(left.inserts.length).map(inWords)]
  history.carried.clear()
  for (const anchor of left.carried) history.carried.add(anchor)
  history.announcedIds.clear()
  for (const id of left.announcedIds) history.announcedIds.add(id)
  replace(history.sources, left.sources)
}

/** Keeps only the text of an announcement. Its added and removed tools refer to an old array. */
export function inWords({ request: _, ...insert }: Insert): Insert {
  return { ...insert, adds: [], removes: [], revealed: 0 }
}

/**
 * Fixes the position of announcements at the first request that carries them. A later message may look like their anchor. `moved`:
 * anchors that the history of this request lacks.
 */
export function carry(inserts: Insert[], anchor: string, moved: readonly string[] = []) {
  for (const [index, insert] of inserts.entries())
    if (moved.includes(insert.anchor))
      inserts[index] = { ...insert, moves: [...(insert.moves ?? []), anchor] }
  for (let index = inserts.length - 1; index >= 0; index--) {
    const insert = inserts[index]
    if (!insert || insert.request !== undefined) return
    inserts[index] = { ...insert, request: anchor }
  }
}

function replace<Value>(into: Map<string, Value>, from: ReadonlyMap<string, Value>): void {
  into.clear()
  for (const [key, value] of from) into.set(key, value)
}
