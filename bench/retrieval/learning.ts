/** Gain of learning from use: learns from some queries and asks others. */
import { createLexicalSearcher, type LexicalSearcher, type RankQuery } from '@toolwell/core'
import { addToRing, createExamplesIndexes, RING_SIZE, type Ring } from '@toolwell/core/internal'
import { type BenchQuery, type Dataset, weighDatasets } from './datasets.ts'
import { memory, percentile } from './measure.ts'
import { type Figures, figuresOf, meanOf } from './metrics.ts'
import { documentFor } from './toolwell.ts'

/** Queries asked per dataset. */
const ASKED = 1000
const WRONG = 0.1
const FARMED = 16
/** Results that a search shows. */
const SHOWN = 5

export interface LearningRow {
  readonly dataset: string
  readonly asked: number
  readonly cold: Trimmed
  readonly one: Trimmed
  readonly three: Trimmed
  readonly ten: Trimmed
  /** Three, of which one in ten was for another tool. */
  readonly wrong: Trimmed
  /** Three, counting only tools that a search had shown with what it had learned so far, as in a real host. */
  readonly shown: Trimmed
  /** Share of queries in which a bland tool with sixteen learned queries ranks above the right one. */
  readonly farmed: number
}

type Trimmed = Pick<Figures, 'ndcg10' | 'r5' | 'hit5'>

export interface LearningFigures {
  readonly rows: readonly LearningRow[]
  readonly mean: Omit<LearningRow, 'dataset' | 'asked'>
  /** Median query time with three uses of each tool, relative to none. */
  readonly p50Ratio: number
  /** Mean bytes of the terms of one tool and of its examples, with three examples and with the maximum. */
  readonly bytesPerTool: number
  readonly bytesOfFullTool: number
  /** The same as growth of the process, including objects around the arrays. */
  readonly heapPerTool: number
  readonly heapOfFullTool: number
}

export function measureLearning(datasets: readonly Dataset[]): LearningFigures {
  const rows = datasets.map(measureOne)
  const weights = weighDatasets(datasets)
  const mean = (of: (row: LearningRow) => number) =>
    round(rows.reduce((sum, row) => sum + (weights.get(row.dataset) ?? 0) * of(row), 0))
  const trimmed = (of: (row: LearningRow) => Trimmed): Trimmed => ({
    ndcg10: mean((row) => of(row).ndcg10),
    r5: mean((row) => of(row).r5),
    hit5: mean((row) => of(row).hit5),
  })
  const largest = [...datasets].sort((a, b) => b.tools.length - a.tools.length)[0] as Dataset
  return {
    rows,
    mean: {
      cold: trimmed(({ cold }) => cold),
      one: trimmed(({ one }) => one),
      three: trimmed(({ three }) => three),
      ten: trimmed(({ ten }) => ten),
      wrong: trimmed(({ wrong }) => wrong),
      shown: trimmed(({ shown }) => shown),
      farmed: mean(({ farmed }) => farmed),
    },
    p50Ratio: measureSpeed(largest),
    bytesPerTool: meanBytes(datasets, 3),
    bytesOfFullTool: meanBytes(datasets, RING_SIZE),
    heapPerTool: heapOf(largest, 3),
    heapOfFullTool: heapOf(largest, RING_SIZE),
  }
}

/** Typed arrays of an index. */
type Arrays = Readonly<Record<'terms' | 'offsets' | 'slots' | 'bytes', { readonly byteLength: number }>>

type Pairs = readonly (readonly [query: string, tool: string])[]

function measureOne(dataset: Dataset): LearningRow {
  const searcher = indexed(dataset)
  const groups = new Map(dataset.tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
  const { history, asked } = split(dataset)
  const pairs: Pairs = history.flatMap(({ query, relevant }) => relevant.map((id) => [query, id] as const))
  const ids = dataset.tools.map(({ id }) => id)
  const ask = (learned: RankQuery['learned'] & object): Trimmed => {
    const { ndcg10, r5, hit5 } = meanOf(
      asked.map(({ query, relevant }) =>
        figuresOf(
          searcher.rank({ text: query, must: [], limit: 30, learned }).map(({ id }) => id),
          relevant,
          (id) => groups.get(id) ?? id,
        ),
      ),
    )
    return { ndcg10: round(ndcg10), r5: round(r5), hit5: round(hit5) }
  }
  const three = atMost(pairs, 3)
  const wrong = three.map(([query, tool], place): Pairs[number] =>
    place % Math.round(1 / WRONG) === 0 ? [query, ids[(place * 7919) % ids.length] ?? tool] : [query, tool],
  )
  return {
    dataset: dataset.name,
    asked: asked.length,
    cold: ask([]),
    one: ask(learned(atMost(pairs, 1))),
    three: ask(learned(three)),
    ten: ask(learned(atMost(pairs, 10))),
    wrong: ask(learned(wrong)),
    shown: ask(learnedAsShown(searcher, pairs)),
    farmed: farmedShare(dataset, history, asked),
  }
}

/** Splits queries in half by a hash of the text, or of the task, so that no task is in both halves. */
function split({ queries }: Dataset): { history: BenchQuery[]; asked: BenchQuery[] } {
  const isHistory = ({ query, task }: BenchQuery & { readonly task?: string }) =>
    hashOf(task ?? query) % 2 === 0
  return {
    history: queries.filter(isHistory),
    asked: queries.filter((each) => !isHistory(each)).slice(0, ASKED),
  }
}

function atMost(pairs: Pairs, most: number): Pairs {
  const counts = new Map<string, number>()
  return pairs.filter(([, tool]) => {
    const count = (counts.get(tool) ?? 0) + 1
    counts.set(tool, count)
    return count <= most
  })
}

const createIndex = createExamplesIndexes()

function learned(pairs: Pairs): RankQuery['learned'] & object {
  const examples = createIndex()
  const byTool = new Map<string, number[][]>()
  for (const [query, tool] of pairs)
    byTool.set(tool, [...(byTool.get(tool) ?? []), examples.hashWords(query)])
  examples.put(byTool)
  return [examples.index]
}

/** Asks one query after the other. Each teaches the right tools among its results. */
function learnedAsShown(searcher: LexicalSearcher, pairs: Pairs): RankQuery['learned'] & object {
  const examples = createIndex()
  const byTool = new Map<string, number[][]>()
  for (const [query, tool] of pairs) {
    const known = byTool.get(tool) ?? []
    const learned = examples.index.size > 0 ? [examples.index] : []
    const isShown = () =>
      searcher.rank({ text: query, must: [], limit: SHOWN, learned }).some(({ id }) => id === tool)
    if (known.length >= 3 || !isShown()) continue
    byTool.set(tool, [...known, examples.hashWords(query)])
    examples.put([[tool, byTool.get(tool) ?? []]])
  }
  return [examples.index]
}

/** Share won by a tool without a useful description that was used for many queries. */
function farmedShare(dataset: Dataset, history: readonly BenchQuery[], asked: readonly BenchQuery[]): number {
  const bland = {
    id: 'bland',
    name: 'helper',
    description: 'Helps.',
    server: 'bland',
    serverDescription: '',
    inputSchema: {},
  }
  const searcher = indexed({ ...dataset, tools: [...dataset.tools, bland] })
  const step = Math.max(1, Math.floor(history.length / FARMED))
  const farm = history.filter((_, place) => place % step === 0).slice(0, FARMED)
  const known = learned(farm.map(({ query }) => [query, bland.id]))
  const overtaken = asked.filter(({ query, relevant }) => {
    const ranked = searcher.rank({ text: query, must: [], limit: 30, learned: known }).map(({ id }) => id)
    const [own, right] = [ranked.indexOf(bland.id), ranked.findIndex((id) => relevant.includes(id))]
    return own >= 0 && right >= 0 && own < right
  })
  return round(overtaken.length / Math.max(1, asked.length))
}

function measureSpeed(dataset: Dataset): number {
  const searcher = indexed(dataset)
  const { history, asked } = split(dataset)
  const pairs: Pairs = history.flatMap(({ query, relevant }) => relevant.map((id) => [query, id] as const))
  const known = learned(atMost(pairs, 3))
  const times: [number[], number[]] = [[], []]
  for (let round = 0; round < 6; round += 1)
    for (const { query } of asked.slice(0, 500))
      for (const [side, learned] of [[], known].entries()) {
        const start = performance.now()
        searcher.rank({ text: query, must: [], limit: 10, learned })
        if (round > 0) times[side as 0 | 1].push(performance.now() - start)
      }
  return round(percentile(times[1], 0.5) / percentile(times[0], 0.5))
}

function meanBytes(datasets: readonly Dataset[], examples: number): number {
  return round(datasets.reduce((sum, each) => sum + bytesOf(each, examples), 0) / datasets.length)
}

/** Heap of one tool with this many examples, by tool and as an index. */
function heapOf({ tools, queries }: Dataset, examples: number): number {
  const { hashWords: wordsOf } = createIndex()
  const words = queries.slice(0, 500).map(({ query }) => wordsOf(query))
  const hold = () => {
    const rings = new Map<string, Ring>()
    const index = createIndex()
    for (const [at, { id }] of tools.entries()) {
      const own = Array.from({ length: examples }, (_, place) => words[(at + place) % words.length] ?? [])
      for (const each of own) rings.set(id, addToRing(rings.get(id), '', each))
      index.put([[id, own]])
    }
    return { rings, index }
  }
  hold()
  const before = memory()
  const held = hold()
  const grown = (memory() - before) * 1_048_576
  return held.rings.size === 0 ? 0 : round(grown / held.rings.size)
}

/** Bytes of the terms and examples of one tool. */
function bytesOf({ tools, queries }: Dataset, examples: number): number {
  const some = tools.slice(0, 500)
  const used = some.map(({ id }, at) => ({
    id,
    queries: Array.from(
      { length: examples },
      (_, place) => queries[(at + place) % queries.length]?.query ?? '',
    ),
  }))
  const full = learned(used.flatMap(({ id, queries: own }) => own.map((query) => [query, id] as const)))
  const { hashWords: wordsOf } = createIndex()
  const rings = used.map(({ queries: own }) =>
    own.reduce<Ring | undefined>((ring, query) => addToRing(ring, '', wordsOf(query)), undefined),
  )
  const terms = (full as readonly { readonly segments: readonly Arrays[] }[]).flatMap(
    ({ segments }) => segments,
  )
  const ofTerms = terms.reduce(
    (sum, { terms, offsets, slots, bytes }) =>
      sum + terms.byteLength + offsets.byteLength + slots.byteLength + bytes.byteLength,
    0,
  )
  const ofRings = rings.reduce((sum, ring) => sum + (ring?.packed.length ?? 0), 0)
  return (ofTerms + ofRings) / some.length
}

function indexed({ tools }: Pick<Dataset, 'tools'>): LexicalSearcher {
  const searcher = createLexicalSearcher()
  searcher.update({ put: tools.map(documentFor) })
  return searcher
}

function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
