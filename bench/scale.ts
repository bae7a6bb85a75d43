/** How do building, re-indexing one server, searching and memory grow from a thousand to a hundred thousand tools? */
import { join } from 'node:path'
import type { Tool } from '@toolwell/core'
import { atSize, GENERATED, loadCorpus } from './data.ts'
import { type BenchTool, loadDatasets } from './retrieval/datasets.ts'
import { writeSearchDocs } from './retrieval/docs.ts'
import type { Engine } from './retrieval/engine.ts'
import { createLines, type Line, printLines } from './retrieval/lines.ts'
import { memory, percentile } from './retrieval/measure.ts'
import { fts5, miniSearchDefault } from './retrieval/peers.ts'
import { toolwell } from './retrieval/toolwell.ts'
import type { BenchOptions } from './run.ts'

const SIZES = [1_000, 10_000, 100_000]
const QUERIES = 100
const ROUNDS = 2
const SERVER = 50

interface Row {
  readonly engine: string
  readonly tools: number
  readonly buildMilliseconds: number
  readonly reindexMilliseconds: number
  readonly reindexShare: number
  readonly p50Milliseconds: number
  readonly p95Milliseconds: number
  /** Absent if the engine keeps its index outside JavaScript. */
  readonly memoryMegabytes?: number
}

export interface ScaleFigures {
  readonly tools: string
  readonly queries: number
  readonly rows: readonly Row[]
  readonly lines: readonly Line[]
}

export async function benchScale({ data }: BenchOptions): Promise<ScaleFigures> {
  const print = (line: string) => process.stdout.write(`${line}\n`)
  const { tools: corpus, origin } = await loadCorpus(data)
  const queries = await queriesFor(data)
  print(`Tools: ${origin}, then turned copies. ${queries.length} queries, asked of the engines in turn.\n`)
  print('engine             tools      build  re-index 50  of build     p50 ms     p95 ms   memory')
  const rows: Row[] = []
  for (const size of SIZES) {
    const tools = atSize(corpus, size).map(benchTool)
    for (const row of await measureAt([toolwell, fts5, miniSearchDefault], tools, queries)) {
      rows.push(row)
      print(
        `${row.engine.padEnd(14)}${String(size).padStart(10)}${`${row.buildMilliseconds.toFixed(0)} ms`.padStart(11)}${`${row.reindexMilliseconds.toFixed(2)} ms`.padStart(13)}${`${(row.reindexShare * 100).toFixed(2)} %`.padStart(10)}${row.p50Milliseconds.toFixed(3).padStart(11)}${row.p95Milliseconds.toFixed(3).padStart(11)}${row.memoryMegabytes === undefined ? '   native' : `${row.memoryMegabytes.toFixed(1)} MB`.padStart(9)}`,
      )
    }
  }
  const lines = verdicts(rows)
  printLines(lines)
  return { tools: origin, queries: queries.length, rows, lines }
}

export function refuseScale({ tools }: ScaleFigures): string | undefined {
  return tools === GENERATED
    ? 'the committed figures are those of real tools; see bench/README.md'
    : undefined
}

/** Writes the table of the docs. */
export function saveScale(scale: ScaleFigures): Promise<string[]> {
  return writeSearchDocs({ scale })
}

async function measureAt(
  engines: readonly Engine[],
  tools: readonly BenchTool[],
  queries: readonly string[],
): Promise<Row[]> {
  const changed = tools
    .slice(0, SERVER)
    .map((tool) => ({ ...tool, description: `${tool.description} Changed.` }))
  const sides = []
  for (const engine of engines) {
    process.stderr.write(`  ${engine.name}: indexing ${tools.length} tools\n`)
    const before = memory()
    const started = performance.now()
    const index = await engine.build(tools)
    const buildMilliseconds = performance.now() - started
    // Frees the stack of the build before memory is read.
    await new Promise((done) => setImmediate(done))
    const memoryMegabytes = memory() - before
    const replaced = Array.from({ length: 5 }, () => {
      const start = performance.now()
      index.replace?.(changed)
      return performance.now() - start
    })
    sides.push({ engine, index, buildMilliseconds, memoryMegabytes, replaced, times: [] as number[] })
  }
  // In turn, so that other load affects all equally. The first round warms up.
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const query of round === 0 ? queries.slice(0, 20) : queries)
      for (const { index, times } of sides) {
        const start = performance.now()
        await index.search(query, 10)
        if (round > 0) times.push(performance.now() - start)
      }
  return sides.map(({ engine, index, buildMilliseconds, memoryMegabytes, replaced, times }) => {
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
  })
}

function verdicts(rows: readonly Row[]): readonly Line[] {
  const at = (engine: string, tools: number) =>
    rows.find((row) => row.engine === engine && row.tools === tools)
  const { lines, add } = createLines()
  const large = at('toolwell', 100_000)
  const ratio = (own: number | undefined, other: number | undefined) =>
    (own ?? Number.NaN) / (other ?? Number.NaN)
  add(
    'p50 at 100k against FTS5',
    ratio(large?.p50Milliseconds, at('sqlite-fts5', 100_000)?.p50Milliseconds),
    {
      floor: 0.02,
      goal: 0.01,
      atMost: true,
    },
  )
  add('re-index of one server at 10k against a build', at('toolwell', 10_000)?.reindexShare, {
    floor: 0.02,
    goal: 0.01,
    atMost: true,
  })
  add(
    'memory at 100k against MiniSearch',
    ratio(large?.memoryMegabytes, at('minisearch', 100_000)?.memoryMegabytes),
    {
      floor: 0.2,
      goal: 0.1,
      atMost: true,
    },
  )
  return lines
}

/** Queries that an agent wrote, if the data is available. */
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
  // Joins the string in advance, so that no engine is charged for it.
  return {
    id: [source, name].join('/'),
    name,
    description,
    server: source,
    serverDescription: '',
    inputSchema,
  }
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
