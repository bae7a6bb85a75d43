/** Do the ranking weights carry over to new data? Leaves one source out, chooses on the rest, measures on it. */
import { createTunedSearcher } from '../packages/core/src/search/lexical.ts'
import { defaultTuning, type FieldName, type Tuning } from '../packages/core/src/search/tuning.ts'
import { type Dataset, familyOf, loadDatasets } from './retrieval/datasets.ts'
import { figuresOf } from './retrieval/metrics.ts'
import { documentFor } from './retrieval/toolwell.ts'
import type { BenchOptions } from './run.ts'

/** Queries per dataset, evenly spread. */
const SAMPLE = 200
const FACTORS = [0.5, 0.75, 1.5, 2]
const FIELDS: readonly FieldName[] = [
  'name',
  'server',
  'lead',
  'description',
  'parameter names',
  'parameters',
  'server description',
]
const OTHERS = ['action', 'topic', 'synonym', 'pair', 'clause'] as const
/** Start of the search for weights: equal weights, no concepts, no pairs, no clauses. */
const NEUTRAL: Tuning = {
  fields: Object.fromEntries(Object.keys(defaultTuning.fields).map((name) => [name, 1])) as Tuning['fields'],
  action: 0,
  topic: 0,
  synonym: 0,
  pair: 0,
  clause: 0,
}

interface Tried {
  readonly what: string
  readonly ndcg10: Readonly<Record<string, number>>
}

export interface TuningFigures {
  readonly sample: number
  readonly tried: number
  /** Mean nDCG@10 of neutral weights, of the default, and of weights chosen for each source without it. */
  readonly neutral: number
  readonly chosenOnAll: number
  readonly skipped: number
  readonly default: number
  readonly datasets: Readonly<
    Record<
      string,
      {
        readonly neutral: number
        readonly default: number
        readonly skipped: number
        readonly chosen: string
      }
    >
  >
  /** Effect of each single change of the default on the mean. If it is flat, no weight is critical. */
  readonly changes: Readonly<Record<string, number>>
}

export async function benchTuning({ data, split }: BenchOptions): Promise<TuningFigures> {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  const datasets = data === undefined ? [] : await loadDatasets(data, split)
  if (datasets.length === 0) {
    print(`No datasets in ${data ?? 'the data folder'}: weights cannot be compared. See bench/README.md.`)
    process.exitCode = 1
    return {
      sample: SAMPLE,
      tried: 0,
      neutral: 0,
      chosenOnAll: 0,
      skipped: 0,
      default: 0,
      datasets: {},
      changes: {},
    }
  }
  const names = datasets.map(({ name }) => name)
  const tried: Tried[] = []
  const attempt = (what: string, tuning: Tuning): Tried => {
    const ndcg10 = Object.fromEntries(datasets.map((dataset) => [dataset.name, quality(dataset, tuning)]))
    const result = { what, ndcg10 }
    tried.push(result)
    process.stderr.write(
      `\r${`${tried.length} tried: ${meanOf(result, names).toFixed(4)} ${what}`.padEnd(70)}`,
    )
    return result
  }
  const neutral = attempt('neutral', NEUTRAL)
  const own = attempt('default', defaultTuning)
  const changes: Record<string, number> = {}
  for (const [what, tuning] of variants()) {
    const result = attempt(what, tuning)
    changes[what] = round(meanOf(result, names) - meanOf(own, names))
  }
  process.stderr.write('\n')
  const best = (among: readonly string[]) =>
    tried.reduce((first, second) => (meanOf(second, among) > meanOf(first, among) ? second : first))
  const rows = Object.fromEntries(
    names.map((name) => {
      const rest = names.filter((other) => familyOf(other) !== familyOf(name))
      const chosen = best(rest)
      return [
        name,
        {
          neutral: round(neutral.ndcg10[name] ?? 0),
          default: round(own.ndcg10[name] ?? 0),
          skipped: round(chosen.ndcg10[name] ?? 0),
          chosen: chosen.what,
        },
      ]
    }),
  )
  const figures: TuningFigures = {
    sample: SAMPLE,
    tried: tried.length,
    neutral: round(meanOf(neutral, names)),
    default: round(meanOf(own, names)),
    chosenOnAll: round(meanOf(best(names), names)),
    skipped: round(Object.values(rows).reduce((sum, row) => sum + row.skipped, 0) / names.length),
    datasets: rows,
    changes,
  }
  print(`${'nDCG@10'.padEnd(20)}neutral  default  left out  chosen without it`)
  for (const [name, row] of Object.entries(rows))
    print(
      `${name.padEnd(20)}${row.neutral.toFixed(3).padStart(7)}${row.default.toFixed(3).padStart(9)}${row.skipped.toFixed(3).padStart(10)}  ${row.chosen}`,
    )
  print(
    `${'mean'.padEnd(20)}${figures.neutral.toFixed(3).padStart(7)}${figures.default.toFixed(3).padStart(9)}${figures.skipped.toFixed(3).padStart(10)}  (best of all ${figures.tried} on all data: ${figures.chosenOnAll.toFixed(3)})`,
  )
  return figures
}

export function refuseTuning({ tried }: TuningFigures): string | undefined {
  return tried === 0 ? 'data is missing; see bench/README.md' : undefined
}

function* variants(): Iterable<[string, Tuning]> {
  for (const factor of FACTORS) {
    for (const field of FIELDS)
      yield [
        `${field} × ${factor}`,
        {
          ...defaultTuning,
          fields: { ...defaultTuning.fields, [field]: defaultTuning.fields[field] * factor },
        },
      ]
    for (const name of OTHERS)
      yield [`${name} × ${factor}`, { ...defaultTuning, [name]: defaultTuning[name] * factor }]
  }
  for (const name of OTHERS) yield [`without ${name}`, { ...defaultTuning, [name]: 0 }]
  yield ['without concepts', { ...defaultTuning, action: 0, topic: 0 }]
  yield ['neutral fields', { ...defaultTuning, fields: NEUTRAL.fields }]
  yield ['fields alone', { ...NEUTRAL, fields: defaultTuning.fields }]
}

function quality({ tools, queries }: Dataset, tuning: Tuning): number {
  const searcher = createTunedSearcher(tuning)
  searcher.update({ put: tools.map(documentFor) })
  const groups = new Map(tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
  const step = Math.max(1, queries.length / SAMPLE)
  let sum = 0
  let count = 0
  for (let at = 0; at < queries.length; at += step) {
    const query = queries[Math.floor(at)]
    if (!query) break
    const ranking = searcher.rank({ text: query.query, must: [], limit: 30 }).map(({ id }) => id)
    sum += figuresOf(ranking, query.relevant, (id) => groups.get(id) ?? id).ndcg10
    count += 1
  }
  return sum / count
}

function meanOf({ ndcg10 }: Tried, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (ndcg10[name] ?? 0), 0) / Math.max(1, names.length)
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
