/**
 * Gives the units of a history their anchors. Most wires have no message ids, and some servers reuse call ids. So an
 * anchor is the call id, or a hash of role, text and calls, with a number from the second occurrence on. Anchors do
 * not depend on the wire: a thread that moves to another provider keeps them.
 */

import { shortHash } from '../../base/hash.js'
import type { NoticePlace } from '../../surface/plan.js'
import { createOpenCalls, type Placed, type Unit } from './thread.js'

export interface Anchors {
  readonly placed: readonly Placed[]
  /** The anchors of all units, in order. */
  readonly names: readonly string[]
  has(anchor: string, upTo?: string): boolean
  /** The anchor of the next call with this id, or of the one `nth` after it: a reply can use one id twice. */
  next(callId: string, nth?: number): string
  /** A hash of the wire and all anchors. */
  hash(wire: string): string
}

/** Gives every unit its anchor. */
export function placeAnchors(units: readonly Unit[]): Anchors {
  const counts = new Map<string, number>()
  const open = createOpenCalls<string>()
  const take = (base: string): string => {
    const seen = (counts.get(base) ?? 0) + 1
    counts.set(base, seen)
    return addNumber(base, seen)
  }
  const placed = units.map((unit): Placed => {
    const calls = unit.kind === 'assistant' ? unit.calls : []
    const names = calls.map(({ id }): [string, string] => [id, take(`call:${id}`)])
    open.add(names)
    if (unit.kind === 'answer')
      return { unit, anchor: open.take(unit.callId) ?? `orphan:${unit.callId}`, calls: [] }
    return { unit, anchor: take(`message:${hashUnit(unit)}`), calls: names.map(([, name]) => name) }
  })
  const names = placed.map(({ anchor }) => anchor)
  const places = new Map(names.map((name, index) => [name, index]))
  return {
    placed,
    names,
    has(anchor, upTo = anchor) {
      const [found, end] = [places.get(anchor), places.get(upTo)]
      return found !== undefined && (end === undefined || found <= end)
    },
    next: (callId, nth = 0) => addNumber(`call:${callId}`, (counts.get(`call:${callId}`) ?? 0) + 1 + nth),
    hash: (wire) => shortHash([wire, ...names].join('\n')),
  }
}

/**
 * Finds the anchors that survive in a shortened history, with their new names. Equal anchors are matched from the
 * end, because a compaction keeps the newest messages.
 */
export function matchAnchors(before: readonly string[], after: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {}
  const old = groupByBase(before)
  for (const [base, names] of groupByBase(after)) {
    const earlier = old.get(base) ?? []
    for (let back = 1; back <= Math.min(names.length, earlier.length); back++) {
      const from = earlier[earlier.length - back]
      const to = names[names.length - back]
      if (from !== undefined && to !== undefined) kept[from] = to
    }
  }
  return kept
}

function groupByBase(names: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const name of new Set(names)) {
    const base = name.replace(/#\d+$/, '')
    const group = groups.get(base)
    if (group) group.push(name)
    else groups.set(base, [name])
  }
  return groups
}

function addNumber(base: string, occurrence: number): string {
  // A base that ends like a number always gets a number, so that anchors stay unique.
  return occurrence === 1 && !/#\d+$/.test(base) ? base : `${base}#${occurrence}`
}

function hashUnit(unit: Exclude<Unit, { kind: 'answer' }>): string {
  const calls = unit.kind === 'assistant' ? unit.calls.map((call) => [call.id, call.name]) : []
  return shortHash(JSON.stringify([unit.kind, unit.text, calls]), 12)
}

/**
 * Finds the place for notices at the end of a history: after the user's message or at the end of the last result,
 * never between a result and the next reply. Servers refuse a message there, and chat templates drop the reasoning
 * before it. `wordless`: calls to this name get no text as an answer if the delivery is native.
 */
export function findNoticePlace(placed: readonly Placed[], wordless: string | undefined): NoticePlace {
  const start = placed.findLastIndex(({ unit }) => unit.kind !== 'answer') + 1
  const answers = placed.slice(start)
  const before = placed[start - 1]
  const anchors = answers.map(({ anchor }) => anchor)
  // The repair answers the calls that have no answer yet.
  const open = before?.unit.kind === 'assistant' ? before.unit.calls.map(({ name }) => name) : []
  const isLast = (call = '') => anchors.includes(call) || (before?.calls.includes(call) ?? false)
  const named = [...open, ...answers.flatMap((answer) => findCallName(answer, placed) ?? [])]
  if (named.length === 0)
    return {
      anchors: placed.slice(-1).map(({ anchor }) => anchor),
      // The model continues its own message: nothing may come between.
      takes: () => (placed.at(-1)?.unit.kind === 'assistant' ? 'nothing' : 'words'),
    }
  // A program reads these results: nothing may be added to them, and servers accept no text next to them.
  const isOfCode = placed
    .slice(0, start)
    .some(({ unit, calls }) =>
      unit.kind === 'assistant'
        ? unit.calls.some(({ fromCode }, index) => fromCode && isLast(calls[index]))
        : false,
    )
  if (isOfCode) return { anchors, takes: () => 'nothing' }
  return {
    anchors: [...anchors, ...(answers.length === 0 && before ? [before.anchor] : [])],
    takes: (delivery) =>
      delivery !== 'native' || named.some((name) => name !== wordless) ? 'words' : 'tools',
  }
}

/** The name of the call that an answer belongs to. */
function findCallName({ anchor }: Placed, placed: readonly Placed[]): string | undefined {
  const { unit, calls = [] } = placed.findLast((each) => each.calls.includes(anchor)) ?? {}
  return unit?.kind === 'assistant' ? unit.calls[calls.indexOf(anchor)]?.name : undefined
}
