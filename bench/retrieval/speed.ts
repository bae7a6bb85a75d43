/** Times two engines over the same queries, warm and alternating, so that other load affects both. */
import type { Dataset } from './datasets.ts'
import type { Engine } from './engine.ts'
import { percentile } from './measure.ts'

const QUERIES = 500
const ROUNDS = 3

export interface Speed {
  readonly tools: number
  readonly queries: number
  readonly p50Milliseconds: number
  readonly p95Milliseconds: number
  readonly otherP50Milliseconds: number
  readonly otherP95Milliseconds: number
  readonly p50Ratio: number
}

export async function measureSpeed(
  engine: Engine,
  other: Engine,
  { tools, queries }: Dataset,
): Promise<Speed> {
  const asked = queries.slice(0, QUERIES).map(({ query }) => query)
  const sides = [
    { index: await engine.build(tools), times: [] as number[] },
    { index: await other.build(tools), times: [] as number[] },
  ]
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const query of asked)
      for (const { index, times } of sides) {
        const start = performance.now()
        await index.search(query, 10)
        // The first round warms up.
        if (round > 0) times.push(performance.now() - start)
      }
  const [own, their] = sides.map(({ times }) => ({
    p50: percentile(times, 0.5),
    p95: percentile(times, 0.95),
  }))
  for (const { index } of sides) index.close?.()
  return {
    tools: tools.length,
    queries: asked.length,
    p50Milliseconds: round4(own?.p50 ?? 0),
    p95Milliseconds: round4(own?.p95 ?? 0),
    otherP50Milliseconds: round4(their?.p50 ?? 0),
    otherP95Milliseconds: round4(their?.p95 ?? 0),
    p50Ratio: round4((own?.p50 ?? 0) / (their?.p50 || 1)),
  }
}

function round4(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
