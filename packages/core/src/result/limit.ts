/** How long a result may be, and whether a text is longer than that. */
import type { Tokenizer } from '../base/tokens.js'

/** Below this a head, a size and a handle would be longer than what they stand for. */
export const LEAST_RESULT = 100

/** Characters for each token above which a text is long without being counted: no ordinary text has so many. */
const MOST_CHARACTERS = 16

/** Characters for each token of a head: as in ordinary English, so that it stays well below the limit. */
const HEAD_CHARACTERS = 4
/** Tokens of a head, where the limit is not smaller. */
const HEAD_TOKENS = 2000

/** Counts no more of it than needed: what is far too long is not read to its end. */
export function isLonger(text: string, limit: number, tokenizer: Tokenizer): boolean {
  // No tokenizer makes more tokens than there are bytes.
  if (limit === Number.POSITIVE_INFINITY || text.length * 3 <= limit) return false
  return text.length > limit * MOST_CHARACTERS || tokenizer.count(text) > limit
}

/** Characters of the head of a result that is too long. A quarter of the limit at most: scripts of one token a letter fit. */
export function headLength(limit: number): number {
  return Math.min(HEAD_TOKENS * HEAD_CHARACTERS, Math.floor(limit / 4) * HEAD_CHARACTERS)
}

/** Characters of one answer of the reader, where the limit of a result is not smaller: one token each at worst. */
const MOST_READ = 25_000
const LEAST_READ = 1000

/** How many characters one answer of the reader has at most, by the limit of a result. */
export function readLength(limit = Number.POSITIVE_INFINITY): number {
  return Math.max(LEAST_READ, Math.min(limit, MOST_READ))
}
