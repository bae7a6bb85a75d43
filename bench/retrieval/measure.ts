/** Runs one engine over one dataset: quality, time to build, time per query. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { BenchQuery, BenchTool } from './datasets.ts'
import type { Engine } from './engine.ts'
import { type Figures, figuresOf, meanOf } from './metrics.ts'

setFlagsFromString('--expose_gc')
const collect = runInNewContext('gc') as () => void

export interface Measured {
  readonly figures: Figures
  readonly buildMilliseconds: number
  readonly p50Milliseconds: number
  readonly p95Milliseconds: number
  readonly memoryMegabytes: number
  readonly rankings: readonly (readonly string[])[]
}

/** More than ten, because variants of one tool count once. */
const depth = 30

export async function measure(
  engine: Engine,
  tools: readonly BenchTool[],
  queries: readonly BenchQuery[],
): Promise<Measured> {
  const before = memory()
  const started = performance.now()
  const index = await engine.build(tools)
  const buildMilliseconds = performance.now() - started
  // Frees the stack of the build before memory is read.
  await new Promise((done) => setImmediate(done))
  const memoryMegabytes = memory() - before
  const groups = new Map(tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
  for (const { query } of queries.slice(0, 50)) await index.search(query, depth)
  const times: number[] = []
  const rankings: string[][] = []
  const figures: Figures[] = []
  for (const { query, relevant } of queries) {
    const start = performance.now()
    const ranking = await index.search(query, depth)
    times.push(performance.now() - start)
    rankings.push(ranking)
    figures.push(figuresOf(ranking, relevant, (id) => groups.get(id) ?? id))
  }
  index.close?.()
  return {
    figures: meanOf(figures),
    buildMilliseconds,
    p50Milliseconds: percentile(times, 0.5),
    p95Milliseconds: percentile(times, 0.95),
    memoryMegabytes,
    rankings,
  }
}

export function memory(): number {
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 1_048_576
}

export function percentile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((first, second) => first - second)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
