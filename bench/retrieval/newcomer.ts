/** A few words typed by somebody who does not know the catalogue: does the answer read well? Some of these needs no tool meets. */
import { readFile } from 'node:fs/promises'
import { createLexicalSearcher, type LexicalSearcher, type Ranked, type Tool } from '@toolwell/core'
import { clearCoverage, defaultCutOff, documentOf, rivalShare } from '@toolwell/core/internal'

/** Answers that a search shows; those that it looks at to decide whether something is clear, and names where nothing is. */
const SHOWN = 5
const CONSIDERED = 8
const NEAREST = 3
/** Beside what is clear, what covers less than this share of what the best does is not shown. */
const BESIDE = 0.5

/**
 * Ordinary words; what people with certain jobs would type, and more of it that nobody looked at before the rules stood; and words that are
 * not those of the tools ("shelve my unfinished changes").
 */
export const newcomerQueries = ['ordinary', 'everyday', 'unseen', 'other-words'] as const
type NewcomerQueries = (typeof newcomerQueries)[number]

export interface NewcomerFigures {
  readonly queries: NewcomerQueries
  /** Needs that a tool meets: share with a right tool as the first answer, and among the first three. */
  readonly met: number
  readonly first: number
  readonly three: number
  /** The share of them that is wrongly told that nothing clearly does this. */
  readonly wrongly: number
  /** Needs that no tool meets, and the share of them that is told so. */
  readonly absent: number
  readonly told: number
}

export async function measureNewcomer(tools: readonly Tool[]): Promise<NewcomerFigures[]> {
  const searcher = createLexicalSearcher()
  searcher.update({
    put: tools.map((tool) => documentOf({ id: `${tool.source}/${tool.name}`, tool })),
  })
  return Promise.all(newcomerQueries.map((queries) => measure(searcher, queries)))
}

async function measure(searcher: LexicalSearcher, queries: NewcomerQueries): Promise<NewcomerFigures> {
  const sums = { met: 0, first: 0, three: 0, wrongly: 0, absent: 0, told: 0 }
  for (const { query, right } of await readQueries(queries)) {
    const { answers, isUnclear } = answer(searcher.rank({ text: query, must: [], limit: CONSIDERED }))
    if (right.length === 0) {
      sums.absent += 1
      if (isUnclear) sums.told += 1
      continue
    }
    const place = answers.findIndex(({ id }) => right.includes(id))
    sums.met += 1
    if (place === 0) sums.first += 1
    if (place >= 0 && place < NEAREST) sums.three += 1
    if (isUnclear) sums.wrongly += 1
  }
  const { met, absent } = sums
  const share = (count: number, all: number) => Math.round((count / Math.max(1, all)) * 10_000) / 10_000
  return {
    queries,
    met,
    first: share(sums.first, met),
    three: share(sums.three, met),
    wrongly: share(sums.wrongly, met),
    absent,
    told: share(sums.told, absent),
  }
}

/** As a search sees it. */
function answer(ranked: readonly Ranked[]): { answers: readonly Ranked[]; isUnclear: boolean } {
  const hits = ranked.filter(({ relevance }) => relevance >= defaultCutOff)
  const best = hits.find(({ relevance }) => relevance < 1)?.score ?? 0
  const considered = hits.filter(({ score }) => score >= best * rivalShare(defaultCutOff))
  const coverageOf = ({ coverage = 1 }: Ranked) => coverage
  const isClear = (hit: Ranked) => coverageOf(hit) >= clearCoverage
  if (!considered.some(isClear)) {
    const nearest = [...considered].sort((first, second) => coverageOf(second) - coverageOf(first))
    return { answers: nearest.slice(0, NEAREST), isUnclear: true }
  }
  const mostCovered = Math.max(...considered.map(coverageOf))
  const worthOf = (hit: Ranked) => hit.score * (1 + coverageOf(hit))
  const answers = considered
    .filter((hit) => isClear(hit) || hit.relevance === 1 || coverageOf(hit) >= mostCovered * BESIDE)
    .sort(
      (first, second) => Number(isClear(second)) - Number(isClear(first)) || worthOf(second) - worthOf(first),
    )
  return { answers: answers.slice(0, SHOWN), isUnclear: false }
}

async function readQueries(name: NewcomerQueries): Promise<{ query: string; right: readonly string[] }[]> {
  const text = await readFile(new URL(`../newcomer/${name}.jsonl`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { query: string; right: readonly string[] })
}
