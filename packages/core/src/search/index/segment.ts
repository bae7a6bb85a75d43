/** An immutable part of the index: the postings of some tools in typed arrays, sorted by term. */

import { hashTerm } from './spelling.js'
import { createTally, type Tally } from './tally.js'

/** The slots of a segment fit into 16 bits. A larger index has several segments. */
export const segmentCapacity = 65_536

/** The text kept of a tool. Everything else is numbers. */
export interface Identity {
  readonly id: string
  readonly name: string
  readonly server: string
  readonly aliases: readonly string[]
}

export interface Segment {
  /** First slot of this segment in the whole index. Set by the index. */
  base: number
  readonly identities: readonly Identity[]
  /** Distinct terms, ascending. The postings of `terms[n]` are at `offsets[n]` to `offsets[n + 1]`. */
  readonly terms: Int32Array
  readonly offsets: Uint32Array
  /** Terms with the same first bits share a bucket. Bucket `n` is at `buckets[n]` to `buckets[n + 1]`. */
  readonly buckets: Uint32Array
  /** Number of bits by which a term is shifted to get its bucket. */
  readonly shift: number
  readonly slots: Uint16Array
  /** One byte per posting, see `encodeImpact`. */
  readonly bytes: Uint8Array
  /** 1 for a tool that was removed or replaced. Its postings are skipped until the segment is rebuilt. */
  readonly dead: Uint8Array
  deadCount: number
}

/** The postings of one tool: the first `size` entries of parallel arrays, each term once. */
export interface Analysis {
  readonly size: number
  readonly terms: Int32Array
  readonly bytes: Uint8Array
}

/** Creates the counter of distinct terms. It is large, so builders that run one after another may share it. */
export function createTermCounts(): Tally {
  return createTally(4096)
}

/** Collects tools and builds a segment. Its cost is the number of postings plus sorting the distinct terms. */
export function createSegmentBuilder(counts = createTermCounts()) {
  counts.clear()
  const identities: Identity[] = []
  let postingOrdinals = new Uint32Array(1024)
  let postingBytes = new Uint8Array(1024)
  const ends: number[] = []
  let size = 0

  return {
    get count() {
      return identities.length
    },
    add(identity: Identity, { size: added, terms, bytes }: Analysis): void {
      identities.push(identity)
      while (size + added > postingBytes.length) {
        postingOrdinals = copyInto(postingOrdinals, new Uint32Array(postingOrdinals.length * 2))
        postingBytes = copyInto(postingBytes, new Uint8Array(postingBytes.length * 2))
      }
      for (let index = 0; index < added; index += 1) {
        const ordinal = counts.locate(terms[index] as number)
        counts.values[ordinal] = (counts.values[ordinal] as number) + 1
        postingOrdinals[size] = ordinal
        postingBytes[size] = bytes[index] as number
        size += 1
      }
      ends.push(size)
    },
    build(): Segment {
      const terms = counts.terms.slice(0, counts.size).sort()
      const offsets = new Uint32Array(terms.length + 1)
      const next = new Uint32Array(terms.length)
      for (let index = 0; index < terms.length; index += 1) {
        const ordinal = counts.locate(terms[index] as number)
        next[ordinal] = offsets[index] as number
        offsets[index + 1] = (offsets[index] as number) + (counts.values[ordinal] as number)
      }
      const slots = new Uint16Array(size)
      const bytes = new Uint8Array(size)
      let position = 0
      for (let slot = 0; slot < ends.length; slot += 1)
        for (const end = ends[slot] as number; position < end; position += 1) {
          const ordinal = postingOrdinals[position] as number
          const target = next[ordinal] as number
          next[ordinal] = target + 1
          slots[target] = slot
          bytes[target] = postingBytes[position] as number
        }
      const dead = new Uint8Array(identities.length)
      return {
        base: 0,
        identities,
        terms,
        offsets,
        ...buildBuckets(terms),
        slots,
        bytes,
        dead,
        deadCount: 0,
      }
    },
  }
}

/** Merges the living tools of several segments, in the given order. */
export function mergeSegments(segments: readonly Segment[]): Segment {
  const identities: Identity[] = []
  const moved = segments.map((segment) => {
    const targets = new Int32Array(segment.identities.length).fill(-1)
    segment.identities.forEach((identity, slot) => {
      if (segment.dead[slot] === 0) targets[slot] = identities.push(identity) - 1
    })
    return targets
  })
  const total = segments.reduce((sum, segment) => sum + segment.slots.length, 0)
  const slots = new Uint16Array(total)
  const bytes = new Uint8Array(total)
  const terms: number[] = []
  const offsets: number[] = [0]
  const at = segments.map(() => 0)
  let size = 0
  for (;;) {
    let term = Number.POSITIVE_INFINITY
    segments.forEach((segment, index) => {
      const next = segment.terms[at[index] as number]
      if (next !== undefined && next < term) term = next
    })
    if (term === Number.POSITIVE_INFINITY) break
    const before = size
    segments.forEach((segment, index) => {
      const position = at[index] as number
      if (segment.terms[position] !== term) return
      at[index] = position + 1
      const targets = moved[index] as Int32Array
      const end = segment.offsets[position + 1] as number
      for (let posting = segment.offsets[position] as number; posting < end; posting += 1) {
        const target = targets[segment.slots[posting] as number] as number
        if (target < 0) continue
        slots[size] = target
        bytes[size] = segment.bytes[posting] as number
        size += 1
      }
    })
    if (size === before) continue
    terms.push(term)
    offsets.push(size)
  }
  const merged = Int32Array.from(terms)
  return {
    base: 0,
    identities,
    terms: merged,
    offsets: Uint32Array.from(offsets),
    ...buildBuckets(merged),
    slots: slots.slice(0, size),
    bytes: bytes.slice(0, size),
    dead: new Uint8Array(identities.length),
    deadCount: 0,
  }
}

/** Finds the position of a term in `terms`, or -1. Called hundreds of times per search. */
export function findTerm({ terms, buckets, shift }: Segment, term: number): number {
  const bucket = findBucket(term, shift)
  let low = buckets[bucket] as number
  let high = (buckets[bucket + 1] as number) - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = terms[middle] as number
    if (found === term) return middle
    if (found < term) low = middle + 1
    else high = middle - 1
  }
  return -1
}

/** Terms are hashes and spread evenly, so each bucket has about this many. */
const bucketSize = 6

/** Requires sorted terms. */
function buildBuckets(terms: Int32Array): Pick<Segment, 'buckets' | 'shift'> {
  const bits = Math.max(1, Math.ceil(Math.log2((terms.length + 1) / bucketSize)))
  const shift = 32 - bits
  const buckets = new Uint32Array(2 ** bits + 1)
  for (const term of terms) {
    const next = findBucket(term, shift) + 1
    buckets[next] = (buckets[next] as number) + 1
  }
  for (let bucket = 1; bucket < buckets.length; bucket += 1)
    buckets[bucket] = (buckets[bucket] as number) + (buckets[bucket - 1] as number)
  return { buckets, shift }
}

/** Returns the first bits of a signed number, in numeric order. */
function findBucket(term: number, shift: number): number {
  return (term ^ 0x80000000) >>> shift
}

function copyInto<A extends Uint32Array | Uint8Array>(from: A, into: A): A {
  into.set(from)
  return into
}

/** Increase with every change of the indexed content or format: `stored-index.test.ts` notices. */
export const indexVersion = 9

/** Also distinguishes machines with another byte order. */
const mark = 0x7e11da7a
const headWords = 6

/** Encodes a segment, so that the index of a server can be stored between starts. Arrays with larger numbers come first, to keep all aligned. */
export function encodeSegment({ identities, terms, offsets, slots, bytes }: Segment): Uint8Array {
  const head = Uint32Array.of(
    mark,
    indexVersion,
    hashIds(identities),
    identities.length,
    terms.length,
    slots.length,
  )
  const parts = [head, terms, offsets, slots, bytes]
  const encoded = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    encoded.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at)
    at += part.byteLength
  }
  return encoded
}

/** Decodes a segment; undefined unless the bytes are a segment of exactly these tools, written by this version. */
export function decodeSegment(encoded: Uint8Array, identities: readonly Identity[]): Segment | undefined {
  const { buffer, byteOffset, byteLength } = encoded
  if (byteLength < headWords * 4) return undefined
  // A copy, because a view into a larger buffer may start at any offset.
  const own = buffer.slice(byteOffset, byteOffset + byteLength)
  const [found, version, names, tools = 0, termCount = 0, postings = 0] = new Uint32Array(own, 0, headWords)
  if (found !== mark || version !== indexVersion) return undefined
  if (tools !== identities.length || names !== hashIds(identities)) return undefined
  const size = headWords * 4 + termCount * 4 + (termCount + 1) * 4 + postings * 2 + postings
  if (size !== byteLength) return undefined
  let at = headWords * 4
  const next = (length: number, width: number) => {
    const start = at
    at += length * width
    return [own, start, length] as const
  }
  const terms = new Int32Array(...next(termCount, 4))
  return {
    base: 0,
    identities,
    terms,
    ...buildBuckets(terms),
    offsets: new Uint32Array(...next(termCount + 1, 4)),
    slots: new Uint16Array(...next(postings, 2)),
    bytes: new Uint8Array(...next(postings, 1)),
    dead: new Uint8Array(tools),
    deadCount: 0,
  }
}

function hashIds(identities: readonly Identity[]): number {
  return hashTerm(identities.map(({ id }) => id).join('\n')) >>> 0
}
