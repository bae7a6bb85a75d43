/** A segment as bytes and back, so that what was made of a server's tools can be kept between two starts. */
import { hashOf } from './hash.js'
import { bucketsOf, type Identity, type Segment } from './segment.js'

/** To be increased with every change of what is indexed, or how: `stored-index.test.ts` notices. */
export const indexVersion = 8

/** Also tells machines of the other byte order apart. */
const mark = 0x7e11da7a
const headWords = 6

/** The larger numbers first, so that every array stands where its kind of number has to stand. */
export function encodeSegment({
  identities,
  letters,
  lengths,
  terms,
  offsets,
  slots,
  bytes,
}: Segment): Uint8Array {
  const head = Uint32Array.of(
    mark,
    indexVersion,
    namesHash(identities),
    identities.length,
    terms.length,
    slots.length,
  )
  const parts = [head, letters, terms, offsets, slots, lengths, bytes]
  const encoded = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    encoded.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at)
    at += part.byteLength
  }
  return encoded
}

/** Undefined where the bytes are no segment of exactly these tools, made by this version. */
export function decodeSegment(encoded: Uint8Array, identities: readonly Identity[]): Segment | undefined {
  const { buffer, byteOffset, byteLength } = encoded
  if (byteLength < headWords * 4) return undefined
  // A copy of its own: a view into something larger may start anywhere.
  const own = buffer.slice(byteOffset, byteOffset + byteLength)
  const [found, version, names, tools = 0, termCount = 0, postings = 0] = new Uint32Array(own, 0, headWords)
  if (found !== mark || version !== indexVersion) return undefined
  if (tools !== identities.length || names !== namesHash(identities)) return undefined
  const size =
    headWords * 4 + tools * 8 + termCount * 4 + (termCount + 1) * 4 + postings * 2 + tools * 2 + postings
  if (size !== byteLength) return undefined
  let at = headWords * 4
  const next = (length: number, width: number) => {
    const start = at
    at += length * width
    return [own, start, length] as const
  }
  const letters = new Uint32Array(...next(tools * 2, 4))
  const terms = new Int32Array(...next(termCount, 4))
  return {
    base: 0,
    identities,
    letters,
    terms,
    ...bucketsOf(terms),
    offsets: new Uint32Array(...next(termCount + 1, 4)),
    slots: new Uint16Array(...next(postings, 2)),
    lengths: new Uint8Array(...next(tools * 2, 1)),
    bytes: new Uint8Array(...next(postings, 1)),
    dead: new Uint8Array(tools),
    deadCount: 0,
  }
}

function namesHash(identities: readonly Identity[]): number {
  return hashOf(identities.map(({ id }) => id).join('\n')) >>> 0
}
