/** The seam for results that are too large to send: where they are kept whole. Two drivers: memory, and a folder of files. */

import type { Tokenizer } from '../base/tokens.js'

/** A kept result: text, or the bytes of a file. */
export type KeptContent =
  | { readonly text: string }
  | { readonly data: string; readonly mediaType: string; readonly name?: string }

export interface ResultStore {
  /**
   * Keeps a result under the ledger it was given to. The same handle again replaces it. False where there is no room for
   * it: then nothing is kept.
   */
  write(ledger: string, handle: string, content: KeptContent): Promise<boolean>
  /** Undefined where it is not there, or not any more. */
  read(ledger: string, handle: string): Promise<KeptContent | undefined>
  /** Removes everything that is kept under a ledger. None is no mistake. */
  delete?(ledger: string): Promise<void>
}

export interface ResultStoreLimits {
  /** Bytes of everything that is kept; the oldest makes room. */
  readonly maxBytes?: number
  /** Milliseconds after which a result is gone. */
  readonly maxAge?: number
}

/** An estimate that is never too small by much: three bytes at most for each UTF-16 code unit. */
export function estimateBytes(content: KeptContent): number {
  if ('data' in content) return content.data.length
  const { text } = content
  let size = text.length
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) size += 2
  return size
}

// The default place for kept results: this process's memory, bounded, and gone when it ends.

const MAX_BYTES = 64 * 1024 * 1024
const MAX_AGE = 24 * 60 * 60 * 1000

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

// How long a result may be, and whether a text is longer than that.

/** Below this a head, a size and a handle would be longer than what they stand for. */
export const LEAST_RESULT = 100

/** Characters for each token above which a text is long without being counted: no ordinary text has so many. */
const MOST_CHARACTERS = 16

/** Characters for each token of a head: as in ordinary English, so that it stays well below the limit. */
const HEAD_CHARACTERS = 4
/** Tokens of a head, where the limit is not smaller. */
const HEAD_TOKENS = 2000

/** Counts no more of it than needed: what is far too long is not read to its end. */
export function isTooLong(text: string, limit: number, tokenizer: Tokenizer): boolean {
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
