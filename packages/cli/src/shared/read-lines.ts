/** Splits bytes into numbered lines, without byte order mark and carriage returns. Rejects binary files. */
import { createReadStream } from 'node:fs'
import { Problem } from './problem.js'

export interface Line {
  /** From 1. */
  readonly number: number
  readonly text: string
}

/** `place`: name of the source in messages. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>, place: string): AsyncGenerator<Line> {
  const decoder = new TextDecoder()
  let number = 0
  let isFirst = true
  // A line may be megabytes long and arrive in many pieces.
  let pieces: string[] = []
  const line = (last: string): Line => {
    const text = pieces.length === 0 ? last : [...pieces, last].join('')
    pieces = []
    number += 1
    return { number, text: text.endsWith('\r') ? text.slice(0, -1) : text }
  }
  for await (const chunk of bytes) {
    if (isFirst && ((chunk[0] === 0xff && chunk[1] === 0xfe) || (chunk[0] === 0xfe && chunk[1] === 0xff)))
      throw new Problem(`${place} is UTF-16.`, 'Save it as UTF-8.')
    isFirst = false
    if (chunk.includes(0)) throw new Problem(`${place} is a binary file.`, 'Give a JSON or JSONL file.')
    const text = decoder.decode(chunk, { stream: true })
    let start = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      yield line(text.slice(start, end))
      start = end + 1
    }
    if (start < text.length) pieces.push(text.slice(start))
  }
  const rest = decoder.decode()
  if (pieces.length > 0 || rest !== '') yield line(rest)
}

/** Reads a file, and turns file system errors into problems. `flag`: the flag that named the path. */
export async function* readBytes(path: string, place: string, flag: string): AsyncGenerator<Uint8Array> {
  try {
    // Large chunks are faster.
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) yield chunk as Uint8Array
  } catch (error) {
    throw fileProblem(error, place, flag)
  }
}

export function fileProblem(error: unknown, place: string, flag: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  const options = { cause: error }
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new Problem(`File not found: ${place}.`, `Check the path after ${flag}.`, options)
  if (code === 'EACCES' || code === 'EPERM')
    return new Problem(`No permission to read ${place}.`, 'Check its permissions.', options)
  if (code === 'EISDIR') return new Problem(`${place} is a folder.`, `Give ${flag} a file.`, options)
  return code === undefined
    ? error
    : new Problem(`${place} could not be read: ${code}.`, 'Check the path.', options)
}
