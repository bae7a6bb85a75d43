/** Tokens and prefixes as the scripted endpoints report them. */

const BYTES_PER_TOKEN = 4
const CACHE_STEP = 128
const CACHE_MINIMUM = 1024

/** How many leading characters (UTF-16 code units) two strings share. */
export function commonPrefix(a: string, b: string): number {
  const end = Math.min(a.length, b.length)
  let length = 0
  while (length < end && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length
}

/** One token for every four bytes begun: wrong for any real model, equal on every run. */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN)
}

/**
 * What an automatic prefix cache would have kept: the longest prefix shared with any earlier request, in whole steps
 * of 128 tokens, and nothing below 1,024. The cache is ideal: it never forgets, and every earlier request warmed it.
 * Costs one pass over each earlier request's prefix.
 */
export function estimateCachedTokens(rendered: string, earlier: readonly string[]): number {
  const longest = earlier.reduce((length, other) => Math.max(length, commonPrefix(rendered, other)), 0)
  const tokens = Math.floor(Buffer.byteLength(rendered.slice(0, longest)) / BYTES_PER_TOKEN)
  const cached = tokens - (tokens % CACHE_STEP)
  return cached >= CACHE_MINIMUM ? cached : 0
}

/** How the scripted endpoints cut what they stream: so small that a client has to join. */

const SIZE = 8

/** Eight characters each, one more where a surrogate pair would be parted, and the rest. */
export function pieces(text: string): string[] {
  return cut(text, SIZE)
}

/** Two or more wherever there are two characters: even `{}` has to be joined. */
export function argumentFragments(text: string): string[] {
  return cut(text, Math.min(SIZE, Math.ceil(text.length / 3)))
}

/** No server parts a surrogate pair either. */
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
