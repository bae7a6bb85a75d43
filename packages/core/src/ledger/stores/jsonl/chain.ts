/** Reads a ledger from its segments: the newest that says what it follows, and each before it as far as its successor counts it. */
import type { LedgerEvent } from '../../event.js'
import { isMissing, readFrom, sizeOf } from './files.js'
import { type After, isBeginning, readLine } from './lines.js'
import { segmentFile } from './names.js'

const NEWLINE = 0x0a

/** How far a ledger is whole: the bytes of whole lines in its newest segment, and the events up to there. */
export interface Extent {
  readonly segment: number
  readonly size: number
  readonly count: number
  /** Where its last line of events begins, if it is known: its bytes and the events before it. */
  readonly line?: { readonly size: number; readonly count: number } | undefined
}

/** Where a ledger cannot be believed any more. Everything before it can. */
export interface Damage {
  readonly file: string
  readonly line: number
  readonly problem: string
  /** The last place that is whole. */
  readonly at: After
  /** Written by a newer version. */
  readonly tooNew?: number
}

export interface Chain {
  readonly events: readonly LedgerEvent[]
  readonly extent: Extent
  /** Bytes behind the last whole line: of an append that was cut off, which the next one removes. */
  readonly torn: number
  readonly damage?: Damage
}

/** The newest segment there is, whole or not; 0 where there is none. Numbers have no gaps. */
export function topOf(base: string, from = 1): number {
  let top = from - 1
  while (sizeOf(segmentFile(base, top + 1)) !== undefined) top++
  return top
}

/** Whether somebody has taken over from whoever writes this segment. */
export function isFenced(base: string, segment: number): boolean {
  return sizeOf(segmentFile(base, segment + 1)) !== undefined
}

/** What a segment says that it follows; undefined where it does not (yet). */
async function afterOf(base: string, segment: number): Promise<{ after: After; size: number } | undefined> {
  // A first line is short.
  const bytes = await readFrom(segmentFile(base, segment), 0, 1024)
  const end = bytes.indexOf(NEWLINE)
  const line = end === -1 ? undefined : readLine(bytes.subarray(0, end))
  return line?.kind === 'after' ? { after: line.after, size: end + 1 } : undefined
}

/** The first event of a ledger, where its first line is short: that of a fork is. */
export async function firstEvent(base: string): Promise<LedgerEvent | undefined> {
  const bytes = await readFrom(segmentFile(base, 1), 0, 4096)
  const end = bytes.indexOf(NEWLINE)
  const line = end === -1 ? undefined : readLine(bytes.subarray(0, end))
  return line?.kind === 'events' ? line.events[0] : undefined
}

/** `known` is a place that was whole before: only what follows it is read. */
export async function readChain(base: string, known?: Extent): Promise<Chain> {
  for (;;) {
    const top = topOf(base, Math.max(1, known?.segment ?? 1))
    try {
      const chain = await readFromTop(base, top, known)
      // What was whole before may have been replaced since.
      return chain.damage && known ? await readChain(base) : chain
    } catch (error) {
      // It was deleted while it was read.
      if (!isMissing(error)) throw error
    }
  }
}

interface Part {
  readonly segment: number
  readonly from: number
  /** Undefined for the newest. */
  readonly to?: number
}

async function readFromTop(base: string, top: number, known: Extent | undefined): Promise<Chain> {
  if (known && known.segment > 0 && top === known.segment) {
    const size = sizeOf(segmentFile(base, top))
    if (size !== undefined && size >= known.size) return readSegment(base, known)
  }
  if (top === 0) return { events: [], extent: { segment: 0, size: 0, count: 0 }, torn: 0 }
  // From the newest that says what it follows back to the first, or to what is known, and then forward again.
  const parts: Part[] = []
  let segment = top
  let to: After | undefined
  while (segment > 1) {
    if (to && known && segment === known.segment && to.size >= known.size)
      return readParts(base, [{ segment, from: known.size, to: to.size }, ...parts], known.count)
    const found = await afterOf(base, segment)
    if (!found && to) break
    if (found) {
      parts.unshift({ segment, from: found.size, ...(to ? { to: to.size } : {}) })
      to = found.after
    }
    segment = found?.after.segment ?? segment - 1
  }
  if (segment !== 1) return readParts(base, parts)
  const isKnown = to && known?.segment === 1 && to.size >= known.size
  const first: Part = { segment: 1, from: isKnown ? known.size : 0, ...(to ? { to: to.size } : {}) }
  return readParts(base, [first, ...parts], isKnown ? known.count : 0)
}

/** `before`: how many events stand before the first of them. */
async function readParts(base: string, parts: readonly Part[], before = 0): Promise<Chain> {
  const events: LedgerEvent[] = []
  let last: Chain = { events, extent: { segment: 0, size: 0, count: 0 }, torn: 0 }
  for (const { segment, from, to } of parts) {
    const read = await readSegment(base, { segment, size: from, count: before + events.length }, to)
    for (const event of read.events) events.push(event)
    last = { ...read, events }
    if (read.damage) return last
    if (to !== undefined && read.extent.size !== to) {
      const problem = `ends after ${read.extent.size} bytes, and ${to} were counted`
      const at = { ...read.extent }
      return { ...last, damage: { file: segmentFile(base, segment), line: 0, problem, at } }
    }
  }
  return last
}

/** The lines of one segment from a whole place on. */
async function readSegment(base: string, from: Extent, to?: number): Promise<Chain> {
  const file = segmentFile(base, from.segment)
  const bytes = await readFrom(file, from.size, to)
  const events: LedgerEvent[] = []
  let start = 0
  let number = from.size === 0 ? 0 : Number.NaN
  let { line: last } = from
  const place = (): Extent => ({
    segment: from.segment,
    size: from.size + start,
    count: from.count + events.length,
    line: last,
  })
  for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
    number++
    const line = readLine(bytes.subarray(start, end))
    const begun = { size: from.size + start, count: from.count + events.length }
    const problem = addTo(events, line, from.count)
    if (problem !== undefined) {
      const counted = Number.isNaN(number) ? await lineAt(file, from.size + start) : number
      const tooNew = line.kind === 'too-new' ? { tooNew: line.found } : {}
      return {
        events,
        extent: place(),
        torn: 0,
        damage: { file, line: counted, problem, at: place(), ...tooNew },
      }
    }
    start = end + 1
    last = begun
  }
  const rest = bytes.subarray(start)
  const isOurs = from.size + start > 0 || isBeginning(rest)
  const damage = isOurs ? undefined : { file, line: 1, problem: 'is not of a ledger', at: place() }
  return { events, extent: place(), torn: rest.length, ...(damage ? { damage } : {}) }
}

/** Why the events of a line cannot be the next ones. */
function addTo(events: LedgerEvent[], line: ReturnType<typeof readLine>, before: number): string | undefined {
  if (line.kind === 'too-new') return `has format ${line.found}`
  if (line.kind === 'damaged') return line.problem
  if (line.kind === 'after') return 'belongs at the beginning of a segment'
  const { length } = events
  for (const event of line.events as (LedgerEvent | null)[]) {
    const next = before + events.length
    if (event?.id !== next) {
      // All events of a line or none.
      events.length = length
      return `has an event with id ${event?.id} where ${next} is next`
    }
    events.push(event)
  }
  return undefined
}

async function lineAt(file: string, offset: number): Promise<number> {
  let lines = 1
  for (const byte of await readFrom(file, 0, offset)) if (byte === NEWLINE) lines++
  return lines
}
