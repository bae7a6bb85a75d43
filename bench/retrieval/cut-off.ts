/** The two lines of a search, what is an answer and what is loaded: what each keeps and what it turns away. */
import { createLexicalSearcher } from '@toolwell/core'
import { defaultAutoLoad, defaultCutOff } from '@toolwell/core/internal'
import { type Dataset, familyOf } from './datasets.ts'
import { type Evidence, evidenceOf, learn } from './learned.ts'
import { documentFor } from './toolwell.ts'

/** Queries per dataset: what is learned from them needs explanations, which cost more than a ranking. */
const SAMPLE = 250
const CUT_OFFS = [0.2, 0.3, defaultCutOff, 0.4, 0.5, 0.6, 0.7, 0.8]
const AUTO_LOADS = [0, 0.2, 0.3, 0.4, defaultAutoLoad, 0.6, 0.7]
/** Share of queries without their tools that load nothing, at which ways to decide are compared. */
const QUIET = 0.8

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
  readonly autoLoad: number
  /** Without any line. */
  readonly hit5: number
  /** Share of queries that lose their right tools from the first five to the cut-off. */
  readonly hit5Lost: number
  /** What is an answer at all: loaded, or offered by its signature. */
  readonly answers: readonly (Trade & { readonly cutOff: number })[]
  /** What is loaded at once. */
  readonly loads: readonly (Trade & { readonly autoLoad: number })[]
  /** The default line of `loads`, by dataset. */
  readonly datasets: Readonly<Record<string, Trade>>
  /**
   * Other evidence for loading, each with the line at which 80 % of the queries without their tools load nothing. `learned` is a
   * logistic regression over eight features of a hit, trained on the other sources only.
   */
  readonly ways: readonly (Trade & { readonly way: string })[]
}

/** What one query saw: the right tools among the first five, the best others, and the best for a query from elsewhere. */
interface Case {
  readonly dataset: string
  readonly right: readonly Evidence[]
  readonly others: readonly Evidence[]
  readonly offTopic: readonly Evidence[]
}

type Score = (hit: Evidence) => number

export function measureCutOff(datasets: readonly Dataset[]): CutOffFigures {
  const cases = datasets.flatMap((dataset) => casesOf(dataset, datasets))
  const names = datasets.map(({ name }) => name)
  const own = new Map(names.map((name) => [name, cases.filter(({ dataset }) => dataset === name)]))
  const trade = (scoreFor: (dataset: string) => Score, line: number, among = names): Trade => {
    const mean = (holds: (each: Case, isAbove: (hit: Evidence) => boolean) => boolean) =>
      round(
        among.reduce((sum, name) => {
          const score = scoreFor(name)
          const list = own.get(name) ?? []
          const share = list.filter((each) => holds(each, (hit) => score(hit) >= line)).length
          return sum + share / Math.max(1, list.length)
        }, 0) / Math.max(1, among.length),
      )
    return {
      right: mean(({ right }, isAbove) => right.some(isAbove)),
      nothingWithoutTools: mean(({ others }, isAbove) => !others.some(isAbove)),
      nothingOffTopic: mean(({ offTopic }, isAbove) => !offTopic.some(isAbove)),
    }
  }
  const relevance = () => (hit: Evidence) => hit.relevance
  const loading = () => (hit: Evidence) => (hit.relevance >= defaultCutOff ? hit.certainty : -1)
  const learned = new Map(
    names.map((name) => [
      name,
      learn(
        cases
          .filter(({ dataset }) => familyOf(dataset) !== familyOf(name))
          .map(({ right, others }) => ({ right, others })),
      ),
    ]),
  )
  const ways = (
    [
      ['certainty', loading],
      ['relevance', relevance],
      ['score', () => (hit: Evidence) => hit.score],
      ['number of words held', () => (hit: Evidence) => hit.features[1] ?? 0],
      ['learned', (name: string) => learned.get(name) ?? (() => 0)],
    ] as const
  ).map(([way, scoreFor]) => {
    const lines = cases.flatMap(({ dataset, others }) => others.map(scoreFor(dataset))).sort((a, b) => a - b)
    // The lowest line that is quiet enough.
    let [low, high] = [0, lines.length - 1]
    while (low < high) {
      const middle = (low + high) >>> 1
      if (trade(scoreFor, lines[middle] ?? 0).nothingWithoutTools >= QUIET) high = middle
      else low = middle + 1
    }
    return { way, ...trade(scoreFor, lines[low] ?? 0) }
  })
  const hit5 = trade(relevance, 0).right
  return {
    cutOff: defaultCutOff,
    autoLoad: defaultAutoLoad,
    hit5,
    hit5Lost: round(hit5 - trade(relevance, defaultCutOff).right),
    answers: CUT_OFFS.map((cutOff) => ({ cutOff, ...trade(relevance, cutOff) })),
    loads: AUTO_LOADS.map((autoLoad) => ({ autoLoad, ...trade(loading, autoLoad) })),
    datasets: Object.fromEntries(names.map((name) => [name, trade(loading, defaultAutoLoad, [name])])),
    ways,
  }
}

function casesOf(dataset: Dataset, all: readonly Dataset[]): Case[] {
  const searcher = createLexicalSearcher()
  const documents = new Map(dataset.tools.map((tool) => [tool.id, documentFor(tool)]))
  searcher.update({ put: [...documents.values()] })
  const groups = new Map(dataset.tools.map((tool) => [tool.id, `${tool.server}\n${tool.name}`]))
  const elsewhere = all.filter(({ name }) => familyOf(name) !== familyOf(dataset.name))
  const step = Math.max(1, dataset.queries.length / SAMPLE)
  const cases: Case[] = []
  for (let index = 0; Math.floor(index * step) < dataset.queries.length; index += 1) {
    const query = dataset.queries[Math.floor(index * step)]
    if (!query) break
    const wanted = new Set(query.relevant.map((id) => groups.get(id)))
    const isRight = ({ id }: { readonly id: string }) => wanted.has(groups.get(id))
    const ranked = searcher.rank({ text: query.query, must: [], limit: 60 })
    const others = ranked.filter((hit) => !isRight(hit))
    const other = elsewhere[index % Math.max(1, elsewhere.length)]
    const strange = other?.queries[(index * 7919) % other.queries.length]?.query ?? ''
    const away = searcher.rank({ text: strange, must: [], limit: 60 })
    const evidence = (text: string, list: typeof ranked, of: typeof ranked) =>
      of.map((hit) => evidenceOf(searcher, text, documents, list, hit))
    cases.push({
      dataset: dataset.name,
      right: evidence(query.query, ranked, ranked.slice(0, 5).filter(isRight)),
      others: evidence(query.query, others, others.slice(0, 5)),
      offTopic: evidence(strange, away, away.slice(0, 5)),
    })
  }
  return cases
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
