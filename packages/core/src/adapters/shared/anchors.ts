/**
 * Names the units of a history. Most wires have no message ids, and some servers reuse call ids, so a name is the call
 * id or a hash of role, text and calls, with a number from its second occurrence on. It does not depend on the wire: a
 * thread that moves to another provider keeps its names.
 */
import { createHash, shortHash, type TextHash } from '../../base/hash.js'
import { createOpenCalls } from './open-calls.js'
import type { Placed, Unit } from './thread.js'

/** The names of a history up to some place. It can be gone on with, in more than one way: nothing of it changes. */
export interface Naming {
  /** What the last part of the history was named. */
  readonly added: readonly Placed[]
  /** With a further part. No call may be open before it. */
  extended(units: readonly Unit[]): Naming
  has(anchor: string): boolean
  /** Whether there is a call with this id. */
  readonly isCalled: (callId: string) => boolean
  /** The name that the next call with this id will have, or the one `nth` behind it: a reply may give one id twice. */
  next(callId: string, nth?: number): string
  /** A hash of the wire and all names. */
  hash(): string
}

/** What the parts before the last have: for each base the parts in which it occurs, and for each name the first. */
interface Shared {
  readonly occurrences: Map<string, number[]>
  readonly first: Map<string, number>
  readonly parts: Part[]
}

interface Part {
  readonly before: Part | undefined
  readonly bases: readonly string[]
  readonly names: readonly string[]
}

export function createNaming(wire: string): Naming {
  const shared: Shared = { occurrences: new Map(), first: new Map(), parts: [] }
  return naming({ before: undefined, bases: [], names: [] }, 0, shared, createHash().update(wire), [])
}

/** `part` is the last one, and the `number`th: it joins what is shared when it is gone on with, if no other has been in its place. */
function naming(
  part: Part,
  number: number,
  shared: Shared,
  hash: TextHash,
  added: readonly Placed[],
): Naming {
  const own = new Map<string, number>()
  for (const base of part.bases) own.set(base, (own.get(base) ?? 0) + 1)
  const names = new Set(part.names)
  const counted = (base: string) => (own.get(base) ?? 0) + occurrencesBefore(shared, base, number)
  return {
    added,
    extended(units) {
      if (shared.parts.length === number) join(shared, part)
      // The history went on otherwise from here before: what is shared belongs to the other way.
      const isMine = shared.parts.length === number + 1 && shared.parts[number] === part
      const into = isMine ? shared : share(part, number)
      const made = place(units, counted)
      const next = { before: part, bases: made.bases, names: made.placed.map(({ anchor }) => anchor) }
      return naming(next, number + 1, into, hash.with(next.names.map((name) => `\n${name}`)), made.placed)
    },
    has: (anchor) => names.has(anchor) || (shared.first.get(anchor) ?? number) < number,
    isCalled: (callId) => counted(`call:${callId}`) > 0,
    next: (callId, nth = 0) => numbered(`call:${callId}`, counted(`call:${callId}`) + 1 + nth),
    hash: () => hash.digest(),
  }
}

function occurrencesBefore({ occurrences }: Shared, base: string, number: number): number {
  const parts = occurrences.get(base)
  if (!parts) return 0
  return (parts.at(-1) ?? 0) < number ? parts.length : parts.filter((each) => each < number).length
}

function join({ occurrences, first, parts }: Shared, part: Part): void {
  const number = parts.length
  for (const base of part.bases) {
    const known = occurrences.get(base)
    if (known) known.push(number)
    else occurrences.set(base, [number])
  }
  for (const name of part.names) if (!first.has(name)) first.set(name, number)
  parts.push(part)
}

function share(part: Part, number: number): Shared {
  const parts = [part]
  while (parts.length <= number) parts.push(parts.at(-1)?.before as Part)
  const shared: Shared = { occurrences: new Map(), first: new Map(), parts: [] }
  for (const each of parts.reverse()) join(shared, each)
  return shared
}

function place(
  units: readonly Unit[],
  before: (base: string) => number,
): { readonly placed: readonly Placed[]; readonly bases: readonly string[] } {
  const counts = new Map<string, number>()
  const open = createOpenCalls<string>()
  const bases: string[] = []
  const take = (base: string): string => {
    const seen = (counts.get(base) ?? before(base)) + 1
    counts.set(base, seen)
    bases.push(base)
    return numbered(base, seen)
  }
  const placed = units.map((unit): Placed => {
    const calls = unit.kind === 'assistant' ? unit.calls : []
    const names = calls.map(({ id }): [string, string] => [id, take(`call:${id}`)])
    open.add(names)
    if (unit.kind === 'answer')
      return { unit, anchor: open.take(unit.callId) ?? `orphan:${unit.callId}`, calls: [] }
    return { unit, anchor: take(`message:${hashOf(unit)}`), calls: names.map(([, name]) => name) }
  })
  return { placed, bases }
}

export interface Anchors {
  readonly placed: readonly Placed[]
  readonly names: readonly string[]
  readonly next: Naming['next']
}

/** Of a history as a whole. */
export function anchorsOf(units: readonly Unit[]): Anchors {
  const { added, next } = createNaming('').extended(units)
  return { placed: added, names: added.map(({ anchor }) => anchor), next }
}

const hashes = new WeakMap<Unit, string>()

/**
 * Which names survive from one history to a shortened one, and what they are called there. Occurrences of one base are
 * matched from the end: what a compaction keeps is the newest.
 */
export function survivors(before: readonly string[], after: readonly string[]): Record<string, string> {
  const kept: Record<string, string> = {}
  const old = byBase(before)
  for (const [base, names] of byBase(after)) {
    const earlier = old.get(base) ?? []
    for (let back = 1; back <= Math.min(names.length, earlier.length); back++) {
      const from = earlier[earlier.length - back]
      const to = names[names.length - back]
      if (from !== undefined && to !== undefined) kept[from] = to
    }
  }
  return kept
}

function byBase(names: readonly string[]): Map<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const name of new Set(names)) {
    const base = name.replace(/#\d+$/, '')
    const group = groups.get(base)
    if (group) group.push(name)
    else groups.set(base, [name])
  }
  return groups
}

function numbered(base: string, occurrence: number): string {
  // A base that already ends like a number gets one always, so that no two names can meet.
  return occurrence === 1 && !/#\d+$/.test(base) ? base : `${base}#${occurrence}`
}

function hashOf(unit: Exclude<Unit, { kind: 'answer' }>): string {
  const known = hashes.get(unit)
  if (known !== undefined) return known
  const calls = unit.kind === 'assistant' ? unit.calls.map((call) => [call.id, call.name]) : []
  const made = shortHash(JSON.stringify([unit.kind, unit.text, calls]), 12)
  hashes.set(unit, made)
  return made
}
