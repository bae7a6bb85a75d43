/** How do building, re-indexing one server, searching and memory grow from a thousand to a million tools? */
import { join } from 'node:path'
import type { Tool } from '@toolwell/core'
import { atSize, GENERATED, loadCorpus } from './data.ts'
import { type BenchTool, loadDatasets } from './retrieval/datasets.ts'
import type { Engine } from './retrieval/engine.ts'
import { memory, percentile } from './retrieval/measure.ts'
import { fts5, miniSearchDefault } from './retrieval/peers.ts'
import { toolwell } from './retrieval/toolwell.ts'
import type { BenchOptions } from './run.ts'

const SIZES = [1_000, 10_000, 100_000, 1_000_000]
/** Larger catalogues take a peer minutes per figure. */
const LARGEST: Readonly<Record<string, number>> = { 'sqlite-fts5': 1_000_000, minisearch: 100_000 }
const QUERIES = 100
const SERVER = 50

interface Row {
  readonly engine: string
  readonly tools: number
  readonly buildMilliseconds: number
  readonly reindexMilliseconds: number
  readonly reindexShare: number
  readonly p50Milliseconds: number
  readonly p95Milliseconds: number
  /** Absent where the engine keeps its index outside of JavaScript. */
  readonly memoryMegabytes?: number
}

export async function benchScale({ data }: BenchOptions) {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  const { tools: corpus, origin } = await loadCorpus(data)
  const queries = await queriesFor(data)
  print(`Tools: ${origin}, then turned copies. ${queries.length} queries.\n`)
  print('engine             tools      build  re-index 50  of build     p50 ms     p95 ms   memory')
  const rows: Row[] = []
  for (const size of SIZES) {
    const tools = atSize(corpus, size).map(benchTool)
    for (const engine of [toolwell, fts5, miniSearchDefault]) {
      if (size > (LARGEST[engine.name] ?? size)) continue
      const row = await measureAt(engine, tools, queries)
      rows.push(row)
      print(
        `${engine.name.padEnd(14)}${String(size).padStart(10)}${`${row.buildMilliseconds.toFixed(0)} ms`.padStart(11)}${`${row.reindexMilliseconds.toFixed(2)} ms`.padStart(13)}${`${(row.reindexShare * 100).toFixed(2)} %`.padStart(10)}${row.p50Milliseconds.toFixed(3).padStart(11)}${row.p95Milliseconds.toFixed(3).padStart(11)}${row.memoryMegabytes === undefined ? '   native' : `${row.memoryMegabytes.toFixed(1)} MB`.padStart(9)}`,
      )
    }
  }
  const lines = verdicts(rows)
  print('\nLines')
  for (const { what, figure, limit, holds } of lines)
    print(`  ${holds ? 'ok  ' : 'MISS'} ${what}: ${figure} (limit ${limit})`)
  if (lines.some(({ holds }) => !holds)) process.exitCode = 1
  const result = { tools: origin, queries: queries.length, rows, lines }
  return result
}

export function refuseScale({ tools }: { readonly tools: string }): string | undefined {
  return tools === GENERATED
    ? 'the committed figures are those of real tools; see bench/README.md'
    : undefined
}

async function measureAt(
  engine: Engine,
  tools: readonly BenchTool[],
  queries: readonly string[],
): Promise<Row> {
  const before = memory()
  const started = performance.now()
  const index = await engine.build(tools)
  const buildMilliseconds = performance.now() - started
  const memoryMegabytes = memory() - before
  const server = tools
    .slice(0, SERVER)
    .map((tool) => ({ ...tool, description: `${tool.description} Changed.` }))
  const replaced: number[] = []
  for (let turn = 0; turn < 5; turn += 1) {
    const start = performance.now()
    index.replace?.(server)
    replaced.push(performance.now() - start)
  }
  for (const query of queries.slice(0, 20)) await index.search(query, 10)
  const times: number[] = []
  for (const query of queries) {
    const start = performance.now()
    await index.search(query, 10)
    times.push(performance.now() - start)
  }
  index.close?.()
  const reindexMilliseconds = percentile(replaced, 0.5)
  return {
    engine: engine.name,
    tools: tools.length,
    buildMilliseconds: round(buildMilliseconds),
    reindexMilliseconds: round(reindexMilliseconds),
    reindexShare: round(reindexMilliseconds / buildMilliseconds),
    p50Milliseconds: round(percentile(times, 0.5)),
    p95Milliseconds: round(percentile(times, 0.95)),
    ...(engine === fts5 ? {} : { memoryMegabytes: round(memoryMegabytes) }),
  }
}

function verdicts(rows: readonly Row[]) {
  const at = (engine: string, tools: number) =>
    rows.find((row) => row.engine === engine && row.tools === tools)
  const lines: { what: string; figure: number; limit: number; holds: boolean }[] = []
  const add = (what: string, figure: number, limit: number) => {
    if (Number.isFinite(figure)) lines.push({ what, figure: round(figure), limit, holds: figure <= limit })
  }
  const large = at('toolwell', 100_000)
  add(
    'p50 at 100k against FTS5',
    (large?.p50Milliseconds ?? Number.NaN) / (at('sqlite-fts5', 100_000)?.p50Milliseconds ?? 1),
    0.02,
  )
  add(
    're-index of one server at 10k against a build',
    at('toolwell', 10_000)?.reindexShare ?? Number.NaN,
    0.02,
  )
  add(
    'memory at 100k against MiniSearch',
    (large?.memoryMegabytes ?? Number.NaN) / (at('minisearch', 100_000)?.memoryMegabytes ?? 1),
    0.2,
  )
  return lines
}

/** Queries an agent wrote, where the data is in place. */
async function queriesFor(data: string | undefined): Promise<string[]> {
  const datasets = data === undefined ? [] : await loadDatasets(data)
  const written = datasets
    .filter(({ name }) => name.startsWith('livemcp-agent'))
    .flatMap(({ queries }) => queries)
  if (written.length > 0) return written.slice(0, QUERIES).map(({ query }) => query)
  const sample = await loadDatasets(join(import.meta.dirname, '.'))
  return sample.flatMap(({ queries }) => queries).map(({ query }) => query)
}

function benchTool({ name, description, inputSchema, source = '' }: Tool): BenchTool {
  return { id: `${source}/${name}`, name, description, server: source, serverDescription: '', inputSchema }
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
