/** What a review found out about a definition, in the form that is kept beside it: with these notes a start scans and hashes nothing. */
import type { Finding } from '../scan/finding.js'
import { type Examination, SCAN_VERSION } from '../scan/scan.js'
import type { Ask } from '../scan/shadowing.js'
import { fingerprint } from './fingerprint.js'
import { type ListedServer, nameOf } from './lock.js'

/** Fingerprints of one listing. */
export interface Prints {
  readonly instructions: string
  readonly tools: ReadonlyMap<string, string>
  /** Names that two tools have which are not the same. */
  readonly twice: ReadonlySet<string>
}

interface Note {
  readonly print: string
  readonly twice?: true
  /** Absent: not scanned. */
  readonly findings?: readonly Finding[]
  readonly asks?: readonly (readonly [Ask, string])[]
}

export interface ReviewNotes {
  readonly scan: number
  readonly instructions: Note
  readonly tools: readonly (readonly [name: string, note: Note])[]
}

export function printsOf(server: ListedServer): Prints {
  const tools = new Map<string, string>()
  const twice = new Set<string>()
  for (const tool of server.tools) {
    const name = nameOf(tool)
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

/** Every tool is asked these about its own name; the usual answer is not worth keeping. */
const usual = (name: string): [Ask, string][] => [
  [`lookalike:${name}`, ''],
  [`clone:${name}`, ''],
]

export function writeNotes(
  { instructions, tools, twice }: Prints,
  examined: (print: string) => Examination | undefined,
): ReviewNotes {
  const note = (print: string, name: string): Note => {
    const found = examined(print)
    const own = new Map<string, string>(usual(name))
    const asks = [...(found?.asks ?? [])].filter(([ask, answer]) => own.get(ask) !== answer)
    return {
      print,
      ...(twice.has(name) ? { twice: true } : {}),
      ...(found ? { findings: found.findings } : {}),
      ...(asks.length > 0 ? { asks } : {}),
    }
  }
  return {
    scan: SCAN_VERSION,
    instructions: note(instructions, ''),
    tools: [...tools].map(([name, print]) => [name, note(print, name)]),
  }
}

interface ReadNotes {
  readonly prints: Prints
  readonly examined: Map<string, Examination>
}

/** Undefined where they are none, or of another version of the scan. */
export function readNotes(value: unknown): ReadNotes | undefined {
  try {
    return decoded(value)
  } catch {
    // A host's own cache may give back anything.
    return undefined
  }
}

function decoded(value: unknown): ReadNotes | undefined {
  const { scan, instructions, tools } = (value ?? {}) as Partial<ReviewNotes>
  if (scan !== SCAN_VERSION || typeof instructions?.print !== 'string' || !Array.isArray(tools))
    return undefined
  const examined = new Map<string, Examination>()
  const keep = (name: string, { print, findings, asks = [] }: Note) => {
    if (findings) examined.set(print, { findings, asks: new Map([...usual(name), ...asks]) })
  }
  keep('', instructions)
  for (const [name, note] of tools) keep(name, note)
  return {
    prints: {
      instructions: instructions.print,
      tools: new Map(tools.map(([name, { print }]) => [name, print])),
      twice: new Set(tools.filter(([, { twice }]) => twice).map(([name]) => name)),
    },
    examined,
  }
}
