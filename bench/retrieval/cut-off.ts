/** Measures the cut-off: the right answers it keeps and the wrong ones it removes. */
import { createLexicalSearcher, type Ranked } from '@toolwell/core'
import { defaultCutOff } from '@toolwell/core/internal'
import { type Dataset, offTopicFor, sampleOf, weighDatasets } from './datasets.ts'
import { documentFor } from './toolwell.ts'

const CUT_OFFS = [0.2, 0.3, defaultCutOff, 0.4, 0.5, 0.6, 0.7, 0.8]

/** Figures of one cut-off. Means over the datasets. */
export interface Trade {
  /** Share of queries with a right tool among the first five and above the cut-off. */
  readonly right: number
  /** Share with nothing above it after their right tools were removed. Nearly right tools stay in the catalogue. */
  readonly nothingWithoutTools: number
  /** Share of off-topic queries, from other datasets, with nothing above it. */
  readonly nothingOffTopic: number
}

export interface CutOffFigures {
  readonly cutOff: number
  /** Without a cut-off. */
  readonly hit5: number
  /** Share of queries whose right tools among the first five fall below the cut-off. */
  readonly hit5Lost: number
  readonly answers: readonly (Trade & { readonly cutOff: number })[]
}

/** One query: the right tools among the first five, the best other tools, and the best tool for an off-topic query. */
interface Case {
  readonly right: readonly Ranked[]
  readonly others: readonly Ranked[]
  readonly offTopic: readonly Ranked[]
}

export function measureCutOff(datasets: readonly Dataset[]): CutOffFigures {
  const weights = weighDatasets(datasets)
  const cases = datasets.map((dataset) => ({
    list: casesOf(dataset, datasets),
    weight: weights.get(dataset.name) ?? 0,
  }))
  const trade = (line: number): Trade => {
    const mean = (holds: (each: Case, isAbove: (hit: Ranked) => boolean) => boolean) =>
      round(
        cases.reduce((sum, { list, weight }) => {
          const share = list.filter((each) => holds(each, ({ relevance }) => relevance >= line)).length
          return sum + (weight * share) / Math.max(1, list.length)
        }, 0),
      )
    return {
      right: mean(({ right }, isAbove) => right.some(isAbove)),
      nothingWithoutTools: mean(({ others }, isAbove) => !others.some(isAbove)),
      nothingOffTopic: mean(({ offTopic }, isAbove) => !offTopic.some(isAbove)),
    }
  }
  const hit5 = trade(0).right
  return {
    cutOff: defaultCutOff,
    hit5,
    hit5Lost: round(hit5 - trade(defaultCutOff).right),
    answers: CUT_OFFS.map((cutOff) => ({ cutOff, ...trade(cutOff) })),
  }
}

function casesOf(dataset: Dataset, all: readonly Dataset[]): Case[] {
  const searcher = createLexicalSearcher()
  searcher.update({ put: dataset.tools.map(documentFor) })
  const groups = new Map(dataset.tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
  const strange = offTopicFor(dataset, all)
  return sampleOf(dataset.queries).map(({ query, relevant }, index) => {
    const wanted = new Set(relevant.map((id) => groups.get(id)))
    const isRight = ({ id }: Ranked) => wanted.has(groups.get(id))
    const ranked = searcher.rank({ text: query, must: [], limit: 60 })
    return {
      right: ranked.slice(0, 5).filter(isRight),
      others: ranked.filter((hit) => !isRight(hit)).slice(0, 5),
      offTopic: searcher.rank({ text: strange(index), must: [], limit: 5 }),
    }
  })
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
