/** Combines segments into one index. A change adds a small segment and marks replaced tools as dead; small segments are merged over time. */

import {
  type Analysis,
  createSegmentBuilder,
  findTerm,
  type Identity,
  mergeSegments,
  type Segment,
  segmentCapacity,
} from './segment.js'
import { foldSpelling, hashTerm, nameSeed } from './spelling.js'

/** A segment with a larger share of dead tools is rebuilt without them. */
const deadShare = 0.25

/** Shared by all tools without aliases. */
export const noAliases: readonly string[] = []

export interface TermIndex {
  /** Number of living tools. */
  readonly size: number
  /** Number of slots including dead ones: the length of an array over all slots. */
  readonly slots: number
  readonly segments: readonly Segment[]
  /** Changes with every update. Old slots may then belong to other tools. */
  readonly revision: number
  /** Counts the living tools with a term. Writes the position of the term in each segment into `positions`. */
  countTools(term: number, positions?: number[]): number
  /** Visits the postings of a term in living tools. */
  forEachPosting(term: number, visit: (slot: number, byte: number) => void): void
  /** Returns a function that reads the posting of a term in a slot: the byte, or -1. Outdated after the next update. */
  createReader(term: number): (slot: number) => number
  /** The same for several terms, one slot at a time. */
  createCursor(terms: readonly number[]): Cursor
  getIdentity(slot: number): Identity
  isDead(slot: number): boolean
  /** Finds the slot of a tool; -1 if there is none. */
  findSlot(id: string): number
  /** Removes first, then adds. Its cost depends on the change; merging adds a logarithmic factor over many changes. */
  update(removed: Iterable<string>, added: Iterable<readonly [Identity, Analysis]>): void
  /** Runs `read` while the tools selected by `isHidden` count as dead. Calls `isHidden` for every tool. */
  withHidden<T>(isHidden: (id: string) => boolean, read: () => T): T
  /** Adds whole segments of tools that are not indexed yet. They are merged with the next update. */
  addSegments(added: readonly Segment[]): void
}

/** Reads the postings of some terms, slot by slot. Each term is looked up once per segment, on first use. */
export interface Cursor {
  moveTo(slot: number): void
  /** Reads the term at this position of the list: the byte, or -1. */
  readByte(place: number): number
}

/** Marks a position that was not looked up yet. */
const unread = -2

export function createTermIndex(): TermIndex {
  let segments: Segment[] = []
  let size = 0
  let slots = 0
  let revision = 0

  function findSlots(id: string): [Segment, number][] {
    const found: [Segment, number][] = []
    const term = hashTerm(foldSpelling(id), nameSeed)
    for (const segment of segments) {
      const position = findTerm(segment, term)
      if (position < 0) continue
      const end = segment.offsets[position + 1] as number
      for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
        const slot = segment.slots[posting] as number
        if (segment.dead[slot] === 0 && segment.identities[slot]?.id === id) found.push([segment, slot])
      }
    }
    return found
  }

  function remove(id: string): void {
    for (const [segment, slot] of findSlots(id)) {
      segment.dead[slot] = 1
      segment.deadCount += 1
    }
  }

  /** Rebuilds segments with many dead tools, and merges a segment into the one before it once it is half as large. */
  function settle(): void {
    const settled: Segment[] = []
    for (const segment of segments) {
      const countLiving = segment.identities.length - segment.deadCount
      if (countLiving === 0) continue
      settled.push(
        segment.deadCount > deadShare * segment.identities.length ? mergeSegments([segment]) : segment,
      )
    }
    for (;;) {
      const last = settled.at(-1)
      const previous = settled.at(-2)
      if (!last || !previous) break
      const together = living(last) + living(previous)
      if (living(previous) > 2 * living(last) || together > segmentCapacity) break
      settled.splice(-2, 2, mergeSegments([previous, last]))
    }
    segments = settled
    enumerate()
  }

  function enumerate(): void {
    revision += 1
    size = 0
    slots = 0
    for (const segment of segments) {
      segment.base = slots
      slots += segment.identities.length
      size += living(segment)
    }
  }

  return {
    get size() {
      return size
    },
    get slots() {
      return slots
    },
    get segments() {
      return segments
    },
    get revision() {
      return revision
    },
    countTools(term, positions) {
      let frequency = 0
      for (let place = 0; place < segments.length; place += 1) {
        const segment = segments[place] as Segment
        const position = findTerm(segment, term)
        if (positions) positions[place] = position
        if (position < 0) continue
        const start = segment.offsets[position] as number
        const end = segment.offsets[position + 1] as number
        frequency += end - start
        if (segment.deadCount === 0) continue
        for (let posting = start; posting < end; posting += 1)
          frequency -= segment.dead[segment.slots[posting] as number] as number
      }
      return frequency
    },
    forEachPosting(term, visit) {
      for (const segment of segments) {
        const position = findTerm(segment, term)
        if (position < 0) continue
        const end = segment.offsets[position + 1] as number
        for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
          const slot = segment.slots[posting] as number
          if (segment.dead[slot] === 0) visit(segment.base + slot, segment.bytes[posting] as number)
        }
      }
    },
    createReader(term) {
      const positions = segments.map((segment) => findTerm(segment, term))
      return (slot) => {
        const at = findSegmentIndex(segments, slot)
        return readPosting(segments[at] as Segment, positions[at] as number, slot)
      }
    },
    createCursor(terms) {
      const positions = new Int32Array(terms.length * segments.length).fill(unread)
      let segment = segments[0] as Segment
      let row = 0
      let slot = 0
      return {
        moveTo(to) {
          const at = findSegmentIndex(segments, to)
          segment = segments[at] as Segment
          row = at * terms.length
          slot = to
        },
        readByte(place) {
          const known = positions[row + place] as number
          if (known !== unread) return readPosting(segment, known, slot)
          const position = findTerm(segment, terms[place] as number)
          positions[row + place] = position
          return readPosting(segment, position, slot)
        },
      }
    },
    getIdentity(slot) {
      const segment = findSegment(segments, slot)
      return segment.identities[slot - segment.base] as Identity
    },
    isDead(slot) {
      const segment = findSegment(segments, slot)
      return segment.dead[slot - segment.base] === 1
    },
    findSlot(id) {
      const [found] = findSlots(id)
      return found ? found[0].base + found[1] : -1
    },
    update(removed, added) {
      for (const id of removed) remove(id)
      let builder = createSegmentBuilder()
      const own = new Map<string, number>()
      const repeated: number[] = []
      const flush = (): void => {
        for (const id of own.keys()) remove(id)
        if (builder.count > 0) {
          const segment = builder.build()
          for (const slot of repeated) segment.dead[slot] = 1
          segment.deadCount = repeated.length
          segments.push(segment)
        }
        builder = createSegmentBuilder()
        own.clear()
        repeated.length = 0
      }
      for (const [{ id, name, server, aliases }, analysis] of added) {
        // If an id occurs several times, the last one counts.
        const earlier = own.get(id)
        if (earlier !== undefined) repeated.push(earlier)
        own.set(id, builder.count)
        builder.add({ id, name, server, aliases: aliases.length === 0 ? noAliases : aliases }, analysis)
        if (builder.count === segmentCapacity) flush()
      }
      flush()
      settle()
    },
    withHidden(isHidden, read) {
      const hidden: [Segment, number][] = []
      for (const segment of segments)
        segment.identities.forEach(({ id }, slot) => {
          if (segment.dead[slot] === 0 && isHidden(id)) hidden.push([segment, slot])
        })
      const mark = (dead: 0 | 1): void => {
        for (const [segment, slot] of hidden) {
          segment.dead[slot] = dead
          segment.deadCount += dead === 1 ? 1 : -1
          size += dead === 1 ? -1 : 1
        }
      }
      mark(1)
      try {
        return read()
      } finally {
        mark(0)
      }
    },
    addSegments(added) {
      segments.push(...added.filter(({ identities }) => identities.length > 0))
      enumerate()
    },
  }
}

function living(segment: Segment): number {
  return segment.identities.length - segment.deadCount
}

/** Reads the posting of the term at this position of the segment; -1 if the slot does not have it. */
function readPosting({ base, offsets, slots, bytes }: Segment, position: number, slot: number): number {
  if (position < 0) return -1
  // Postings of a term are sorted by slot.
  const wanted = slot - base
  let low = offsets[position] as number
  let high = (offsets[position + 1] as number) - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = slots[middle] as number
    if (found === wanted) return bytes[middle] as number
    if (found < wanted) low = middle + 1
    else high = middle - 1
  }
  return -1
}

function findSegment(segments: readonly Segment[], slot: number): Segment {
  return segments[findSegmentIndex(segments, slot)] as Segment
}

function findSegmentIndex(segments: readonly Segment[], slot: number): number {
  let low = 0
  let high = segments.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((segments[middle] as Segment).base <= slot) low = middle
    else high = middle - 1
  }
  return low
}
