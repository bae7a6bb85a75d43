/** Does a search say so if no tool clearly fits? Compares unmet needs that are called unclear with met needs that wrongly are. */
import { readFile } from 'node:fs/promises'
import { createLexicalSearcher, type LexicalSearcher } from '@toolwell/core'
import { clearCoverage, defaultCutOff, selectAnswers } from '@toolwell/core/internal'
import type { BenchTool } from './datasets.ts'
import { documentFor } from './toolwell.ts'

const LINES = [0.4, 0.45, 0.48, clearCoverage, 0.55, 0.6, 0.7]
/** More results than a search needs to decide. */
const RANKED = 20

export interface HonestyFigures {
  readonly default: number
  readonly absent: number
  readonly answerable: number
  readonly curve: readonly {
    readonly line: number
    /** Share of unmet needs that are called unclear. */
    readonly told: number
    /** Share of agents' queries with an answer that are wrongly called unclear. */
    readonly wrongly: number
    /** The same for their first few words. */
    readonly wronglyShort: number
  }[]
}

/** `queries`: agents' queries with an answer among these tools. */
export async function measureHonesty(
  tools: readonly BenchTool[],
  queries: readonly string[],
): Promise<HonestyFigures> {
  const searcher = createLexicalSearcher()
  searcher.update({ put: tools.map(documentFor) })
  const coverages = (texts: readonly string[]) => texts.map((text) => coverageOf(searcher, text))
  const needs = await absentNeeds()
  const absent = coverages(needs)
  const answerable = coverages(queries)
  const short = coverages([...new Set(queries.map(firstWords))])
  const below = (figures: readonly number[], line: number) =>
    round(figures.filter((figure) => figure < line).length / Math.max(1, figures.length))
  return {
    default: clearCoverage,
    absent: needs.length,
    answerable: queries.length,
    curve: LINES.map((line) => ({
      line,
      told: below(absent, line),
      wrongly: below(answerable, line),
      wronglyShort: below(short, line),
    })),
  }
}

/** Needs that none of the tools meets, written for this bench: half in people's words, half in the form of agents' queries. */
async function absentNeeds(): Promise<string[]> {
  const text = await readFile(new URL('../absent/needs.jsonl', import.meta.url), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { query: string }).query)
}

/** Coverage of the best answer, as a search sees it. */
function coverageOf(searcher: LexicalSearcher, text: string): number {
  const { answers } = selectAnswers(searcher.rank({ text, must: [], limit: RANKED }), defaultCutOff)
  return Math.max(0, ...answers.map(({ coverage = 1 }) => coverage))
}

/** "server: files\ntool: read a text file or list a folder" → "read a text file". */
function firstWords(query: string): string {
  const tool = /tool:\s*(.*)/.exec(query)?.[1] ?? query
  return (tool.split(/,| or | \+ | and /)[0] ?? tool).split(/\s+/).slice(0, 7).join(' ')
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
