/** Notes of a review, stored with the definition. With these notes a start need not scan or hash. */

import { dropUndefined } from '@toolwell/core/internal'
import { fingerprint } from '../../definition/fingerprint.js'
import type { Ask } from '../scan/name-index.js'
import type { Finding } from '../scan/rules.js'
import type { Examination } from '../scan/scan.js'
import { type ListedServer, readToolName } from './lock.js'

/** Fingerprints of one listing. */
export interface Prints {
  readonly instructions: string
  readonly tools: ReadonlyMap<string, string>
  /** Names of two different tools. */
  readonly twice: ReadonlySet<string>
}

/** Most tools have no findings: their note is only the fingerprint. */
type Note = string | WholeNote

interface WholeNote {
  readonly print: string
  readonly twice?: true
  /** Missing: not scanned. */
  readonly findings?: readonly Finding[]
  readonly asks?: readonly (readonly [Ask, string])[]
}

export interface ReviewNotes {
  /** The rules of the scan: see `scanStamp`. */
  readonly scan: string
  /** Everything is trusted on first use in this scope, without hard findings. Without a lock, nothing is left to decide. */
  readonly settledFor?: string
  readonly instructions: Note
  readonly tools: readonly (readonly [name: string, note: Note])[]
}

export function fingerprintListing(server: ListedServer): Prints {
  const tools = new Map<string, string>()
  const twice = new Set<string>()
  for (const tool of server.tools) {
    const name = readToolName(tool)
    if (name === undefined) continue
    const print = fingerprint(tool)
    const known = tools.get(name)
    if (known === undefined) tools.set(name, print)
    else if (known !== print) twice.add(name)
  }
  return { instructions: instructionsPrint(server), tools, twice }
}

export function instructionsPrint({ instructions = '' }: ListedServer): string {
  return fingerprint({ instructions })
}

/** Questions about every tool name with their usual answers, which are not stored. */
const usual = (name: string): [Ask, string][] => [
  [`lookalike:${name}`, ''],
  [`clone:${name}`, ''],
]

export function writeNotes(
  { instructions, tools, twice }: Prints,
  examined: (print: string) => Examination | undefined,
  stamp: string,
): ReviewNotes {
  const note = (print: string, name: string): Note => {
    const found = examined(print)
    const own = new Map<string, string>(usual(name))
    const asks = [...(found?.asks ?? [])].filter(([ask, answer]) => own.get(ask) !== answer)
    if (found?.findings.length === 0 && asks.length === 0 && !twice.has(name)) return print
    return {
      print,
      ...dropUndefined({
        twice: twice.has(name) || undefined,
        findings: found?.findings,
        asks: asks.length > 0 ? asks : undefined,
      }),
    }
  }
  return {
    scan: stamp,
    instructions: note(instructions, ''),
    tools: [...tools].map(([name, print]) => [name, note(print, name)]),
  }
}

/** Do the notes say that nothing is left to decide? */
export function areSettled(notes: unknown, stamp: string, scope: string): boolean {
  const { scan, settledFor } = (notes ?? {}) as Partial<ReviewNotes>
  return scan === stamp && settledFor === scope
}

/** Are the notes without findings? False if they cannot be read. */
export function hasNoFindings(notes: unknown): boolean {
  const isPlain = (note: Note) => typeof note === 'string' || note.findings?.length === 0
  try {
    const { instructions, tools } = notes as ReviewNotes
    return isPlain(instructions) && tools.every(([, note]) => isPlain(note))
  } catch {
    return false
  }
}

/** The findings of notes, without the questions, whose answers depend on other servers. */
export function summariseNotes({ instructions, tools }: ReviewNotes): unknown {
  const found = (note: Note) =>
    typeof note === 'string' ? note : [note.print, note.twice ?? false, note.findings ?? null]
  return [found(instructions), tools.map(([name, note]) => [name, found(note)])]
}

interface ReadNotes {
  readonly prints: Prints
  readonly examined: Map<string, Examination>
}

/** Undefined if the notes are invalid, or from another version or other scan rules. */
export function readNotes(value: unknown, stamp: string): ReadNotes | undefined {
  try {
    return decoded(value, stamp)
  } catch {
    // A host's cache may return anything.
    return undefined
  }
}

/** Creates `asks` on demand: they are needed only when names are compared. */
function examinationOf(
  name: string,
  findings: readonly Finding[],
  asks: readonly (readonly [Ask, string])[],
): Examination {
  return {
    findings,
    get asks() {
      return new Map([...usual(name), ...asks])
    },
  }
}

function decoded(value: unknown, stamp: string): ReadNotes | undefined {
  const { scan, instructions, tools } = (value ?? {}) as Partial<ReviewNotes>
  if (scan !== stamp || instructions === undefined || !Array.isArray(tools)) return undefined
  const examined = new Map<string, Examination>()
  const prints = new Map<string, string>()
  const twice = new Set<string>()
  const read = (name: string, note: Note): string => {
    const whole: WholeNote = typeof note === 'string' ? { print: note, findings: [] } : note
    const { print, findings, asks = [] } = whole
    if (typeof print !== 'string') throw new Error('no fingerprint')
    if (findings) examined.set(print, examinationOf(name, findings, asks))
    if (whole.twice) twice.add(name)
    return print
  }
  for (const [name, note] of tools) prints.set(name, read(name, note))
  return { prints: { instructions: read('', instructions), tools: prints, twice }, examined }
}
