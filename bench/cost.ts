/** Cost of each way to send tools over a whole conversation, by the cache rules and prices of each provider. */
import { writeFile } from 'node:fs/promises'
import { loadTokenizer } from '@toolwell/core'
import { drawChart } from './cost/chart.ts'
import { loadConversations } from './cost/conversation.ts'
import { writeDocs } from './cost/docs.ts'
import { type CostFigures, measurePatterns } from './cost/figures.ts'
import { exceptionsOf, goalsOf } from './cost/goals.ts'
import { providers } from './cost/providers.ts'
import { createPieceMaker } from './cost/rendering.ts'
import { costTable } from './cost/table.ts'
import { GENERATED, loadCorpus } from './data.ts'
import type { BenchOptions } from './run.ts'

export async function benchCost({ data }: BenchOptions): Promise<CostFigures> {
  const { tools, origin } = await loadCorpus(data)
  const tokenizer = await loadTokenizer()
  const files = await loadConversations(new URL('./conversations/', import.meta.url))
  const pieces = createPieceMaker((text) => tokenizer.count(text))
  const patterns = await measurePatterns(files, tools, pieces, ({ name }) => {
    if (process.stderr.isTTY) process.stderr.write(`\r${name.padEnd(40)}`)
  })
  if (process.stderr.isTTY) process.stderr.write(`\r${' '.repeat(40)}\r`)
  const figures: CostFigures = { tools: origin, tokenizer: tokenizer.name, providers, patterns }
  process.stdout.write(`${costTable(figures)}\n`)
  const missed =
    goalsOf(figures).some(({ holds }) => !holds) ||
    exceptionsOf(figures).some(({ because }) => because === '')
  if (missed) process.exitCode = 1
  return figures
}

export function refuseCost({ tools }: CostFigures): string | undefined {
  return tools === GENERATED
    ? 'the committed figures are those of real tools; see bench/README.md'
    : undefined
}

/** Writes the chart and the cost tables of the docs. */
export async function saveCost(figures: CostFigures): Promise<string[]> {
  const chart = new URL('../docs/images/cost.svg', import.meta.url)
  await writeFile(chart, drawChart(figures))
  return ['docs/images/cost.svg', ...(await writeDocs(figures))]
}
