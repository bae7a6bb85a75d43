/** What was learned from use, laid over the index: terms of tools with strengths, by the slots that these tools have now. */
import { positionOf } from './index/segment.js'
import type { TermIndex } from './index/term-index.js'
import type { LearnedTerms } from './searcher.js'

export interface Learned {
  /** How many tools of the index have learned a term. */
  frequencyOf(term: number): number
  /** Visits the tools that have learned a term, a range of postings at a time: of a slot, where the tool stands, and the strength. */
  forEach(
    term: number,
    visit: (slots: Uint16Array, places: Int32Array, bytes: Uint8Array, start: number, end: number) => void,
  ): void
}

/** Where each tool of one index of examples stands in the index of tools; -1 for one that is not there. */
interface Places {
  readonly learned: number
  readonly indexed: number
  readonly slots: Int32Array
  /** Every tool is there. */
  readonly isWhole: boolean
}

/** Places are looked up once and kept until one of the two indexes changes. */
export function createLearned(index: TermIndex): (learned: readonly LearnedTerms[]) => Learned {
  const known = new WeakMap<TermIndex, Places>()

  function placesOf(learned: TermIndex): Places {
    const kept = known.get(learned)
    if (kept && kept.learned === learned.revision && kept.indexed === index.revision) return kept
    const slots = new Int32Array(learned.slots)
    for (let slot = 0; slot < slots.length; slot += 1)
      slots[slot] = learned.isDead(slot) ? -1 : index.slotOf(learned.identityOf(slot).id)
    const isWhole = !slots.includes(-1)
    const places = { learned: learned.revision, indexed: index.revision, slots, isWhole }
    known.set(learned, places)
    return places
  }

  return (given) => {
    // Whoever makes them (`usage/examples-index.ts`) makes such an index.
    const learned = given as readonly TermIndex[]
    const all = learned.map((each) => ({ segments: each.segments, places: placesOf(each) }))
    const isWhole = all.every(({ places }) => places.isWhole)
    return {
      frequencyOf(term) {
        let frequency = 0
        const hasDead = index.segments.some(({ deadCount }) => deadCount > 0)
        forEach(term, (slots, places, _, start, end) => {
          if (isWhole && !hasDead) frequency += end - start
          else
            for (let posting = start; posting < end; posting += 1) {
              const slot = places[slots[posting] as number] as number
              if (slot >= 0 && !(hasDead && index.isDead(slot))) frequency += 1
            }
        })
        return frequency
      },
      forEach,
    }

    function forEach(term: number, visit: Parameters<Learned['forEach']>[1]): void {
      for (const { segments, places } of all)
        for (const segment of segments) {
          const position = positionOf(segment, term)
          if (position < 0) continue
          const { slots, bytes, base, offsets } = segment
          const own = base === 0 ? places.slots : places.slots.subarray(base)
          visit(slots, own, bytes, offsets[position] as number, offsets[position + 1] as number)
        }
    }
  }
}
