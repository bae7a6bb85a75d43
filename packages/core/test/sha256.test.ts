/** The hash that names content, against the platform's own. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hashSha256, shortHash } from '../src/base/hash.js'

const expected = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex')

it('hashes every length around the ends of blocks', () => {
  for (let length = 0; length <= 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, index) => index * 7 + length)
    expect(hashSha256(bytes)).toBe(expected(bytes))
  }
})

it('hashes any bytes', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 1000 }), (bytes) => hashSha256(bytes) === expected(bytes)))
})

it('takes a broken pair of surrogates as U+FFFD', () => {
  expect(shortHash('a\ud800b', 64)).toBe(expected('a\ufffdb'))
})
