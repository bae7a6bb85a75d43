/** Splits a byte stream into lines in linear time, with a maximum line length. */

export interface LineReader {
  /** Returns the lines that this chunk completes. Throws if a line is too long. */
  push(chunk: Buffer): string[]
  clear(): void
}

export function createLineReader(most: number): LineReader {
  let parts: Buffer[] = []
  let length = 0
  return {
    push(chunk) {
      const lines: string[] = []
      let from = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        parts.push(chunk.subarray(from, end))
        lines.push((parts.length === 1 ? parts[0] : Buffer.concat(parts))?.toString('utf8').trim() ?? '')
        parts = []
        length = 0
        from = end + 1
      }
      if (from < chunk.length) {
        parts.push(chunk.subarray(from))
        length += chunk.length - from
        if (length > most) throw new Error(`a line of more than ${most} bytes`)
      }
      return lines
    },
    clear() {
      parts = []
      length = 0
    },
  }
}

/** Maximum length of one message. Ten thousand tools fit. */
export const MOST_BYTES = 64 * 1024 * 1024
export const TOO_LONG = `the server sent a message of more than ${MOST_BYTES / 1024 / 1024} MB`
