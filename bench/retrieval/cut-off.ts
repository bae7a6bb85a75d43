/** What the default cut-off keeps and what it turns away: hits lost, and queries that find nothing once their tools are gone. */
import { createLexicalSearcher, defaultCutOff, type Ranked } from '@toolwell/core'
import type { Dataset } from './datasets.ts'
import { documentFor } from './toolwell.ts'

const SAMPLE = 150

export interface CutOffFigures {
  readonly cutOff: number
  /** Share of queries with a right tool among the first five, without and with the cut-off; means over the datasets. */
  readonly hit5: number
  readonly hit5Lost: number
  /** Share of queries that find nothing when their right tools are removed, at the default. */
  readonly missesWithoutTools: number
  /** The same trade for other values of the cut-off. */
  readonly curve: readonly {
    readonly cutOff: number
    readonly hit5Lost: number
    readonly missesWithoutTools: number
  }[]
}

export async function measureCutOff(datasets: readonly Dataset[]): Promise<CutOffFigures> {
  const cutOffs = [0.2, 0.3, defaultCutOff, 0.4, 0.5, 0.6, 0.7]
  const sums = cutOffs.map(() => ({ lost: 0, misses: 0 }))
  let hit5 = 0
  for (const { tools, queries } of datasets) {
    const searcher = createLexicalSearcher()
    searcher.update({ put: tools.map(documentFor) })
    const groups = new Map(tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
    const step = Math.max(1, Math.floor(queries.length / SAMPLE))
    const chosen = queries.filter((_, index) => index % step === 0)
    for (const { query, relevant } of chosen) {
      const wanted = new Set(relevant.map((id) => groups.get(id)))
      const right = ({ id }: Ranked) => wanted.has(groups.get(id))
      const ranked = searcher.rank({ text: query, must: [], limit: 50 })
      const best = ranked.slice(0, 5).find(right)
      const other = ranked.find((hit) => !right(hit))
      if (best) hit5 += 1 / chosen.length
      cutOffs.forEach((cutOff, index) => {
        const sum = sums[index] as { lost: number; misses: number }
        if (best && best.relevance < cutOff) sum.lost += 1 / chosen.length
        if (!other || other.relevance < cutOff) sum.misses += 1 / chosen.length
      })
    }
  }
  const count = datasets.length
  const curve = cutOffs.map((cutOff, index) => ({
    cutOff,
    hit5Lost: round((sums[index]?.lost ?? 0) / count),
    missesWithoutTools: round((sums[index]?.misses ?? 0) / count),
  }))
  const { hit5Lost, missesWithoutTools } = curve.find(({ cutOff }) => cutOff === defaultCutOff) ?? {
    hit5Lost: 0,
    missesWithoutTools: 0,
  }
  return { cutOff: defaultCutOff, hit5: round(hit5 / count), hit5Lost, missesWithoutTools, curve }
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
