/** Short queries of people who do not know the catalogue. Some of these needs are not met by any tool. */
import { readFile } from 'node:fs/promises'
import { createLexicalSearcher, type LexicalSearcher, type Tool } from '@toolwell/core'
import { createDocument, defaultCutOff, selectAnswers } from '@toolwell/core/internal'

/** More than a search reads, and enough for the figures. */
const RANKED = 20
const THREE = 3

/**
 * Ordinary words; words of people with certain jobs, plus two sets written without knowledge of the rules; and words that differ
 * from those of the tools ("shelve my unfinished changes").
 */
export const newcomerQueries = ['ordinary', 'everyday', 'unseen', 'fresh', 'other-words'] as const
type NewcomerQueries = (typeof newcomerQueries)[number]

export interface NewcomerFigures {
  readonly queries: NewcomerQueries
  /** Met needs: share with a right tool first, and among the first three. */
  readonly met: number
  readonly first: number
  readonly three: number
  /** Share of met needs that are wrongly called unclear. */
  readonly wrongly: number
  /** Unmet needs, and the share that is called unclear. */
  readonly absent: number
  readonly told: number
}

export async function measureNewcomer(tools: readonly Tool[]): Promise<NewcomerFigures[]> {
  const searcher = createLexicalSearcher()
  searcher.update({
    put: tools.map((tool) => createDocument({ id: `${tool.source}/${tool.name}`, tool })),
  })
  return Promise.all(newcomerQueries.map((queries) => measure(searcher, queries)))
}

async function measure(searcher: LexicalSearcher, queries: NewcomerQueries): Promise<NewcomerFigures> {
  const sums = { met: 0, first: 0, three: 0, wrongly: 0, absent: 0, told: 0 }
  for (const { query, right } of await readQueries(queries)) {
    const ranked = searcher.rank({ text: query, must: [], limit: RANKED })
    const { answers, unclear } = selectAnswers(ranked, defaultCutOff)
    const isTold = unclear || answers.length === 0
    if (right.length === 0) {
      sums.absent += 1
      if (isTold) sums.told += 1
      continue
    }
    const place = answers.findIndex(({ id }) => right.includes(id))
    sums.met += 1
    if (place === 0) sums.first += 1
    if (place >= 0 && place < THREE) sums.three += 1
    if (isTold) sums.wrongly += 1
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

async function readQueries(name: NewcomerQueries): Promise<{ query: string; right: readonly string[] }[]> {
  const text = await readFile(new URL(`../newcomer/${name}.jsonl`, import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { query: string; right: readonly string[] })
}
