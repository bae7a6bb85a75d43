/** The lines of a segment: one for each append, and a first one that says what the segment follows. Each has a checksum. */
import { crc32 } from 'node:zlib'
import { isRecord } from '../../../base/data.js'
import { LEDGER_FORMAT, type LedgerEvent } from '../../event.js'

/** What a segment follows: the one before counts up to here, whatever is written to it later. */
export interface After {
  readonly segment: number
  readonly size: number
  readonly count: number
}

export type Line =
  | { readonly kind: 'events'; readonly events: readonly LedgerEvent[] }
  | { readonly kind: 'after'; readonly after: After }
  /** Why it cannot be believed, in words that follow "line 3 of …". */
  | { readonly kind: 'damaged'; readonly problem: string }
  | { readonly kind: 'too-new'; readonly found: number }

/** The first format whose lines have a checksum. */
const FIRST_WITH_SUM = 3

export function eventsLine(events: string): Buffer {
  return summed(`"events":${events}}`)
}

export function afterLine(after: After): Buffer {
  return summed(`"after":${JSON.stringify(after)}}`)
}

function summed(rest: string): Buffer {
  const bytes = Buffer.from(rest, 'utf8')
  return Buffer.concat([
    Buffer.from(`{"v":${LEDGER_FORMAT},"sum":"${sumOf(bytes)}",`),
    bytes,
    Buffer.from('\n'),
  ])
}

function sumOf(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(8, '0')
}

const OPENING = /^\{"v":(\d+),"sum":"([0-9a-f]{8})",/

/** A line without its end. */
export function readLine(bytes: Buffer): Line {
  const opening = OPENING.exec(bytes.toString('latin1', 0, 40))
  const format = Number(opening?.[1])
  if (opening && format <= LEDGER_FORMAT) {
    if (format < FIRST_WITH_SUM || sumOf(bytes.subarray(opening[0].length)) !== opening[2])
      return { kind: 'damaged', problem: 'does not have the checksum that it was written with' }
  }
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    return { kind: 'damaged', problem: 'is not JSON' }
  }
  if (!isRecord(value)) return { kind: 'damaged', problem: 'is not an object' }
  const { v, events, after } = value
  if (typeof v !== 'number') return { kind: 'damaged', problem: 'has no format number "v"' }
  if (v > LEDGER_FORMAT) return { kind: 'too-new', found: v }
  if (v >= FIRST_WITH_SUM && !opening) return { kind: 'damaged', problem: 'has no checksum' }
  if (opening && isAfter(after)) return { kind: 'after', after }
  if (!Array.isArray(events)) return { kind: 'damaged', problem: 'has no list of events' }
  return { kind: 'events', events: events as LedgerEvent[] }
}

function isAfter(value: unknown): value is After {
  return isRecord(value) && [value.segment, value.size, value.count].every(Number.isSafeInteger)
}

/** Whether bytes without the end of a line can be the beginning of one of ours: a disk may have kept zeros where it had not written yet. */
export function isBeginning(bytes: Buffer): boolean {
  const text = bytes.toString('latin1', 0, 4096).replace(/\0+/g, '').slice(0, 5)
  return '{"v":'.startsWith(text)
}
