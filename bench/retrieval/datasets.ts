/** Reads datasets in the form that bench/README.md describes: tools, and queries with the tools that answer them. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface BenchTool {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly server: string
  readonly serverDescription: string
  readonly inputSchema: Readonly<Record<string, unknown>>
}

export interface BenchQuery {
  readonly query: string
  readonly relevant: readonly string[]
  /** Answer of another retriever to the same query, if the source recorded it. */
  readonly qwenReturned?: readonly string[]
}

export interface Dataset {
  readonly name: string
  readonly tools: readonly BenchTool[]
  readonly queries: readonly BenchQuery[]
}

/** Datasets of one source share tools or queries, so learning on one affects the other. */
export function familyOf(name: string): string {
  return name.split('-', 1)[0] ?? name
}

/** Sources with few queries count as one source. Alone, each would count as much as a source with thousands. */
const SMALL = ['livemcp', 'mcpproxy']

/** Computes the weight of each dataset in a mean: sources count equally. Small ones are pooled by their queries. */
export function weighDatasets(
  datasets: readonly { readonly name: string; readonly queries: { readonly length: number } }[],
): Map<string, number> {
  const groupOf = (name: string) => (SMALL.includes(familyOf(name)) ? 'small' : familyOf(name))
  const groups = new Set(datasets.map(({ name }) => groupOf(name)))
  return new Map(
    datasets.map(({ name, queries }) => {
      const group = datasets.filter((other) => groupOf(other.name) === groupOf(name))
      const all = group.reduce((sum, other) => sum + other.queries.length, 0)
      const share = groupOf(name) === 'small' ? queries.length / Math.max(1, all) : 1 / group.length
      return [name, share / groups.size]
    }),
  )
}

/** Queries per dataset if each costs more than a ranking. */
const SAMPLE = 250

/** At most 250 queries, evenly spread. */
export function sampleOf<T>(queries: readonly T[]): T[] {
  const step = Math.max(1, queries.length / SAMPLE)
  return queries.filter(
    (_, index) => Math.floor(index / step) > Math.floor((index - 1) / step) || index === 0,
  )
}

/** Queries of other sources about other topics, by index. */
export function offTopicFor({ name }: Dataset, all: readonly Dataset[]): (place: number) => string {
  const elsewhere = all.filter((other) => familyOf(other.name) !== familyOf(name))
  return (place) => {
    const other = elsewhere[place % Math.max(1, elsewhere.length)]
    return other?.queries[(place * 7919) % other.queries.length]?.query ?? ''
  }
}

/** Every folder with a tools.jsonl and a queries file, by name. `split` reads queries.<split>.jsonl instead of queries.jsonl. */
export async function loadDatasets(folder: string, split?: string): Promise<Dataset[]> {
  const names = (await readdir(folder).catch(() => [])).sort()
  const datasets: Dataset[] = []
  for (const name of names) {
    const file = split === undefined ? 'queries.jsonl' : `queries.${split}.jsonl`
    const queries = await readLines(join(folder, name, file))
    const tools = await loadTools(join(folder, name, 'tools.jsonl'))
    if (queries && tools) datasets.push({ name, tools, queries: queries as unknown as BenchQuery[] })
  }
  return datasets
}

/** Tools of a JSONL file with defaults filled in. Undefined if there is no such file. */
export async function loadTools(path: string): Promise<BenchTool[] | undefined> {
  const lines = await readLines(path)
  return lines?.map((line) => ({
    id: text(line.id) || text(line.name),
    name: text(line.name),
    description: text(line.description),
    server: text(line.server),
    serverDescription: text(line.serverDescription),
    inputSchema: (line.inputSchema ?? {}) as Record<string, unknown>,
  }))
}

export async function readLines(path: string): Promise<Record<string, unknown>[] | undefined> {
  const content = await readFile(path, 'utf8').catch(() => undefined)
  return content
    ?.split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
