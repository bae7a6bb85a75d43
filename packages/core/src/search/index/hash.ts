/** Terms are kept as signed 32-bit numbers: no dictionary has to be held, and segments can be merged without one. */

/**
 * FNV-1a over the code units, then mixed. Two of 100,000 words meet with a chance of about one in two; the pair then shares a
 * posting list, which costs a wrong hit of low rank and nothing else. What must not be wrong (ids, names) is compared as text.
 */
export function hashOf(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash)
}

/** One number for two neighbours, in this order. */
export function pairOf(first: number, second: number): number {
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
