/** Comparing names as people misspell them. */
const asciiText = /^[\x00-\x7f]*$/
const asciiSeparators = /[^a-z0-9]+/g

/** How many slips a folded name of this length may have: none when short, since short names are close to each other. */
export function slipsAllowed(folded: string): number {
  return folded.length < 6 ? 0 : folded.length < 11 ? 1 : 2
}

/** Which letters a folded name has, as bits: names that differ in two letters differ in at most four bits. */
export function lettersOf(folded: string): number {
  let bits = 0
  for (let index = 0; index < folded.length; index += 1) {
    const code = folded.charCodeAt(index)
    bits |= code >= 97 && code <= 122 ? 1 << (code - 97) : code < 128 ? 1 << 26 : 1 << (27 + (code % 4))
  }
  return bits
}

/** Lower case without separators; what consists of nothing else keeps them. */
export function fold(text: string): string {
  if (asciiText.test(text)) {
    const lower = text.toLowerCase()
    return lower.replace(asciiSeparators, '') || lower.trim()
  }
  const lower = text.normalize('NFKC').toLowerCase()
  return lower.replace(/[^\p{L}\p{N}\p{M}]+/gu, '') || lower.trim()
}

export function bitsIn(value: number): number {
  let bits = value >>> 0
  let count = 0
  for (; bits !== 0; count += 1) bits &= bits - 1
  return count
}
