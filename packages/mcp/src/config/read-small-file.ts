/** Reads files that a stranger may have written: a config in a cloned folder can be a pipe, a device or endless. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

const MOST_BYTES = 1024 * 1024
/** For files that contain definitions or that a client fills with its own data. */
export const MOST_BYTES_OF_DATA = 32 * MOST_BYTES

/** The file exists, but its content is not read. */
export class UnsafeFile extends Error {
  readonly code: 'ENOTFILE' | 'EFBIG'
  readonly reason: string
  readonly fix: string

  constructor(path: string, code: UnsafeFile['code'], reason: string, fix: string) {
    super(`${path}: ${reason}. ${fix}`)
    this.code = code
    this.reason = reason
    this.fix = fix
  }
}

/** Never blocks and never reads more than `most` bytes. Throws the error of the system, or `UnsafeFile`. */
export function readSmallFile(path: string, most = MOST_BYTES): Buffer {
  // Windows has no O_NONBLOCK. Without the flag, opening a pipe waits for its writer.
  const handle = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(handle)
    if (stat.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR' })
    if (!stat.isFile())
      throw new UnsafeFile(path, 'ENOTFILE', 'this is not a regular file', 'Replace it with a regular file')
    const buffer = Buffer.allocUnsafe(Math.min(stat.size, most) + 1)
    const pieces: Buffer[] = []
    // Some files, for example below /proc, are longer than their size.
    for (let length = 0; length <= most; ) {
      const read = readSync(handle, buffer)
      if (read === 0) return Buffer.concat(pieces, length)
      pieces.push(Buffer.from(buffer.subarray(0, read)))
      length += read
    }
    throw new UnsafeFile(
      path,
      'EFBIG',
      `the file is larger than ${most < MOST_BYTES ? `${most / 1024} KB` : `${most / MOST_BYTES} MB`}`,
      'Check its content, and remove what does not belong there',
    )
  } finally {
    closeSync(handle)
  }
}

/** The reason and the fix of an error of `readSmallFile`, as clauses. */
export function describeReadError(error: unknown): { readonly reason: string; readonly fix: string } {
  if (error instanceof UnsafeFile) return error
  const { code = 'unknown' } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return { reason: 'there is no such file', fix: 'Check the path' }
  if (code === 'EISDIR') return { reason: 'this is a folder', fix: 'Give the path of a file' }
  return { reason: `the file cannot be read (${code})`, fix: 'Check its permissions' }
}
