/** Does a search find the right tool, and how does it compare with what a user would pick instead? */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawRetrieval } from './retrieval/chart.ts'
import { type CutOffFigures, measureCutOff } from './retrieval/cut-off.ts'
import { type Dataset, loadDatasets, loadTools } from './retrieval/datasets.ts'
import { type HostileFigures, measureHostile } from './retrieval/hostile.ts'
import { measure, percentile } from './retrieval/measure.ts'
import { type Figures, figureNames, figuresOf } from './retrieval/metrics.ts'
import { peers } from './retrieval/peers.ts'
import { toolwell } from './retrieval/toolwell.ts'
import type { BenchOptions } from './run.ts'

const SAMPLE_DATA = 'bench/sample'
/** Queries per dataset, taken evenly; the same ones for every engine. */
const SAMPLE = 300
/** What a gateway publishes for its own search on its own golden set. */
const PUBLISHED_GATEWAY_R5 = 0.681

interface Row extends Figures {
  readonly queries: number
  readonly buildMilliseconds: number
  readonly p50Milliseconds: number
  readonly p95Milliseconds: number
  readonly memoryMegabytes: number
}

export interface EngineResult {
  readonly engine: string
  readonly about: string
  readonly mean: Figures
  readonly p50Milliseconds: number
  readonly datasets: Readonly<Record<string, Row>>
}

export interface RetrievalResult {
  readonly data: string
  readonly split: string
  readonly sample: number
  readonly engines: readonly EngineResult[]
  readonly distractors?: {
    readonly tools: number
    readonly before: number
    readonly after: number
    readonly lost: number
  }
  readonly recordedRouter?: {
    readonly queries: number
    readonly hit3: number
    readonly ours: number
    readonly ratio: number
  }
  readonly cutOff: CutOffFigures
  readonly hostile: HostileFigures
  readonly lines: readonly {
    readonly what: string
    readonly figure: number
    readonly floor: number
    readonly holds: boolean
  }[]
}

export async function benchRetrieval({ data, split }: BenchOptions): Promise<RetrievalResult> {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  let datasets = data === undefined ? [] : await loadDatasets(data, split)
  const bundled = datasets.length === 0
  if (bundled) {
    print(
      `No datasets${split ? ` of split ${split}` : ''} in ${data ?? 'the data folder'}; using the small bundled sample. See bench/README.md.`,
    )
    datasets = await loadDatasets(fileURLToPath(new URL('.', import.meta.url)))
  }
  datasets = datasets.map((dataset) => ({ ...dataset, queries: evenly(dataset.queries, SAMPLE) }))
  print(`${datasets.length} datasets, up to ${SAMPLE} queries each, the same for every engine.\n`)
  print(
    `${'nDCG@10'.padEnd(18)}${datasets.map(({ name }) => name.slice(0, 10).padStart(11)).join('')}       mean   R@5    MRR    p50 ms`,
  )

  const engines: EngineResult[] = []
  let ours: readonly (readonly string[])[] | undefined
  const routed = datasets.find(({ name }) => name === 'livemcp-agent-any')
  for (const engine of [toolwell, ...peers]) {
    const rows: Record<string, Row> = {}
    for (const { name, tools, queries } of datasets) {
      const { figures, rankings, ...cost } = await measure(engine, tools, queries)
      if (engine === toolwell && name === routed?.name) ours = rankings
      rows[name] = { queries: queries.length, ...rounded(figures), ...rounded(cost) }
    }
    const all = Object.values(rows)
    const mean = Object.fromEntries(
      figureNames.map((name) => [name, round(all.reduce((sum, row) => sum + row[name], 0) / all.length)]),
    ) as unknown as Figures
    const p50Milliseconds = round(
      percentile(
        all.map((row) => row.p50Milliseconds),
        0.5,
      ),
    )
    engines.push({ engine: engine.name, about: engine.about, mean, p50Milliseconds, datasets: rows })
    print(
      `${engine.name.padEnd(18)}${all.map((row) => row.ndcg10.toFixed(3).padStart(11)).join('')}${mean.ndcg10.toFixed(3).padStart(11)}${mean.r5.toFixed(3).padStart(7)}${mean.mrr.toFixed(3).padStart(7)}${p50Milliseconds.toFixed(3).padStart(9)}`,
    )
  }

  const distractors = bundled ? undefined : await measureDistractors(datasets, data as string)
  const recordedRouter = routed && ours ? compareWithRouter(routed, ours) : undefined
  const cutOff = await measureCutOff(datasets)
  const hostile = await measureHostile(datasets)
  const result: RetrievalResult = {
    data: bundled ? SAMPLE_DATA : 'public datasets, see bench/README.md',
    split: split ?? 'queries.jsonl',
    sample: SAMPLE,
    engines,
    ...(distractors ? { distractors } : {}),
    ...(recordedRouter ? { recordedRouter } : {}),
    cutOff,
    hostile,
    lines: bundled ? [] : verdicts(engines, distractors, recordedRouter, cutOff),
  }
  print(
    `\nCut-off ${cutOff.cutOff}: Hit@5 falls by ${cutOff.hit5Lost}; with the right tools removed ${cutOff.missesWithoutTools} of the queries find nothing.`,
  )
  print(
    `Hostile tools: the right one stands lower for ${hostile.meanDropped} of the queries, ${hostile.dropped} in the worst dataset.`,
  )
  print('\nLines')
  for (const { what, figure, floor, holds } of result.lines)
    print(`  ${holds ? 'ok  ' : 'MISS'} ${what}: ${figure} (floor ${floor})`)
  if (result.lines.some(({ holds }) => !holds)) process.exitCode = 1
  return result
}

export function refuseRetrieval({ data }: RetrievalResult): string | undefined {
  return data === SAMPLE_DATA
    ? 'the committed figures are those of the public datasets; see bench/README.md'
    : undefined
}

/** The chart of docs/search.md, from the figures alone. */
export async function saveRetrieval(figures: RetrievalResult): Promise<string[]> {
  await writeFile(new URL('../docs/images/retrieval.svg', import.meta.url), drawRetrieval(figures))
  return ['docs/images/retrieval.svg']
}

/** The mean nDCG of the datasets that share a catalogue, before and after many unrelated tools join it. */
async function measureDistractors(datasets: readonly Dataset[], data: string) {
  const extra = await loadTools(join(data, 'livemcp-cat', 'distractors.jsonl'))
  const chosen = datasets.filter(({ name }) => name.startsWith('livemcp'))
  if (!extra || chosen.length === 0) return undefined
  let before = 0
  let after = 0
  for (const { tools, queries } of chosen) {
    before += (await measure(toolwell, tools, queries)).figures.ndcg10 / chosen.length
    after += (await measure(toolwell, [...tools, ...extra], queries)).figures.ndcg10 / chosen.length
  }
  return { tools: extra.length, before: round(before), after: round(after), lost: round(1 - after / before) }
}

/** The source recorded what an embedding router answered to the same queries. */
function compareWithRouter({ queries, tools }: Dataset, rankings: readonly (readonly string[])[]) {
  const known = new Set(tools.map(({ id }) => id))
  let router = 0
  let own = 0
  queries.forEach(({ relevant, qwenReturned = [] }, index) => {
    router += figuresOf(
      qwenReturned.filter((id) => known.has(id)),
      relevant,
      (id) => id,
    ).hit3
    own += figuresOf(rankings[index] ?? [], relevant, (id) => id).hit3
  })
  const count = queries.length
  return { queries: count, hit3: round(router / count), ours: round(own / count), ratio: round(own / router) }
}

function verdicts(
  engines: readonly EngineResult[],
  distractors: RetrievalResult['distractors'],
  router: RetrievalResult['recordedRouter'],
  cutOff: CutOffFigures,
): RetrievalResult['lines'] {
  const of = (name: string) => engines.find(({ engine }) => engine === name)
  const [ours, fts] = [of('toolwell'), of('sqlite-fts5')]
  const lines: { what: string; figure: number; floor: number; holds: boolean }[] = []
  const add = (what: string, figure: number | undefined, floor: number, atMost = false) => {
    if (figure !== undefined)
      lines.push({ what, figure: round(figure), floor, holds: atMost ? figure <= floor : figure >= floor })
  }
  if (ours && fts) {
    add('mean nDCG@10 against FTS5', ours.mean.ndcg10 / fts.mean.ndcg10, 1.09)
    const large = ours.datasets.bfcl
    const other = fts.datasets.bfcl
    if (large && other)
      add('p50 at 3k tools against FTS5', large.p50Milliseconds / other.p50Milliseconds, 0.25, true)
    const golden = ours.datasets['mcpproxy-golden']?.r5
    add(`mcpproxy-golden R@5 (published ${PUBLISHED_GATEWAY_R5})`, golden, 0.8)
  }
  add('Hit@3 against the recorded embedding router', router?.ratio, 1.15)
  add('nDCG lost to distractors', distractors?.lost, 0.06, true)
  add('Hit@5 lost to the default cut-off', cutOff.hit5Lost, 0.02, true)
  return lines
}

function evenly<T>(items: readonly T[], count: number): T[] {
  if (items.length <= count) return [...items]
  return Array.from({ length: count }, (_, index) => items[Math.floor((index * items.length) / count)] as T)
}

function rounded<T extends object>(figures: T): T {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, round(value as number)]),
  ) as T
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
