/** The hash that names content, against the platform's own. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createSha256, createHash as createTextHash, shortHash } from '../src/base/hash.js'

const expected = (...pieces: readonly (Uint8Array | string)[]) => {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}

it('hashes every length around the ends of blocks', () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => index * 7 + length)
    const hash = createSha256()
    hash.update(bytes)
    expect(hash.hex()).toBe(expected(bytes))
  }
})

it('hashes what comes in pieces, tells the hash in between, and a clone goes its own way', () => {
  const piece = fc.uint8Array({ maxLength: 150 })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), piece, piece, (pieces, one, other) => {
      const hash = createSha256()
      for (const each of pieces) {
        hash.update(each)
        hash.hex()
      }
      const clone = hash.clone()
      hash.update(one)
      clone.update(other)
      expect(hash.hex()).toBe(expected(...pieces, one))
      expect(clone.hex()).toBe(expected(...pieces, other))
    }),
  )
})

it('takes a broken pair of surrogates as U+FFFD, whole and in pieces', () => {
  expect(shortHash('a\ud800b', 64)).toBe(expected('a\ufffdb'))
  expect(createTextHash().update('a').with(['\ud800', 'b']).digest(64)).toBe(expected('a\ufffdb'))
})
