/** What tools keep of their score by what they do to things: a request to list is answered rather by what lists than by what deletes. */
import { positionOf } from './index/segment.js'
import type { TermIndex } from './index/term-index.js'
import { effects, effectTerm, severalEffect } from './words/effects.js'

/** A tool that does something else to things than what was asked for. */
const otherEffect = 0.6
/** One of which it cannot be said. */
const unknownEffect = 0.9
/** One that gives one thing, where several are asked for. */
const oneOfSeveral = 0.95

export interface EffectShares {
  /** Takes from the scores of all slots what tools do not keep. `asked`: what is to be done, 0 where that cannot be said. */
  apply(scores: Float32Array, asked: number): void
  /** What a tool has kept. */
  of(slot: number, asked: number): number
}

/** What each tool does is read once for each change of the index. */
export function createEffectShares(index: TermIndex): EffectShares {
  let revision = -1
  let doneBy = new Uint8Array(0)
  /** By what a tool does. Asked for every tool, so it is a table. */
  const shares = new Float64Array(2 ** effects.length)

  function read(): void {
    if (revision === index.revision) return
    revision = index.revision
    doneBy = new Uint8Array(index.slots)
    for (const effect of effects)
      for (const segment of index.segments) {
        const position = positionOf(segment, effectTerm(effect))
        if (position < 0) continue
        const end = segment.offsets[position + 1] as number
        for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
          const slot = segment.base + (segment.slots[posting] as number)
          doneBy[slot] = (doneBy[slot] as number) | effect
        }
      }
  }

  const shareOf = (done: number, asked: number): number =>
    done === 0
      ? unknownEffect
      : (done & asked & ~severalEffect) === 0
        ? otherEffect
        : (asked & ~done & severalEffect) > 0
          ? oneOfSeveral
          : 1

  return {
    apply(scores, asked) {
      if (asked === 0) return
      read()
      for (let done = 0; done < shares.length; done += 1) shares[done] = shareOf(done, asked)
      const count = index.slots
      for (let slot = 0; slot < count; slot += 1)
        scores[slot] = (scores[slot] as number) * (shares[doneBy[slot] as number] as number)
    },
    of(slot, asked) {
      if (asked === 0) return 1
      read()
      return shareOf(doneBy[slot] as number, asked)
    },
  }
}
