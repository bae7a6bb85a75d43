/** Comparing names as people misspell them. */
const asciiText = /^[\x00-\x7f]*$/
const asciiSeparators = /[^a-z0-9]+/g

/** How many slips a folded name of this length may have: none when short, since short names are close to each other. */
export function countAllowedTypos(folded: string): number {
  return folded.length < 6 ? 0 : folded.length < 11 ? 1 : 2
}

/** Which letters a folded name has, as bits: names that differ in two letters differ in at most four bits. */
export function encodeLetters(folded: string): number {
  let bits = 0
  for (let index = 0; index < folded.length; index += 1) {
    const code = folded.charCodeAt(index)
    bits |= code >= 97 && code <= 122 ? 1 << (code - 97) : code < 128 ? 1 << 26 : 1 << (27 + (code % 4))
  }
  return bits
}

/** Lower case without separators; what consists of nothing else keeps them. */
export function foldSpelling(text: string): string {
  if (asciiText.test(text)) {
    const lower = text.toLowerCase()
    return lower.replace(asciiSeparators, '') || lower.trim()
  }
  const lower = text.normalize('NFKC').toLowerCase()
  return lower.replace(/[^\p{L}\p{N}\p{M}]+/gu, '') || lower.trim()
}

export function countBits(value: number): number {
  let bits = value >>> 0
  let count = 0
  for (; bits !== 0; count += 1) bits &= bits - 1
  return count
}

// Terms are kept as signed 32-bit numbers: no dictionary has to be held, and segments can be merged without one.

/**
 * FNV-1a over the code units, then mixed. Two of 100,000 words meet with a chance of about one in two; the pair then shares a
 * posting list, which costs a wrong hit of low rank and nothing else. What must not be wrong (ids, names) is compared as text.
 */
export function hashTerm(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash)
}

/** One number for two neighbours, in this order. */
export function hashPair(first: number, second: number): number {
  return mix(Math.imul(first, 31) ^ second)
}

function mix(value: number): number {
  let hash = value ^ (value >>> 16)
  hash = Math.imul(hash, 0x7feb352d)
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x846ca68b)
  return hash ^ (hash >>> 16)
}

/** Seeds that keep names, concepts and effects apart from words. */
export const nameSeed = 1
export const conceptSeed = 2
export const effectSeed = 3
