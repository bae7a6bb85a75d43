/** Looking up a term in a segment: hashes stand in buckets by their first bits. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createSegmentBuilder,
  findTerm,
  mergeSegments,
  type Segment,
} from '../../src/search/index/segment.js'

function segmentOf(terms: readonly number[]): Segment {
  const builder = createSegmentBuilder()
  const held = Int32Array.from(new Set(terms))
  const identity = { id: 'a/b', name: 'b', server: 'a', aliases: [] }
  builder.add(identity, { size: held.length, terms: held, bytes: new Uint8Array(held.length) })
  return builder.build()
}

const term = fc.oneof(
  fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  fc.constantFrom(-(2 ** 31), -1, 0, 1, 2 ** 31 - 1),
)

describe('a term of a segment', () => {
  it('is found at its position, and no other is found', () => {
    fc.assert(
      fc.property(fc.array(term, { maxLength: 300 }), fc.array(term, { maxLength: 50 }), (held, asked) => {
        const own = segmentOf(held)
        for (const segment of [own, mergeSegments([own, segmentOf(asked)])])
          for (const each of [...held, ...asked])
            expect(findTerm(segment, each)).toBe(segment.terms.indexOf(each))
        for (const each of asked) expect(findTerm(own, each)).toBe(own.terms.indexOf(each))
      }),
    )
  })

  it('is found among many that begin alike', () => {
    const held = Array.from({ length: 5000 }, (_, place) => place)
    const segment = segmentOf(held)
    expect(held.every((each) => findTerm(segment, each) === each)).toBe(true)
    expect(findTerm(segment, -1)).toBe(-1)
    expect(findTerm(segment, 5000)).toBe(-1)
  })
})
