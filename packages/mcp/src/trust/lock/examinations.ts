/** What the scan says of every definition in use: each is scanned once, and again only where names of other servers matter to it. */
import type { DefinitionCache } from '../../definition/cache.js'
import { sha256 } from '../../definition/stored-definition.js'
import type { Finding } from '../scan/rules.js'
import { type RuleSettings, scanStamp } from '../scan/rules.js'
import { createScanner, type Examination, type Scanner } from '../scan/scan.js'
import { type ListedServer, namedTools } from './lock.js'
import {
  fingerprintListing,
  type Prints,
  type ReviewNotes,
  readNotes,
  summariseNotes,
  writeNotes,
} from './review-notes.js'

/** Milliseconds of work in one piece: a large server must not stop the others. */
const SLICE = 20

export interface Examinations {
  /** From now on the names of these tools count. Gives the fingerprints, from the notes where these hold. */
  register(server: ListedServer, notes?: unknown): Prints
  /** The same for a server of which there is nothing to tell: its notes are read when they are wanted. */
  registerLazily(server: ListedServer, notes: unknown): void
  /** Whether the notes that came with a server spare the scan. */
  hasNotes(server: string): boolean
  /** Scans now if it has not been done. */
  findingsOf(server: string, definition: unknown, print: string): readonly Finding[]
  /** Only what is known already. */
  known(server: string, print: string): readonly Finding[]
  /** Scans what is new, a little at a time; only what `isWanted`, by fingerprint. */
  prepare(server: ListedServer, isWanted: (tool: string, print: string) => boolean): Promise<void>
  /** Scans again what other names have changed, a little at a time. */
  compare(isOver: () => boolean): Promise<Compared>
  notesOf(server: string): ReviewNotes | undefined
  /** Its names count no longer. */
  forget(server: string): void
}

export interface Compared {
  /** Servers of which something else is found now. */
  readonly changed: readonly string[]
  /** Servers of which the same is found, for other reasons: their notes are to be kept anew, or every start would scan again. */
  readonly noted: readonly string[]
}

const NOTHING: Examination = { findings: [], asks: new Map() }

interface Met {
  readonly server: ListedServer
  /** Missing: still in the notes. */
  readonly prints?: Prints
  /** Those that it came with, where they hold. */
  readonly notes?: unknown
}

export interface ExaminationOptions {
  /** Without the scan, only fingerprints are kept. */
  readonly scan?: boolean
  /** Rules of the scan that are switched off. */
  readonly rules?: RuleSettings
  /** Comparisons that found nothing new, also those of earlier programs. */
  readonly compared?: Pick<DefinitionCache, 'wasCompared' | 'noteCompared'>
}

export function createExaminations({
  scan: isOn = true,
  rules = {},
  compared: comparisons = {},
}: ExaminationOptions = {}): Examinations {
  const stamp = scanStamp(rules)
  const met = new Map<string, Met>()
  const results = new Map<string, Map<string, Examination>>()
  let scanner: Scanner | undefined
  let hasNewNames = false

  const scan = (): Scanner => {
    scanner ??= createScanner(
      [...met.values()].map(({ server }) => server),
      { rules },
    )
    return scanner
  }
  const resultsOf = (server: string) => {
    const { server: listed, notes, prints } = met.get(server) ?? {}
    if (listed && !prints) meet(listed, notes)
    const own = results.get(server) ?? new Map<string, Examination>()
    results.set(server, own)
    return own
  }
  const examine = (server: string, definition: unknown, print: string): Examination => {
    const own = resultsOf(server)
    const known = own.get(print)
    if (known) return known
    if (!isOn) return NOTHING
    const examination = scan().examine(server, definition)
    own.set(print, examination)
    return examination
  }
  /** An index can add names and cannot remove them. */
  const takeNames = (server: ListedServer) => {
    hasNewNames = true
    if (met.has(server.name)) scanner = undefined
    else scanner?.add(server)
  }
  const meet = (server: ListedServer, given?: unknown): Prints => {
    const before = met.get(server.name)
    const isSame = before?.server.tools === server.tools && before.server.instructions === server.instructions
    if (isSame && before.prints) return before.prints
    const notes = isSame ? before.notes : given
    const noted = readNotes(notes, stamp)
    const prints = noted?.prints ?? fingerprintListing(server)
    if (!isSame) takeNames(server)
    met.set(server.name, { server, prints, notes: noted && notes })
    // What is no longer listed is forgotten, or a server that changes all the time would fill the memory.
    const wanted = new Set([prints.instructions, ...prints.tools.values()])
    const own = [...(results.get(server.name) ?? [])].filter(([print]) => wanted.has(print))
    results.set(server.name, new Map([...(noted?.examined ?? []), ...own]))
    return prints
  }

  return {
    register: meet,
    registerLazily(server, notes) {
      takeNames(server)
      met.set(server.name, { server, notes })
    },
    hasNotes: (server) => met.get(server)?.notes !== undefined,
    findingsOf: (server, definition, print) => examine(server, definition, print).findings,
    known: (server, print) => resultsOf(server).get(print)?.findings ?? [],
    async prepare(server, isWanted) {
      const { instructions, tools } = meet(server)
      const rest = createRest()
      examine(server.name, { instructions: server.instructions ?? '' }, instructions)
      for (const [name, tool] of namedTools(server)) {
        await rest()
        const print = tools.get(name)
        if (print !== undefined && isWanted(name, print)) examine(server.name, tool, print)
      }
    },
    async compare(isOver) {
      const changed = new Set<string>()
      const noted = new Set<string>()
      const rest = createRest()
      while (isOn && hasNewNames && !isOver()) {
        hasNewNames = false
        const key = keyOf([...met.values()], stamp)
        if (key !== undefined && comparisons.wasCompared?.(key)) continue
        const told = changed.size
        for (const [name, { server }] of [...met]) {
          if (!met.has(name)) continue
          const prints = meet(server)
          const tools = namedTools(server)
          for (const [print, old] of [...resultsOf(name)]) {
            await rest()
            if (isOver()) return { changed: [...changed], noted: [] }
            if (scan().holds(name, old.asks)) continue
            const tool = [...prints.tools].find(([, each]) => each === print)?.[0]
            const definition =
              tool === undefined ? { instructions: server.instructions ?? '' } : tools.get(tool)
            const fresh = scan().examine(name, definition)
            results.get(name)?.set(print, fresh)
            const isSame = JSON.stringify(fresh.findings) === JSON.stringify(old.findings)
            ;(isSame ? noted : changed).add(name)
          }
        }
        if (key !== undefined && changed.size === told && !hasNewNames) comparisons.noteCompared?.(key)
      }
      // What it has read fills memory, and is seldom wanted again.
      if (!hasNewNames) scanner = undefined
      return { changed: [...changed], noted: [...noted].filter((name) => !changed.has(name)) }
    },
    notesOf(server) {
      const known = met.get(server)
      return known && isOn
        ? writeNotes(meet(known.server), (print) => results.get(server)?.get(print), stamp)
        : undefined
    },
    forget(server) {
      if (!met.delete(server)) return
      results.delete(server)
      scanner = undefined
      hasNewNames = true
    },
  }
}

/** Names all that a comparison depends on, and what was found, where all of it is in notes. */
function keyOf(met: readonly Met[], stamp: string): string | undefined {
  if (met.some(({ notes }) => notes === undefined)) return undefined
  const found = met.map(({ server, notes }) => [server.name, summariseNotes(notes as ReviewNotes)] as const)
  return sha256(JSON.stringify([stamp, ...found.sort(([one], [other]) => (one < other ? -1 : 1))]))
}

/** Lets others work when this has worked for a while. */
function createRest(): () => Promise<void> {
  let next = performance.now() + SLICE
  return async () => {
    if (performance.now() < next) return
    await new Promise((resolve) => setImmediate(resolve))
    next = performance.now() + SLICE
  }
}
