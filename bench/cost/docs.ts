/** Fills the cost tables of the docs from the figures. Never edit the text between the marks by hand. */
import { readFile, writeFile } from 'node:fs/promises'
import type { CostFigures } from './figures.ts'
import { BREAK_EVENS, breakEvensOf, GOALS, goalsOf } from './goals.ts'

const MARK = /(<!-- cost: ([a-z-]+) -->\n)[\s\S]*?(<!-- end -->)/g

/** Pages with cost tables. */
export const COST_PAGES = ['docs/concepts/deliveries-and-cache.md', 'docs/reference/measurements.md']

export function fillDocs(text: string, figures: CostFigures): string {
  const blocks = blocksOf(figures)
  return text.replace(MARK, (_, start: string, name: string, end: string) => {
    const block = blocks[name]
    if (block === undefined) throw new Error(`Unknown mark "cost: ${name}" in ${COST_PAGES.join(' or ')}.`)
    return `${start}\n${block}\n\n${end}`
  })
}

/** Fills the pages and returns their paths. */
export async function writeDocs(figures: CostFigures): Promise<string[]> {
  for (const path of COST_PAGES) {
    const page = new URL(`../../${path}`, import.meta.url)
    await writeFile(page, fillDocs(await readFile(page, 'utf8'), figures))
  }
  return COST_PAGES
}

function blocksOf(figures: CostFigures): Readonly<Record<string, string>> {
  return {
    prices: pricesTable(figures),
    goals: goalsTable(figures),
    'break-even': breakEvenTable(figures),
  }
}

function pricesTable({ providers }: CostFigures): string {
  return markdown(
    ['provider', 'wire', 'read', 'write', 'output', 'what the cache matches', 'kept for'],
    providers.map(({ title, wire, prices, rule }) => [
      title,
      wire,
      rule.kind === 'none' ? '–' : `${prices.read} ×`,
      rule.kind === 'none' ? '–' : `${prices.write} ×`,
      `${prices.output} ×`,
      rule.kind === 'none'
        ? 'nothing'
        : rule.kind === 'prefix'
          ? `any common prefix of ${rule.minimum} tokens or more`
          : `prefixes of ${rule.minimum} tokens or more up to ${rule.marks === 'all' ? 'a cache mark' : 'the last message'}`,
      rule.kind === 'none' ? '–' : `${rule.minutes} minutes`,
    ]),
  )
}

function goalsTable(figures: CostFigures): string {
  const goals = goalsOf(figures)
  return markdown(
    ['provider', ...Object.values(GOALS)],
    figures.providers.map(({ name, title }) => [
      title,
      ...goals
        .filter(({ provider }) => provider === name)
        .map(({ figure, holds }) => `${figure}${holds ? '' : ' **missed**'}`),
    ]),
  )
}

function breakEvenTable(figures: CostFigures): string {
  return markdown(
    ['provider', ...BREAK_EVENS.map(({ title }) => title)],
    figures.providers.map(({ name, title }) => [title, ...breakEvensOf(figures, name).map(String)]),
  )
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
