/** Bytes of a pipe to whole lines. Thin: Node alone. */
import { LONGEST_LINE } from './protocol.js'

/** Calls back with each whole line, without its end. False where a line is too long: what follows cannot be read. */
export function createLineSplitter(onLine: (line: string) => void): (chunk: Buffer) => boolean {
  let pieces: Buffer[] = []
  let held = 0
  return (chunk) => {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      const last = chunk.subarray(start, end)
      const line = pieces.length === 0 ? last : Buffer.concat([...pieces, last])
      pieces = []
      held = 0
      start = end + 1
      const text = line.toString('utf8').trim()
      if (text !== '') onLine(text)
    }
    if (start < chunk.length) {
      pieces.push(chunk.subarray(start))
      held += chunk.length - start
    }
    return held <= LONGEST_LINE
  }
}
