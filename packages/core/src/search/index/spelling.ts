/** Folds, compares and hashes spellings. */

const asciiText = /^[\x00-\x7f]*$/
const asciiSeparators = /[^a-z0-9]+/g

/** Encodes the letters of a word as bits. Words that differ in two letters differ in at most four bits. */
export function encodeLetters(folded: string): number {
  let bits = 0
  for (let index = 0; index < folded.length; index += 1) {
    const code = folded.charCodeAt(index)
    bits |= code >= 97 && code <= 122 ? 1 << (code - 97) : code < 128 ? 1 << 26 : 1 << (27 + (code % 4))
  }
  return bits
}

/** Lower case without separators. A text of separators only keeps them. */
export function foldSpelling(text: string): string {
  if (asciiText.test(text)) {
    const lower = text.toLowerCase()
    return lower.replace(asciiSeparators, '') || lower.trim()
  }
  const lower = text.normalize('NFKC').toLowerCase()
  return lower.replace(/[^\p{L}\p{N}\p{M}]+/gu, '') || lower.trim()
}

/**
 * Removes "mcp" and "server" from a server name, unless nothing else is left. Most server names have these words,
 * and "restart the web server" does not ask for any of them.
 */
export function trimServerName(server: string): string {
  const own = server.replace(/(?<![a-z])(?:mcp|servers?)(?![a-z])/gi, ' ')
  return /[\p{L}\p{N}]/u.test(own) ? own : server
}

export function countBits(value: number): number {
  let bits = value >>> 0
  let count = 0
  for (; bits !== 0; count += 1) bits &= bits - 1
  return count
}

/**
 * Hashes a term to a signed 32-bit number, so the index needs no dictionary and segments merge without one. FNV-1a, then mixed.
 *
 * Among 100,000 words the chance of one collision is about one half. Two colliding words share a posting list, which only causes a
 * wrong hit of low rank. Ids and names are also compared as text.
 */
export function hashTerm(text: string, seed = 0): number {
  let hash = 0x811c9dc5 ^ seed
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return mix(hash)
}

/** Hashes two neighbouring terms, in this order. */
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

/** Seeds that separate names, concepts and effects from words. */
export const nameSeed = 1
export const conceptSeed = 2
export const effectSeed = 3
