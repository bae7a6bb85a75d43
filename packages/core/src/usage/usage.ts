/** What was learned from use: a ring of examples for each tool and principal, and the index of their terms that the ranker adds to its own. */

import { withTimeout } from '../base/async.js'
import { shortHash } from '../base/hash.js'
import { assertKnownKeys, invalid } from '../base/options.js'
import type { Catalogue } from '../catalogue/catalogue.js'
import type { TermIndex } from '../search/index/term-index.js'
import { parseQuery } from '../search/query.js'
import {
  addToRing,
  createExamplesIndexes,
  type ExamplesIndex,
  RING_SIZE,
  type Ring,
  unpackExamples,
} from './examples.js'
import { readExample, type UsageExample, type UsageFilter, type UsageStore } from './usage-store.js'

/** Examples are written together, this many or after this long. */
const BATCH = 64
const WRITE_AFTER = 1000
/** A search does not wait longer for what was learned before, and only once; whoever asks for it waits so long. */
const READ_WAIT = 200
const STORE_WAIT = 5000

export interface UsageStatus {
  readonly tools: number
  readonly examples: number
  /** By tool, those with the most first. */
  readonly byTool: readonly { readonly tool: string; readonly examples: number }[]
}

/** What hosts may do with it: `well.usage`. */
export interface UsageControl {
  /** `principal`: as given to `open`. */
  status(filter?: UsageFilter): Promise<UsageStatus>
  /** Everything, of one principal, or of one tool (by id). */
  forget(filter?: UsageFilter): Promise<void>
  /** All examples, to be kept or taken elsewhere: they hold no text. */
  export(): Promise<readonly UsageExample[]>
  /** Writes what is waiting to be written. */
  flush(): Promise<void>
}

export interface Usage extends UsageControl {
  /** What the ranker adds for this principal: undefined where nothing is known. */
  getLearnedTerms(principal: string): Promise<readonly TermIndex[]>
  /** These tools have answered this query. Never throws. */
  learn(principal: string, query: string, tools: readonly string[]): void
}

export interface UsageSettings {
  readonly catalogue: Catalogue
  readonly store: UsageStore
  /** What is learned for one is learned for all. */
  readonly shared: boolean
  readonly report: (detail: string) => void
}

interface Learner {
  /** By tool. */
  readonly rings: Map<string, Ring>
  readonly terms: ExamplesIndex
  /** Tools whose terms are to be made anew before the next search. */
  readonly stale: Set<string>
}

export function createUsage({ catalogue, store, shared, report }: UsageSettings): Usage {
  const learners = new Map<string, Learner>()
  const createIndex = createExamplesIndexes()
  const authored = createAuthoredTerms(catalogue, createIndex())
  let waiting: UsageExample[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let reading: Promise<void> | undefined
  let isLate = false
  let writing: Promise<void> = Promise.resolve()
  let revision = -1

  const keyOf = (principal: string) => (shared || principal === '' ? '' : shortHash(principal))
  let reported = ''
  /** What fails again and again is reported once. */
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      const detail = `${what}: ${String(error)}`
      if (detail !== reported) report(detail)
      reported = detail
    }
  }

  function learnerOf(key: string): Learner {
    const known = learners.get(key)
    if (known) return known
    const made: Learner = { rings: new Map(), terms: createIndex(), stale: new Set() }
    learners.set(key, made)
    return made
  }

  function add({ principal, tool, fingerprint, words }: UsageExample): void {
    const { rings, stale } = learnerOf(principal)
    rings.set(tool, addToRing(rings.get(tool), fingerprint, words))
    stale.add(tool)
  }

  function* examples({ principal, tool }: UsageFilter = {}): Generator<UsageExample> {
    for (const [key, { rings }] of learners)
      if (principal === undefined || principal === key)
        for (const [id, ring] of rings)
          if (tool === undefined || tool === id)
            for (const words of unpackExamples(ring))
              yield { principal: key, tool: id, fingerprint: ring.fingerprint, words }
  }

  const read = (): Promise<void> => {
    reading ??= attempt('could not be read', async () => {
      const kept = (await store.read()).flatMap((example) => readExample(example) ?? [])
      // What was learned while reading is newer.
      const newer = [...examples()]
      learners.clear()
      for (const example of [...kept, ...newer]) add(example)
    })
    return reading
  }

  const answered = <T>(work: Promise<T>) =>
    withTimeout(work, STORE_WAIT, new Error(`The usage store did not answer within ${STORE_WAIT} ms.`))

  /** A search goes on without what a slow store holds. It counts as soon as it is there. */
  async function readForSearch(): Promise<void> {
    if (isLate) return
    await withTimeout(read(), READ_WAIT, new Error()).catch(() => {
      if (!isLate) report(`has not been read after ${READ_WAIT} ms: searches go on without it until it is`)
      isLate = true
    })
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting
    waiting = []
    if (batch.length > 0)
      writing = writing.then(() => attempt('could not be written', () => answered(store.append(batch))))
    return writing
  }

  /** The terms of tools that were used, or changed, since the last search. */
  function settle({ rings, terms, stale }: Learner): void {
    if (stale.size === 0) return
    terms.put(
      [...stale].map((id) => {
        const fingerprint = catalogue.get(id)?.fingerprint
        const ring = rings.get(id)
        return [id, ring && ring.fingerprint === fingerprint ? unpackExamples(ring) : []]
      }),
    )
    stale.clear()
  }

  /** A definition that changed takes what was learned of the old one with it. */
  function followCatalogue(): void {
    if (revision === catalogue.revision) return
    const changed = revision < 0 ? undefined : new Set(catalogue.changesSince(revision))
    revision = catalogue.revision
    for (const { rings, stale } of learners.values())
      for (const id of rings.keys()) if (!changed || changed.has(id)) stale.add(id)
  }

  const hashed = (filter: UsageFilter): UsageFilter => {
    assertKnownKeys(filter, ['principal', 'tool'], 'usage filter')
    for (const [key, value] of Object.entries(filter))
      if (typeof value !== 'string')
        throw invalid(key, `${key} of a usage filter must be a text. Leave it out to mean every ${key}.`)
    const { principal, ...rest } = filter
    if (principal === undefined) return rest
    if (shared)
      throw invalid(
        'principal',
        'What is learned is shared here, so what one principal taught cannot be told from the rest. Leave `principal` out.',
      )
    return { ...rest, principal: keyOf(principal) }
  }

  return {
    async getLearnedTerms(principal) {
      await readForSearch()
      const learner = learners.get(keyOf(principal))
      followCatalogue()
      if (learner) settle(learner)
      return [authored(), ...(learner ? [learner.terms.index] : [])].filter(({ size }) => size > 0)
    },
    learn(principal, query, tools) {
      try {
        const words = learnerOf(keyOf(principal)).terms.hashWords(readQueryText(query))
        if (words.length === 0) return
        for (const tool of tools) {
          const fingerprint = catalogue.get(tool)?.fingerprint
          if (fingerprint === undefined) continue
          const example = { principal: keyOf(principal), tool, fingerprint, words }
          add(example)
          waiting.push(example)
        }
        if (waiting.length >= BATCH) void flush()
        else if (waiting.length > 0) {
          timer ??= setTimeout(() => void flush(), WRITE_AFTER)
          timer.unref?.()
        }
      } catch (error) {
        report(`could not learn: ${String(error)}`)
      }
    },
    async status(filter = {}) {
      const wanted = hashed(filter)
      await answered(read())
      const byTool = new Map<string, number>()
      for (const { tool } of examples(wanted)) byTool.set(tool, (byTool.get(tool) ?? 0) + 1)
      const rows = [...byTool].map(([tool, count]) => ({ tool, examples: count }))
      rows.sort((a, b) => b.examples - a.examples || (a.tool < b.tool ? -1 : 1))
      return { tools: rows.length, examples: rows.reduce((sum, row) => sum + row.examples, 0), byTool: rows }
    },
    async forget(filter = {}) {
      const wanted = hashed(filter)
      await answered(read())
      await flush()
      for (const { principal, tool } of [...examples(wanted)]) {
        learners.get(principal)?.rings.delete(tool)
        learners.get(principal)?.stale.add(tool)
      }
      // Not swallowed: who asks for something to be forgotten has to know that it was not.
      await answered(store.forget(wanted))
    },
    async export() {
      await answered(read())
      return [...examples()]
    },
    flush,
  }
}

/** The words of a query without its grammar: "server:lab" says where to look, and not what for. */
function readQueryText(query: string): string {
  const { text, must } = parseQuery(query)
  return [text, ...must].join(' ')
}

/** Queries that the owners of tools wrote (`examples`) count as uses, for everybody. Nothing of them is kept but hashes. */
function createAuthoredTerms(catalogue: Catalogue, terms: ExamplesIndex): () => TermIndex {
  let revision = -1
  return () => {
    if (revision === catalogue.revision) return terms.index
    const ids =
      revision < 0 ? [...catalogue.entries()].map(({ id }) => id) : [...catalogue.changesSince(revision)]
    revision = catalogue.revision
    terms.put(ids.map((id) => [id, hashExamples(catalogue.get(id)?.tool.examples, terms)]))
    return terms.index
  }
}

function hashExamples(examples: readonly string[] = [], { hashWords: wordsOf }: ExamplesIndex): number[][] {
  return examples
    .slice(0, RING_SIZE)
    .map(wordsOf)
    .filter((words) => words.length > 0)
}
