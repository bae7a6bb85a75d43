/**
 * A thread that moves to another provider and comes back: what it sent there is kept in the state, so that it can be sent
 * again, byte for byte. A part of the fold: it reads the state and the event alone.
 */

import type { Pin } from '../tool/wire-tool.js'
import { type Insert, type LedgerState, type LoadedTool, prefixName } from './state.js'

/** Keeps what was sent where the thread leaves for another wire. A new latch at the same wire replaces the old one. */
export function leave(state: LedgerState, wire: string): void {
  const { latch, latching, tools, native, history } = state
  latching.left.delete(wire)
  if (!latch || latch.wire === wire || latch.mode === 'off') return
  latching.left.set(latch.wire, {
    latch,
    count: latching.count,
    prefix: prefixName(state),
    eager: new Map(tools.eager),
    loaded: new Map(tools.loaded),
    revealed: new Set(native.revealed),
    inserts: [...history.inserts],
    carried: new Set(history.carried),
    told: new Set(history.told),
    sources: new Map(history.sources),
  })
}

/** What is told at one wire stands in the history of all. */
export function tellLeft(
  { latching }: LedgerState,
  about: readonly string[],
  sources: Readonly<Record<string, string>>,
): void {
  for (const left of latching.left.values()) {
    for (const id of about) left.told.add(id)
    for (const [name, membership] of Object.entries(sources)) left.sources.set(name, membership)
  }
}

/** `joined`: what was loaded elsewhere meanwhile, as it is sent here. */
export function returnTo(state: LedgerState, wire: string, joined: readonly Pin[]): void {
  const { latching, tools, native, history } = state
  const left = latching.left.get(wire)
  if (!left) return
  const live = new Map([...tools.suspendedLoads, ...[...tools.loaded].filter(([, each]) => each.live)])
  leave(state, wire)
  state.latch = left.latch
  latching.count = left.count
  latching.due = undefined
  // The array may have been counted on elsewhere; here it is the same.
  const { behind } = history.thinking
  if (behind.get(wire) === left.prefix) behind.set(wire, prefixName(state))
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
      if (left.latch.removals && native.revealed.delete(id)) native.toRemove.set(id, known.pin.wireName)
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
  history.told.clear()
  for (const id of left.told) history.told.add(id)
  replace(history.sources, left.sources)
}

/** What a provider was told of tools between two messages was about the array of that time. Nothing has carried it since the latch. */
export function inWords({ request: _, ...insert }: Insert): Insert {
  return { ...insert, adds: [], removes: [], revealed: 0 }
}

/** The first request settles where they stand: another message that looks like the anchor may come later. */
export function carry(inserts: Insert[], anchor: string) {
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
