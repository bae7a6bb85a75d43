/** `ResultStore`, which keeps results that are too large to send, its memory driver, and the limits of results. */

import type { Tokenizer } from '../base/tokens.js'

/** A stored result: text, or the bytes of a file in base64. */
export type KeptContent =
  | { readonly text: string }
  | { readonly data: string; readonly mediaType: string; readonly name?: string }

export interface ResultStore {
  /**
   * Stores a result for a ledger. The same handle replaces it. False if it does not fit: then nothing is stored.
   */
  write(ledger: string, handle: string, content: KeptContent): Promise<boolean>
  /** Undefined if the result was never stored or has been removed. */
  read(ledger: string, handle: string): Promise<KeptContent | undefined>
  /** Removes all results of a ledger, if any. */
  delete?(ledger: string): Promise<void>
}

export interface ResultStoreLimits {
  /** Bytes of all results. The oldest are removed first. */
  readonly maxBytes?: number
  /** Milliseconds after which a result is removed. */
  readonly maxAge?: number
}

/** Estimates the size: three bytes for each UTF-16 code unit that is not ASCII. */
export function estimateBytes(content: KeptContent): number {
  if ('data' in content) return content.data.length
  const { text } = content
  let size = text.length
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) size += 2
  return size
}

const MAX_BYTES = 64 * 1024 * 1024
const MAX_AGE = 24 * 60 * 60 * 1000

/** Stores results in the memory of this process. The default. */
export function memoryResults({
  maxBytes = MAX_BYTES,
  maxAge = MAX_AGE,
}: ResultStoreLimits = {}): ResultStore {
  /** Oldest first. */
  const kept = new Map<
    string,
    { readonly content: KeptContent; readonly size: number; readonly until: number }
  >()
  let total = 0
  const drop = (key: string) => {
    total -= kept.get(key)?.size ?? 0
    kept.delete(key)
  }
  const dropExpired = () => {
    for (const [key, { until }] of kept) {
      if (until > Date.now()) break
      drop(key)
    }
  }
  return {
    async write(ledger, handle, content) {
      const size = estimateBytes(content)
      if (size > maxBytes) return false
      const key = JSON.stringify([ledger, handle])
      drop(key)
      dropExpired()
      for (const oldest of kept.keys()) {
        if (total + size <= maxBytes) break
        drop(oldest)
      }
      kept.set(key, { content, size, until: Date.now() + maxAge })
      total += size
      return true
    },
    async read(ledger, handle) {
      dropExpired()
      return kept.get(JSON.stringify([ledger, handle]))?.content
    },
    async delete(ledger) {
      const start = `${JSON.stringify([ledger]).slice(0, -1)},`
      for (const key of [...kept.keys()]) if (key.startsWith(start)) drop(key)
    },
  }
}

/** The smallest limit, in tokens. Below it, the head, size and handle would be longer than the result itself. */
export const LEAST_RESULT = 100

/** A text with more characters per token of the limit is too long without counting: ordinary text has fewer. */
const MOST_CHARACTERS = 16

/** Characters per token of a head, as in ordinary English. */
const HEAD_CHARACTERS = 4
/** The most tokens of a head. */
const HEAD_TOKENS = 2000

/** Counts only if needed: very short and very long texts are decided by their length. */
export function isTooLong(text: string, limit: number, tokenizer: Tokenizer): boolean {
  // No tokenizer makes more tokens than bytes.
  if (limit === Number.POSITIVE_INFINITY || text.length * 3 <= limit) return false
  return text.length > limit * MOST_CHARACTERS || tokenizer.count(text) > limit
}

/** Characters of the head of a long result: at most a quarter of the limit, so that scripts with one token per letter fit. */
export function headLength(limit: number): number {
  return Math.min(HEAD_TOKENS * HEAD_CHARACTERS, Math.floor(limit / 4) * HEAD_CHARACTERS)
}

/** The most characters in one answer of the tool that reads stored results: one token each at worst. */
const MOST_READ = 25_000
const LEAST_READ = 1000

/** The limit of one answer in characters, given the token limit of a result. */
export function readLength(limit = Number.POSITIVE_INFINITY): number {
  return Math.max(LEAST_READ, Math.min(limit, MOST_READ))
}
