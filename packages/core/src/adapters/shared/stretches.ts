/**
 * A history in stretches that stand for themselves: from a message of the user's, or from a reply behind the results of the one
 * before, to the next of these. What was read of a stretch, and how it is named, stays as it is while nothing before it
 * changes: so a request costs what is new. Where a stretch does not stand for itself (a result far from its call, ids that
 * come twice), the history is taken as a whole.
 */

import { createNaming, type Naming } from './anchors.js'
import type { Remembered } from './recall.js'
import { isOrderly, strays } from './repair.js'
import { sameUpTo } from './same-items.js'
import { settleIds } from './settle-ids.js'
import type { Placed, Unit } from './thread.js'
import type { Wire, WireTraits } from './wire.js'

export interface Stretch {
  readonly placed: readonly Placed[]
  /** Every call has its result right behind it: there is nothing to repair. */
  readonly isOrderly: boolean
  /** A result whose call is elsewhere, or an id that needs to be changed. */
  readonly isEntangled: boolean
  /** The names of its calls, each once. */
  readonly called: readonly string[]
  /** Anchors of answers that refer to tools. */
  readonly referring: readonly string[]
  /** Where units hold thinking that the provider binds to what stands before it. */
  readonly thinking: readonly number[]
  /** Names of calls that only the host can run. */
  readonly ofHost: readonly string[]
}

export interface Reading {
  readonly stretches: readonly Stretch[]
  /** All units of these. */
  readonly placed: readonly Placed[]
  readonly units: readonly Unit[]
  readonly sum: Sum
  readonly naming: Naming
}

/** What is true of a history up to the end of a stretch. What a stretch adds nothing to is that of the one before. */
export interface Sum {
  readonly isOrderly: boolean
  readonly isEntangled: boolean
  readonly called: ReadonlySet<string>
  readonly ofHost: ReadonlySet<string>
  /** The last stretch with such anchors, and those before it. */
  readonly referring: Referring | undefined
  /** Words of the user's stand right behind a result. */
  readonly isSpokenBehind: boolean
  /** The kind of the last unit that is no note. */
  readonly last: Unit['kind'] | undefined
}

interface Referring {
  readonly anchors: readonly string[]
  readonly before: Referring | undefined
}

/** The kind of a message's first unit and of its last; undefined where it has none. */
interface Sides {
  readonly first: Unit['kind']
  readonly last: Unit['kind']
}

interface Kept {
  readonly stretch: Stretch
  /** The number of entries up to its end. */
  readonly end: number
  readonly sum: Sum
  /** With its names. */
  readonly naming: Naming
}

/** What is needed of a wire to read. */
type Reads<Message> = Pick<Wire<Message, never, unknown, never>, 'name' | 'read' | 'ofHost'> & {
  readonly traits?: Omit<WireTraits, 'prompt'>
}

export function createReader<Message>(wire: Reads<Message>) {
  const sides = new WeakMap<Remembered<Message>, Sides | undefined>()
  let before: readonly Remembered<Message>[] = []
  let kept: readonly Kept[] = []
  let read: Pick<Reading, 'stretches' | 'placed' | 'units'> = { stretches: [], placed: [], units: [] }

  const sidesOf = (entry: Remembered<Message>): Sides | undefined => {
    if (sides.has(entry)) return sides.get(entry)
    const units = wire.read(entry.normal)
    const first = units[0]?.kind
    const last = units.at(-1)?.kind
    const made = first && last ? { first, last } : undefined
    sides.set(entry, made)
    return made
  }

  /** Where the stretch ends that begins here. */
  const endOf = (entries: readonly Remembered<Message>[], start: number): number => {
    if (!wire.traits?.readsInStretches) return entries.length
    let before: Sides | undefined
    for (let index = start; index < entries.length; index++) {
      const here = sidesOf(entries[index] as Remembered<Message>)
      if (before && here && isCut(before, here)) return index
      before = here ?? before
    }
    return entries.length
  }

  const stretchOf = (placed: readonly Placed[], isTaken: (id: string) => boolean): Stretch => {
    const { ids, answersAnywhere, thinking } = wire.traits ?? {}
    let isChanged = false
    if (ids)
      settleIds(
        placed,
        wire.name,
        ids,
        () => {
          isChanged = true
        },
        isTaken,
      )
    const units = placed.map(({ unit }) => unit)
    const calls = units.flatMap((unit) => (unit.kind === 'assistant' ? unit.calls : []))
    return {
      placed,
      isOrderly: isOrderly(placed, answersAnywhere),
      isEntangled: isChanged || strays(placed),
      called: [...new Set(calls.map(({ name }) => name))],
      referring: placed.flatMap(({ unit, anchor }) =>
        unit.kind === 'answer' && unit.loaded ? [anchor] : [],
      ),
      thinking: thinking ? units.flatMap((unit, index) => (thinking.holds(unit) ? [index] : [])) : [],
      ofHost: [...(wire.ofHost?.(units) ?? [])],
    }
  }

  return (entries: readonly Remembered<Message>[]): Reading => {
    const same = sameUpTo(entries, before)
    before = entries
    // The last stretch may go on, and so may one whose next message is another one now.
    let still = Math.max(0, kept.length - 1)
    while (still > 0 && (kept[still - 1]?.end ?? 0) >= same) still--
    const all = kept.slice(0, still)
    const stretches = read.stretches.slice(0, still)
    const changed = read.stretches.slice(still).reduce((sum, { placed }) => sum + placed.length, 0)
    const placed = read.placed.slice(0, read.placed.length - changed)
    const units = read.units.slice(0, placed.length)
    let { naming, sum, end } = all.at(-1) ?? { naming: createNaming(wire.name), sum: NOTHING, end: 0 }
    while (end < entries.length) {
      const start = end
      end = endOf(entries, start)
      const next = naming.extended(wire.read(entries.slice(start, end).flatMap(({ normal }) => normal)))
      const stretch = stretchOf(next.added, naming.isCalled)
      naming = next
      sum = added(sum, stretch)
      all.push({ stretch, end, sum, naming })
      stretches.push(stretch)
      for (const each of stretch.placed) {
        placed.push(each)
        units.push(each.unit)
      }
    }
    kept = all
    read = { stretches, placed, units }
    if (stretches.length === 1 || !sum.isEntangled) return { ...read, sum, naming }
    const whole = createNaming(wire.name).extended(wire.read(entries.flatMap(({ normal }) => normal)))
    const one = { ...stretchOf(whole.added, () => false), isEntangled: true }
    const { placed: everything } = one
    return {
      stretches: [one],
      placed: everything,
      units: everything.map(({ unit }) => unit),
      sum: added(NOTHING, one),
      naming: whole,
    }
  }
}

const NOTHING: Sum = {
  isOrderly: true,
  isEntangled: false,
  called: new Set(),
  ofHost: new Set(),
  referring: undefined,
  isSpokenBehind: false,
  last: undefined,
}

function added(sum: Sum, { placed, isOrderly, isEntangled, called, ofHost, referring }: Stretch): Sum {
  let { last, isSpokenBehind } = sum
  for (const { unit } of placed) {
    isSpokenBehind ||= last === 'answer' && unit.kind === 'user'
    if (unit.kind !== 'note') last = unit.kind
  }
  return {
    isOrderly: sum.isOrderly && isOrderly,
    isEntangled: sum.isEntangled || isEntangled,
    called: withAll(sum.called, called),
    ofHost: withAll(sum.ofHost, ofHost),
    referring: referring.length > 0 ? { anchors: referring, before: sum.referring } : sum.referring,
    isSpokenBehind,
    last,
  }
}

function withAll(names: ReadonlySet<string>, others: readonly string[]): ReadonlySet<string> {
  return others.every((name) => names.has(name)) ? names : new Set([...names, ...others])
}

/** The anchors of answers that refer to tools. */
export function referringIn(sum: Sum): Set<string> {
  const anchors = new Set<string>()
  for (let each = sum.referring; each; each = each.before)
    for (const anchor of each.anchors) anchors.add(anchor)
  return anchors
}

function isCut(before: Sides, here: Sides): boolean {
  if (here.first === 'user') return true
  return here.first === 'assistant' && before.last === 'answer'
}
