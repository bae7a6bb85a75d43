/** Token estimates and stream pieces of the scripted endpoints. */

const BYTES_PER_TOKEN = 4
const CACHE_STEP = 128
const CACHE_MINIMUM = 1024

/** Number of leading characters (UTF-16 code units) that two strings share. */
export function commonPrefix(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  let length = 0
  while (length < end && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}

/** One token per four bytes, rounded up. Wrong for every real model, but the same on every run. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/**
 * Tokens that an automatic prefix cache would have kept: the longest prefix shared with an earlier request, in steps of 128
 * tokens, at least 1,024. The cache is ideal: it never forgets. Reads the shared prefix of each earlier request once.
 */
export function estimateCachedTokens(rendered: string, earlier: readonly string[]): number {
  const longest = earlier.reduce((length, other) => Math.max(length, commonPrefix(rendered, other)), 0)
  const tokens = Math.floor(Buffer.byteLength(rendered.slice(0, longest)) / BYTES_PER_TOKEN)
  const cached = tokens - (tokens % CACHE_STEP)
  return cached >= CACHE_MINIMUM ? cached : 0
}

const SIZE = 8

/** Pieces of eight characters, so small that clients have to join them. Surrogate pairs stay whole. */
export function pieces(text: string): string[] {
  return cut(text, SIZE)
}

/** At least two pieces if there are two characters, so that even `{}` has to be joined. */
export function argumentFragments(text: string): string[] {
  return cut(text, Math.min(SIZE, Math.ceil(text.length / 3)))
}

function cut(text: string, size: number): string[] {
  const list: string[] = []
  for (let start = 0; start < text.length; ) {
    let end = start + size
    if (/[\uD800-\uDBFF]/.test(text.charAt(end - 1))) end++
    list.push(text.slice(start, end))
    start = end
  }
  return list
}
