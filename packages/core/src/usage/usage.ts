/** Learns from use: keeps examples for each tool and principal, and an index of their terms for the ranking. */

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

/** Examples are written in batches of this size, or after this many milliseconds. */
const BATCH = 64
const WRITE_AFTER = 1000
/** Milliseconds that the first search waits for the store. Later searches do not wait. */
const READ_WAIT = 200
/** Milliseconds that all other operations wait for the store. */
const STORE_WAIT = 5000

export interface UsageStatus {
  readonly tools: number
  readonly examples: number
  /** By tool, most examples first. */
  readonly byTool: readonly { readonly tool: string; readonly examples: number }[]
}

/** The operations available to hosts as `well.usage`. */
export interface UsageControl {
  /** Counts the examples. `principal`: as passed to `open`. */
  status(filter?: UsageFilter): Promise<UsageStatus>
  /** Forgets everything, or the examples of one principal or one tool (by id). */
  forget(filter?: UsageFilter): Promise<void>
  /** Returns all examples, for backup or transfer. They contain no text. */
  export(): Promise<readonly UsageExample[]>
  /** Writes all waiting examples. */
  flush(): Promise<void>
}

export interface Usage extends UsageControl {
  /** Returns the learned terms for this principal; empty if there are none. */
  getLearnedTerms(principal: string): Promise<readonly TermIndex[]>
  /** Records that these tools waitForStore this query. Never throws. */
  learn(principal: string, query: string, tools: readonly string[]): void
}

export interface UsageSettings {
  readonly catalogue: Catalogue
  readonly store: UsageStore
  /** All principals share what is learned. */
  readonly shared: boolean
  readonly report: (detail: string) => void
}

interface Learner {
  /** By tool. */
  readonly rings: Map<string, Ring>
  readonly terms: ExamplesIndex
  /** Tools whose terms must be computed again before the next search. */
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

  const hashPrincipal = (principal: string) => (shared || principal === '' ? '' : shortHash(principal))
  let reported = ''
  /** Reports a repeated failure once. */
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      const detail = `${what}: ${String(error)}`
      if (detail !== reported) report(detail)
      reported = detail
    }
  }

  function getLearner(key: string): Learner {
    const known = learners.get(key)
    if (known) return known
    const made: Learner = { rings: new Map(), terms: createIndex(), stale: new Set() }
    learners.set(key, made)
    return made
  }

  function add({ principal, tool, fingerprint, words }: UsageExample): void {
    const { rings, stale } = getLearner(principal)
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
      // Examples learned while reading are newer.
      const newer = [...examples()]
      learners.clear()
      for (const example of [...kept, ...newer]) add(example)
    })
    return reading
  }

  const waitForStore = <T>(work: Promise<T>) =>
    withTimeout(work, STORE_WAIT, new Error(`The usage store did not answer within ${STORE_WAIT} ms.`))

  /** A search continues without a slow store. Its examples count as soon as they arrive. */
  async function readForSearch(): Promise<void> {
    if (isLate) return
    await withTimeout(read(), READ_WAIT, new Error()).catch(() => {
      if (!isLate) report(`was not read within ${READ_WAIT} ms: searches continue without it until then`)
      isLate = true
    })
  }

  function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const batch = waiting
    waiting = []
    if (batch.length > 0)
      writing = writing.then(() => attempt('could not be written', () => waitForStore(store.append(batch))))
    return writing
  }

  /** Computes the terms of tools that were used or changed since the last search. */
  function updateTerms({ rings, terms, stale }: Learner): void {
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

  /** Marks examples of changed definitions as stale. */
  function markChangedTools(): void {
    if (revision === catalogue.revision) return
    const changed = revision < 0 ? undefined : new Set(catalogue.changesSince(revision))
    revision = catalogue.revision
    for (const { rings, stale } of learners.values())
      for (const id of rings.keys()) if (!changed || changed.has(id)) stale.add(id)
  }

  const readFilter = (filter: UsageFilter): UsageFilter => {
    assertKnownKeys(filter, ['principal', 'tool'], 'usage filter')
    for (const [key, value] of Object.entries(filter))
      if (typeof value !== 'string')
        throw invalid(key, `${key} of a usage filter must be a string. Omit it to select every ${key}.`)
    const { principal, ...rest } = filter
    if (principal === undefined) return rest
    if (shared)
      throw invalid(
        'principal',
        'Learning is shared between all principals here, so examples cannot be selected by principal. Omit `principal`.',
      )
    return { ...rest, principal: hashPrincipal(principal) }
  }

  return {
    async getLearnedTerms(principal) {
      await readForSearch()
      const learner = learners.get(hashPrincipal(principal))
      markChangedTools()
      if (learner) updateTerms(learner)
      return [authored(), ...(learner ? [learner.terms.index] : [])].filter(({ size }) => size > 0)
    },
    learn(principal, query, tools) {
      try {
        const words = getLearner(hashPrincipal(principal)).terms.hashWords(readQueryText(query))
        if (words.length === 0) return
        for (const tool of tools) {
          const fingerprint = catalogue.get(tool)?.fingerprint
          if (fingerprint === undefined) continue
          const example = { principal: hashPrincipal(principal), tool, fingerprint, words }
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
      const wanted = readFilter(filter)
      await waitForStore(read())
      const byTool = new Map<string, number>()
      for (const { tool } of examples(wanted)) byTool.set(tool, (byTool.get(tool) ?? 0) + 1)
      const rows = [...byTool].map(([tool, count]) => ({ tool, examples: count }))
      rows.sort((a, b) => b.examples - a.examples || (a.tool < b.tool ? -1 : 1))
      return { tools: rows.length, examples: rows.reduce((sum, row) => sum + row.examples, 0), byTool: rows }
    },
    async forget(filter = {}) {
      const wanted = readFilter(filter)
      await waitForStore(read())
      await flush()
      for (const { principal, tool } of [...examples(wanted)]) {
        learners.get(principal)?.rings.delete(tool)
        learners.get(principal)?.stale.add(tool)
      }
      // Not caught: the caller must know if forgetting failed.
      await waitForStore(store.forget(wanted))
    },
    async export() {
      await waitForStore(read())
      return [...examples()]
    },
    flush,
  }
}

/** Returns the words of a query without its grammar: "server:lab" says where to search, not what for. */
function readQueryText(query: string): string {
  const { text, must } = parseQuery(query)
  return [text, ...must].join(' ')
}

/** Indexes the queries that tool authors wrote (`examples`). They count as uses for everybody; only their hashes are kept. */
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

function hashExamples(examples: readonly string[] = [], { hashWords }: ExamplesIndex): number[][] {
  return examples
    .slice(0, RING_SIZE)
    .map(hashWords)
    .filter((words) => words.length > 0)
}
