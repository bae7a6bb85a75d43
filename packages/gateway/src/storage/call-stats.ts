/**
 * Sums of calls, kept on every write: per tool, and per client and project in each hour. Hours become days after two days.
 * `callStatsFile` keeps them in `stats.jsonl`: one line for each record, replaced by the sums when the file is long or a day ends.
 */
import { readFileSync } from 'node:fs'
import { appendFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Upper bounds of the duration counts in milliseconds. One more count is for longer calls. */
export const DURATION_BOUNDS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000,
]

export interface ToolStats {
  readonly server: string
  readonly tool: string
  /** Calls that ran, with those that failed. */
  readonly calls: number
  readonly errors: number
  /** Calls that the gateway did not run. */
  readonly refused: number
  readonly tokensIn: number
  readonly tokensOut: number
  /** Tokens of the longest result. */
  readonly largest: number
  readonly bytesOut: number
  readonly milliseconds: number
  /** Milliseconds since the epoch. */
  readonly lastUsed: number
  /** Calls per duration, by `DURATION_BOUNDS`. */
  readonly durations: readonly number[]
}

/** One client in one project, in an hour or a day (UTC). */
export interface SlotStats {
  readonly unit: 'hour' | 'day'
  /** Milliseconds since the epoch. */
  readonly start: number
  readonly client: string
  readonly project: string
  readonly calls: number
  readonly errors: number
  readonly refused: number
  readonly searches: number
  /** Tokens of results. */
  readonly tokensOut: number
  /** Tokens of search answers and refusals, which a client with all definitions would not read. */
  readonly answerTokens: number
  /** How often the client listed the tools, the tokens of those lists, and of all definitions at those moments. */
  readonly lists: number
  readonly listTokens: number
  readonly allTokens: number
}

interface Source {
  readonly time: number
  readonly client: string
  readonly project: string
}

export interface CallFacts extends Source {
  readonly server: string
  readonly tool: string
  readonly outcome: 'ok' | 'error' | 'refused'
  readonly milliseconds: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly bytesOut: number
}

export interface CallStats {
  recordCall(call: CallFacts): void
  recordSearch(search: Source & { readonly tokens: number }): void
  recordList(list: Source & { readonly listTokens: number; readonly allTokens: number }): void
  tools(): readonly ToolStats[]
  /** Oldest first. */
  slots(): readonly SlotStats[]
  /** Writes queued records. */
  flush(): Promise<void>
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly number[] ? number[] : T[K] }
type Tool = Mutable<ToolStats>
type Slot = Mutable<SlotStats>
export type Line = readonly unknown[]

const HOUR = 3_600_000
const DAY = 24 * HOUR
export const HOURS_KEPT = 48 * HOUR
export const DAYS_KEPT = 90 * DAY
/** Tools and, in each slot, clients in a project. More are counted as one. */
const MOST_TOOLS = 10_000
const MOST_PAIRS = 100
const OTHERS = 'others'
const LONGEST_NAME = 200

export class Sums {
  readonly tools = new Map<string, Tool>()
  readonly #slots = new Map<number, Map<string, Slot>>()
  #newestHour = 0

  get slots(): Slot[] {
    return [...this.#slots.values()]
      .flatMap((pairs) => [...pairs.values()])
      .sort((one, other) => one.start - other.start)
  }

  /** Adds a record or a sum. Returns whether a day has ended since the last record. */
  add(line: Line): boolean {
    const [kind, ...values] = line
    if (kind === 'tool') this.#addTool(values)
    else if (kind === 'slot') this.#addSlot(values)
    else return this.#record(String(kind), values)
    return false
  }

  *lines(): Generator<Line> {
    for (const tool of this.tools.values()) yield ['tool', ...TOOL_KEYS.map((key) => tool[key])]
    for (const slot of this.slots) yield ['slot', ...SLOT_KEYS.map((key) => slot[key])]
  }

  #record(kind: string, [time, client, project, ...rest]: readonly unknown[]): boolean {
    const at = count(time)
    const isNewDay = this.#age(at)
    const slot = this.#findSlot('hour', at - (at % HOUR), name(client), name(project))
    if (kind === 'search') {
      slot.searches++
      slot.answerTokens += count(rest[0])
    } else if (kind === 'list') {
      slot.lists++
      slot.listTokens += count(rest[0])
      slot.allTokens += count(rest[1])
    } else if (kind === 'call') this.#recordCall(slot, at, rest)
    return isNewDay
  }

  #recordCall(slot: Slot, at: number, values: readonly unknown[]): void {
    const [server, called, outcome, took, tokensIn, tokensOut, bytesOut] = values
    const isRefused = outcome === 'refused'
    if (isRefused) {
      slot.refused++
      slot.answerTokens += count(tokensOut)
    } else {
      slot.calls++
      slot.tokensOut += count(tokensOut)
    }
    if (outcome === 'error') slot.errors++
    // A client may ask for any name. Only names of servers are kept.
    if (server === '') return
    const tool = this.#findTool(name(server), name(called))
    tool.lastUsed = Math.max(tool.lastUsed, at)
    if (isRefused) {
      tool.refused++
      return
    }
    tool.calls++
    if (outcome === 'error') tool.errors++
    tool.tokensIn += count(tokensIn)
    tool.tokensOut += count(tokensOut)
    tool.largest = Math.max(tool.largest, count(tokensOut))
    tool.bytesOut += count(bytesOut)
    const milliseconds = count(took)
    tool.milliseconds += milliseconds
    const bound = DURATION_BOUNDS.findIndex((each) => milliseconds <= each)
    const place = bound < 0 ? DURATION_BOUNDS.length : bound
    tool.durations[place] = (tool.durations[place] ?? 0) + 1
  }

  #addTool([server, tool, ...sums]: readonly unknown[]): void {
    const known = this.#findTool(name(server), name(tool))
    TOOL_KEYS.slice(2).forEach((key, index) => {
      if (key === 'durations')
        known.durations = known.durations.map((each, at) => each + count((sums[index] as unknown[])?.[at]))
      else if (key === 'lastUsed' || key === 'largest') known[key] = Math.max(known[key], count(sums[index]))
      else known[key as 'calls'] += count(sums[index])
    })
  }

  #addSlot([unit, start, client, project, ...sums]: readonly unknown[]): void {
    const slot = this.#findSlot(unit === 'day' ? 'day' : 'hour', count(start), name(client), name(project))
    SLOT_KEYS.slice(4).forEach((key, index) => {
      slot[key as 'calls'] += count(sums[index])
    })
    this.#newestHour = Math.max(this.#newestHour, unit === 'hour' ? count(start) : 0)
  }

  #findTool(server: string, tool: string): Tool {
    const key = `${server}\n${tool}`
    const known = this.tools.get(key)
    if (known) return known
    if (this.tools.size >= MOST_TOOLS && server !== OTHERS) return this.#findTool(OTHERS, OTHERS)
    const made: Tool = {
      server,
      tool,
      calls: 0,
      errors: 0,
      refused: 0,
      tokensIn: 0,
      tokensOut: 0,
      largest: 0,
      bytesOut: 0,
      milliseconds: 0,
      lastUsed: 0,
      durations: [...DURATION_BOUNDS.map(() => 0), 0],
    }
    this.tools.set(key, made)
    return made
  }

  #findSlot(unit: Slot['unit'], start: number, client: string, project: string): Slot {
    // An hour and a day that begin together are different slots.
    const at = unit === 'day' ? -start : start
    const pairs = this.#slots.get(at) ?? new Map<string, Slot>()
    this.#slots.set(at, pairs)
    const key = `${client}\n${project}`
    const known = pairs.get(key)
    if (known) return known
    if (pairs.size >= MOST_PAIRS && client !== OTHERS) return this.#findSlot(unit, start, OTHERS, '')
    const made: Slot = {
      unit,
      start,
      client,
      project,
      calls: 0,
      errors: 0,
      refused: 0,
      searches: 0,
      tokensOut: 0,
      answerTokens: 0,
      lists: 0,
      listTokens: 0,
      allTokens: 0,
    }
    pairs.set(key, made)
    return made
  }

  /** Turns old hours into days, once an hour. Returns whether a day has ended. */
  #age(now: number): boolean {
    const hour = now - (now % HOUR)
    if (hour <= this.#newestHour) return false
    const isNewDay = Math.floor(hour / DAY) > Math.floor(this.#newestHour / DAY)
    this.#newestHour = hour
    for (const [at, pairs] of this.#slots) {
      const isOldDay = at < 0 && -at < hour - DAYS_KEPT
      const isOldHour = at >= 0 && at < hour - HOURS_KEPT
      if (isOldDay || isOldHour) this.#slots.delete(at)
      if (!isOldHour) continue
      for (const slot of pairs.values())
        this.#addSlot(['day', at - (at % DAY), ...SLOT_KEYS.slice(2).map((key) => slot[key])])
    }
    return isNewDay
  }
}

const TOOL_KEYS = [
  'server',
  'tool',
  'calls',
  'errors',
  'refused',
  'tokensIn',
  'tokensOut',
  'largest',
  'bytesOut',
  'milliseconds',
  'lastUsed',
  'durations',
] as const satisfies readonly (keyof ToolStats)[]

const SLOT_KEYS = [
  'unit',
  'start',
  'client',
  'project',
  'calls',
  'errors',
  'refused',
  'searches',
  'tokensOut',
  'answerTokens',
  'lists',
  'listTokens',
  'allTokens',
] as const satisfies readonly (keyof SlotStats)[]

const count = (value: unknown): number => (Number.isFinite(value) ? Math.max(0, value as number) : 0)
const name = (value: unknown): string => String(value ?? '').slice(0, LONGEST_NAME)

/** A client without its version. */
export const shorten = (client: string) => client.replace(/ v?\d[\w.+-]*$/, '')

export function createStats(
  sums: () => Sums,
  keep: (line: Line, isNewDay: boolean) => void,
  flush: CallStats['flush'],
) {
  const record = (...line: unknown[]) => keep(line, sums().add(line))
  return {
    recordCall: ({
      time,
      client,
      project,
      server,
      tool,
      outcome,
      milliseconds,
      tokensIn,
      tokensOut,
      bytesOut,
    }) =>
      record(
        'call',
        time,
        shorten(client),
        project,
        server,
        tool,
        outcome,
        milliseconds,
        tokensIn,
        tokensOut,
        bytesOut,
      ),
    recordSearch: ({ time, client, project, tokens }) =>
      record('search', time, shorten(client), project, tokens),
    recordList: ({ time, client, project, listTokens, allTokens }) =>
      record('list', time, shorten(client), project, listTokens, allTokens),
    tools: () => [...sums().tools.values()],
    slots: () => sums().slots,
    flush,
  } satisfies CallStats
}

export function memoryCallStats(): CallStats {
  const sums = new Sums()
  return createStats(
    () => sums,
    () => undefined,
    async () => undefined,
  )
}

/** Milliseconds in which records are collected for one write. */
const COLLECT = 200
const MOST_QUEUED = 10_000
/** Bytes after which the records become sums. */
const MAX_BYTES = 2 * 1024 * 1024

export function callStatsFile(folder: string, { maxBytes = MAX_BYTES } = {}): CallStats {
  const file = join(folder, 'stats.jsonl')
  let known: Sums | undefined
  let bytes = 0
  let limit = maxBytes
  let isDayOver = false
  let queue: string[] = []
  let writing: Promise<void> | undefined
  const sums = (): Sums => {
    if (known) return known
    known = new Sums()
    const text = readText(file)
    bytes = Buffer.byteLength(text)
    for (const line of text.split('\n')) addLine(known, line)
    return known
  }
  /** Replaces the records by their sums. Queued records are already part of them. */
  const sumUp = async () => {
    queue = []
    isDayOver = false
    const text = [...sums().lines()].map((line) => `${JSON.stringify(line)}\n`).join('')
    await writeFile(`${file}.new`, text, { mode: 0o600 })
    await rename(`${file}.new`, file)
    bytes = Buffer.byteLength(text)
    limit = Math.max(maxBytes, 2 * bytes)
  }
  const write = async () => {
    while (queue.length > 0) {
      // The empty line ends half a line of a killed process.
      const text = `\n${queue.join('\n')}\n`
      queue = []
      try {
        if (isDayOver || bytes + text.length > limit) await sumUp()
        else {
          await appendFile(file, text, { mode: 0o600 })
          bytes += Buffer.byteLength(text)
        }
      } catch {
        // The sums in memory stay right; the file misses these records until it is summed up again.
        limit = 0
      }
    }
    writing = undefined
  }
  return createStats(
    sums,
    (line, isNewDay) => {
      isDayOver ||= isNewDay
      if (queue.length >= MOST_QUEUED) limit = 0
      else queue.push(JSON.stringify(line))
      writing ??= new Promise<void>((resolve) => setTimeout(resolve, COLLECT)).then(write)
    },
    async () => {
      while (writing) await writing
    },
  )
}

function addLine(sums: Sums, text: string): void {
  if (text === '') return
  try {
    const line: unknown = JSON.parse(text)
    if (Array.isArray(line)) sums.add(line)
  } catch {
    // Half a line of a killed process.
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

/** The duration below which this share of the calls ended, in milliseconds. Undefined without calls. */
export function estimateQuantile(
  { durations }: Pick<ToolStats, 'durations'>,
  share: number,
): number | undefined {
  const total = durations.reduce((sum, each) => sum + each, 0)
  if (total === 0) return undefined
  let left = share * total
  for (const [index, number] of durations.entries()) {
    const lower = DURATION_BOUNDS[index - 1] ?? 0
    const upper = DURATION_BOUNDS[index] ?? lower
    if (number >= left) return lower + (upper - lower) * (left / number)
    left -= number
  }
  return DURATION_BOUNDS.at(-1)
}
