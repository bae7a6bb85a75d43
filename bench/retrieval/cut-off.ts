/** What the cut-off keeps and what it turns away: hits lost, and queries that find nothing because there is nothing to find. */
import { createLexicalSearcher, defaultCutOff } from '@toolwell/core'
import { type Dataset, familyOf } from './datasets.ts'
import { type Evidence, evidenceOf, learn } from './learned.ts'
import { documentFor } from './toolwell.ts'

/** Queries per dataset: what is learned from them needs explanations, which cost more than a ranking. */
const SAMPLE = 250
const CUT_OFFS = [0.2, 0.3, defaultCutOff, 0.4, 0.5, 0.6, 0.7, 0.8]
/** Losses of Hit@5 at which ways to decide are compared. */
const LOSSES = [0.02, 0.05, 0.1, 0.2, 0.4]

interface Trade {
  /** Share of queries that lose their right tools from the first five. */
  readonly hit5Lost: number
  /** Share that find nothing once their right tools are taken out of the catalogue. Others that are nearly right stay in it. */
  readonly nothingWithoutTools: number
  /** Share of queries of other datasets, about other things, that find nothing. */
  readonly nothingOffTopic: number
}

export interface CutOffFigures extends Trade {
  readonly cutOff: number
  readonly hit5: number
  readonly datasets: Readonly<Record<string, Trade>>
  /** The same trade for other values of the cut-off; means over the datasets. */
  readonly curve: readonly (Trade & { readonly cutOff: number })[]
  /**
   * The same question put to other evidence: how much is turned away when a given share of Hit@5 may be lost. `learned` is a logistic
   * regression over eight features of a hit, trained on the other datasets only.
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

export function measureCutOff(datasets: readonly Dataset[]): CutOffFigures {
  const cases = datasets.flatMap((dataset) => casesOf(dataset, datasets))
  const names = datasets.map(({ name }) => name)
  const trade = (scoreFor: (dataset: string) => Score, line: number, among = names): Trade => {
    const mean = (share: (each: readonly Case[], score: Score) => number) =>
      round(
        among.reduce((sum, name) => {
          const own = cases.filter(({ dataset }) => dataset === name)
          return sum + share(own, scoreFor(name))
        }, 0) / among.length,
      )
    const none = (list: readonly Evidence[], score: Score) => list.every((hit) => score(hit) < line)
    const share = (own: readonly Case[], holds: (each: Case) => boolean) =>
      own.filter(holds).length / Math.max(1, own.length)
    return {
      hit5Lost: mean((own, score) => share(own, ({ right }) => right.length > 0 && none(right, score))),
      nothingWithoutTools: mean((own, score) => share(own, ({ others }) => none(others, score))),
      nothingOffTopic: mean((own, score) => share(own, ({ offTopic }) => none(offTopic, score))),
    }
  }
  const relevance = () => (hit: Evidence) => hit.relevance
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
  const ways: (Trade & { way: string })[] = []
  for (const [way, scoreFor] of [
    ['relevance', relevance],
    ['score', () => (hit: Evidence) => hit.score],
    ['share of the words', () => (hit: Evidence) => hit.features[1] ?? 0],
    ['learned', (name: string) => learned.get(name) ?? (() => 0)],
  ] as const)
    for (const loss of LOSSES) {
      const lines = cases.flatMap(({ dataset, right }) => right.map(scoreFor(dataset))).sort((a, b) => a - b)
      // The highest line that loses no more than that.
      let [low, high] = [0, lines.length - 1]
      while (low < high) {
        const middle = (low + high + 1) >>> 1
        if (trade(scoreFor, lines[middle] ?? 0).hit5Lost <= loss) low = middle
        else high = middle - 1
      }
      ways.push({ way, ...trade(scoreFor, lines[low] ?? 0) })
    }
  const hits = (own: readonly Case[]) =>
    own.filter(({ right }) => right.length > 0).length / Math.max(1, own.length)
  return {
    cutOff: defaultCutOff,
    hit5: round(
      names.reduce((sum, name) => sum + hits(cases.filter(({ dataset }) => dataset === name)), 0) /
        names.length,
    ),
    ...trade(relevance, defaultCutOff),
    datasets: Object.fromEntries(names.map((name) => [name, trade(relevance, defaultCutOff, [name])])),
    curve: CUT_OFFS.map((cutOff) => ({ cutOff, ...trade(relevance, cutOff) })),
    ways,
  }
}

type Score = (hit: Evidence) => number

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
