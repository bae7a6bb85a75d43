/** Scan results of all definitions in use. Each is scanned once, and again only if names of other servers affect it. */
import type { DefinitionCache } from '../../definition/cache.js'
import { fingerprint } from '../../definition/fingerprint.js'
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

/** Milliseconds per slice, so that a large server does not block the others. */
const SLICE = 20

export interface Examinations {
  /** Adds a server and its tool names. Returns its fingerprints, from valid notes if possible. */
  register(server: ListedServer, notes?: unknown): Prints
  /** Adds a server without findings. Its notes are read on demand. */
  registerLazily(server: ListedServer, notes: unknown): void
  /** Do the notes of a server make a scan unnecessary? */
  hasNotes(server: string): boolean
  /** Scans now, if necessary. */
  findingsOf(server: string, definition: unknown, print: string): readonly Finding[]
  /** Known findings, without a scan. */
  known(server: string, print: string): readonly Finding[]
  /** Scans new definitions in short slices: tools if `isWanted`, and `offers`. */
  prepare(
    server: ListedServer,
    isWanted: (tool: string, print: string) => boolean,
    offers: readonly object[],
  ): Promise<void>
  /** Scans definitions again that new names affect, in short slices. */
  compare(isOver: () => boolean): Promise<Compared>
  notesOf(server: string): ReviewNotes | undefined
  /** Removes a server and its names. */
  forget(server: string): void
}

export interface Compared {
  /** Servers with other findings than before. */
  readonly changed: readonly string[]
  /** Servers with the same findings, but with new notes, which must be stored. Otherwise every start would scan them again. */
  readonly noted: readonly string[]
}

const NOTHING: Examination = { findings: [], asks: new Map() }

interface Met {
  readonly server: ListedServer
  /** Missing: not read from the notes yet. */
  readonly prints?: Prints
  /** Valid notes from the cache. */
  readonly notes?: unknown
}

export interface ExaminationOptions {
  /** False: only fingerprints. */
  readonly scan?: boolean
  /** Scan rules that are switched off. */
  readonly rules?: RuleSettings
  /** Comparisons that found nothing new, also of earlier programs. */
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
  /** An index can add names, but not remove them. */
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
    // Drop results of tools that are no longer listed, to save memory.
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
    async prepare(server, isWanted, offers) {
      const { instructions, tools } = meet(server)
      const rest = createRest()
      examine(server.name, { instructions: server.instructions ?? '' }, instructions)
      for (const [name, tool] of namedTools(server)) {
        await rest()
        const print = tools.get(name)
        if (print !== undefined && isWanted(name, print)) examine(server.name, tool, print)
      }
      for (const offer of offers) {
        await rest()
        examine(server.name, offer, fingerprint(offer))
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
        const before = changed.size
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
        if (key !== undefined && changed.size === before && !hasNewNames) comparisons.noteCompared?.(key)
      }
      // Free the index, which is seldom needed again.
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

/** Key of a comparison: its inputs and findings. Undefined if a server has no notes. */
function keyOf(met: readonly Met[], stamp: string): string | undefined {
  if (met.some(({ notes }) => notes === undefined)) return undefined
  const found = met.map(({ server, notes }) => [server.name, summariseNotes(notes as ReviewNotes)] as const)
  return sha256(JSON.stringify([stamp, ...found.sort(([one], [other]) => (one < other ? -1 : 1))]))
}

/** Creates a function that yields to the event loop after each slice. */
function createRest(): () => Promise<void> {
  let next = performance.now() + SLICE
  return async () => {
    if (performance.now() < next) return
    await new Promise((resolve) => setImmediate(resolve))
    next = performance.now() + SLICE
  }
}
