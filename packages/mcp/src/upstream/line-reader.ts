/** Cuts a stream of bytes into lines. Reads each byte once, and limits the length of a line. */

export interface LineReader {
  /** The lines that this chunk completed. Throws where a line outgrows the bound. */
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

/** One message of a server may be this long: ten thousand tools fit. */
export const MOST_BYTES = 64 * 1024 * 1024
export const TOO_LONG = `the server sent a message of more than ${MOST_BYTES / 1024 / 1024} MB`
