/** Where the files of a ledger are: its segments, and the locks of those who write them. */
import { join } from 'node:path'

/** File names end at 255 bytes nearly everywhere; the rest of a longer name goes into folders of this length. */
const LONGEST_NAME_PIECE = 200

/** Device names that Windows gives to no file, whatever its extension. */
const RESERVED_NAME = /^(?:con|prn|aux|nul|com\d|lpt\d)$/

const FIRST = /^([a-z0-9_%-]+)\.jsonl$/

/**
 * The path of a ledger without what follows for each file of it. Reversible, and never outside the folder: everything but
 * `[a-z0-9_-]` becomes `%xx` or `%uxxxx`, per UTF-16 code unit so that lone surrogates stay apart, and upper case too because
 * some file systems fold it.
 */
export function baseOf(root: string, ledger: string): string {
  const pieces: string[] = []
  const encoded = ledger.replace(/[^a-z0-9_-]/g, encodeUnit)
  for (let start = 0; start < encoded.length; start += LONGEST_NAME_PIECE) {
    const piece = encoded.slice(start, start + LONGEST_NAME_PIECE)
    pieces.push(RESERVED_NAME.test(piece) ? encodeUnit(piece.slice(0, 1)) + piece.slice(1) : piece)
  }
  return join(root, ...pieces)
}

/** Segments count from 1. A ledger whose writers all ended in order has one. */
export function segmentFile(base: string, segment: number): string {
  return segment === 1 ? `${base}.jsonl` : `${base}.${segment}.jsonl`
}

/** Who writes a segment holds its lock. A lock has the segment's number, so that nobody can remove a later one by mistake. */
export function lockFile(base: string, segment: number): string {
  return `${base}.${segment}.lock`
}

/** What its events add up to. Not one of its segments: those end in `.jsonl`. */
export function snapshotFile(base: string): string {
  return `${base}.snapshot`
}

/** The ledger whose first segment is at this path below the root, if one can be. */
export function ledgerAt(path: string): string | undefined {
  const encoded = FIRST.exec(path.replaceAll('\\', '/').replaceAll('/', ''))?.[1]
  return encoded?.replace(/%(?:u([0-9a-f]{4})|([0-9a-f]{2}))/g, (_, long?: string, short?: string) =>
    String.fromCharCode(Number.parseInt(long ?? short ?? '', 16)),
  )
}

function encodeUnit(unit: string): string {
  const code = unit.charCodeAt(0)
  return code < 0x80 ? `%${code.toString(16).padStart(2, '0')}` : `%u${code.toString(16).padStart(4, '0')}`
}
