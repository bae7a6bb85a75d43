/**
 * A history in stretches that stand for themselves: from a message of the user's, or from a reply behind the results of the one
 * before, to the next of these. What was read of a stretch, and how it is named, stays as it is while nothing before it
 * changes: so a request costs what is new. Where a stretch does not stand for itself (a result far from its call, ids that
 * come twice), the history is taken as a whole.
 */

import { createNaming, type Naming } from './anchors.js'
import type { Remembered } from './recall.js'
import { isOrderly, strays } from './repair.js'
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
  readonly naming: Naming
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
  let kept: Kept[] = []

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
    const other = entries.findIndex((entry, index) => entry !== before[index])
    const same = other < 0 ? entries.length : other
    before = entries
    // The last stretch may go on, and so may one whose next message is another one now.
    const still = kept.slice(0, -1).filter(({ end }) => end < same)
    let naming = still.at(-1)?.naming ?? createNaming(wire.name)
    const all = still
    for (let start = still.at(-1)?.end ?? 0; start < entries.length; ) {
      const end = endOf(entries, start)
      const units = wire.read(entries.slice(start, end).flatMap(({ normal }) => normal))
      const next = naming.extended(units)
      const { isCalled } = naming
      all.push({ stretch: stretchOf(next.added, isCalled), end, naming: next })
      naming = next
      start = end
    }
    kept = all
    if (all.length === 1 || !all.some(({ stretch }) => stretch.isEntangled))
      return { stretches: all.map(({ stretch }) => stretch), naming }
    const whole = createNaming(wire.name).extended(wire.read(entries.flatMap(({ normal }) => normal)))
    return { stretches: [{ ...stretchOf(whole.added, () => false), isEntangled: true }], naming: whole }
  }
}

function isCut(before: Sides, here: Sides): boolean {
  if (here.first === 'user') return true
  return here.first === 'assistant' && before.last === 'answer'
}

/** All units of a history. */
export function placedIn(stretches: readonly Stretch[]): readonly Placed[] {
  return ([] as Placed[]).concat(...stretches.map(({ placed }) => placed))
}
