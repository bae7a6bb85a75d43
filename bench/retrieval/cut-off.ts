/** The line from which on a tool is an answer: what it keeps and what it turns away. */
import { createLexicalSearcher, type Ranked } from '@toolwell/core'
import { defaultCutOff } from '@toolwell/core/internal'
import { type Dataset, offTopicFor, sampleOf } from './datasets.ts'
import { documentFor } from './toolwell.ts'

const CUT_OFFS = [0.2, 0.3, defaultCutOff, 0.4, 0.5, 0.6, 0.7, 0.8]

/** What a line keeps, and what it turns away. Means over the datasets. */
export interface Trade {
  /** Share of queries with a right tool among the first five that is above the line. */
  readonly right: number
  /** Share with nothing above it once their right tools are taken out of the catalogue. Others that are nearly right stay in it. */
  readonly nothingWithoutTools: number
  /** Share of queries of other datasets, about other things, with nothing above it. */
  readonly nothingOffTopic: number
}

export interface CutOffFigures {
  readonly cutOff: number
  /** Without any line. */
  readonly hit5: number
  /** Share of queries that lose their right tools from the first five to the cut-off. */
  readonly hit5Lost: number
  readonly answers: readonly (Trade & { readonly cutOff: number })[]
}

/** What one query saw: the right tools among the first five, the best others, and the best for a query from elsewhere. */
interface Case {
  readonly right: readonly Ranked[]
  readonly others: readonly Ranked[]
  readonly offTopic: readonly Ranked[]
}

export function measureCutOff(datasets: readonly Dataset[]): CutOffFigures {
  const cases = datasets.map((dataset) => casesOf(dataset, datasets))
  const trade = (line: number): Trade => {
    const mean = (holds: (each: Case, isAbove: (hit: Ranked) => boolean) => boolean) =>
      round(
        cases.reduce((sum, list) => {
          const share = list.filter((each) => holds(each, ({ relevance }) => relevance >= line)).length
          return sum + share / Math.max(1, list.length)
        }, 0) / Math.max(1, cases.length),
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
