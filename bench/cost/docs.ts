/** Writes the tables of docs/costs.md from the figures. Text between the marks is always generated. */
import { readFile, writeFile } from 'node:fs/promises'
import type { CostFigures } from './figures.ts'
import {
  autoOf,
  BREAK_EVENS,
  breakEvensOf,
  exceptionsOf,
  figuresOf,
  frontierOf,
  GOALS,
  goalsOf,
  outOfReachOf,
  percent,
} from './goals.ts'

const MARK = /(<!-- figures: ([a-z-]+) -->\n)[\s\S]*?(<!-- end -->)/g

/** The document with the tables filled in. */
export function fillDocs(text: string, figures: CostFigures): string {
  const blocks = blocksOf(figures)
  return text.replace(MARK, (_, start: string, name: string, end: string) => {
    const block = blocks[name]
    if (block === undefined) throw new Error(`docs/costs.md wants figures named ${name}; there are none`)
    return `${start}\n${block}\n\n${end}`
  })
}

export async function writeDocs(file: URL, figures: CostFigures): Promise<void> {
  await writeFile(file, fillDocs(await readFile(file, 'utf8'), figures))
}

function blocksOf(figures: CostFigures): Readonly<Record<string, string>> {
  return {
    prices: pricesTable(figures),
    goals: goalsTable(figures),
    totals: totalsTable(figures, 'anthropic'),
    auto: autoTable(figures),
    'break-even': breakEvenTable(figures),
    frontier: frontierTable(figures),
    exceptions: exceptionsTable(figures),
    'out-of-reach': outOfReachTable(figures),
  }
}

function pricesTable({ providers }: CostFigures): string {
  return markdown(
    ['provider', 'wire', 'read', 'write', 'output', 'what is found again', 'kept for'],
    providers.map(({ title, wire, prices, rule }) => [
      title,
      wire,
      rule.kind === 'none' ? '–' : `${prices.read} ×`,
      rule.kind === 'none' ? '–' : `${prices.write} ×`,
      `${prices.output} ×`,
      rule.kind === 'none'
        ? 'nothing'
        : rule.kind === 'prefix'
          ? `any shared beginning of ${rule.minimum} tokens or more`
          : `prefixes of ${rule.minimum} tokens or more that end in ${rule.marks === 'all' ? 'a mark' : 'the last message'}`,
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

function totalsTable({ patterns }: CostFigures, provider: string): string {
  const names = ['auto', 'frugal', 'native', 'bridge', 'append', 'mutation-first', 'mutation-sorted']
  return markdown(
    [
      'conversation',
      'turns',
      'tools',
      'deferred tokens',
      'searches',
      'auto',
      'frugal',
      'native',
      'bridge',
      'append',
      'newest first',
      'sorted',
      'tools’ part, auto',
      'cache hits, auto / eager',
      'break-even',
    ],
    patterns.map((pattern) => {
      const { strategies, cacheHits, breakEven } = figuresOf(pattern, provider)
      const auto = autoOf(pattern, provider)
      return [
        pattern.name,
        String(pattern.turns),
        String(pattern.tools),
        String(pattern.deferredTokens),
        String(strategies.bridge?.searches ?? 0),
        ...names.map((name) => cell(strategies[name]?.total)),
        percent(auto.tools),
        `${percent(auto.cacheHits, 0)} / ${percent(cacheHits, 0)}`,
        String(breakEven),
      ]
    }),
  )
}

function autoTable({ patterns, providers }: CostFigures): string {
  return markdown(
    ['conversation', ...providers.map(({ title }) => title)],
    patterns.map((pattern) => [
      pattern.name,
      ...providers.map(({ name }) => {
        const { total, delivery } = autoOf(pattern, name)
        return delivery === 'off' ? 'eager' : `${percent(total)} ${delivery}`
      }),
    ]),
  )
}

function breakEvenTable(figures: CostFigures): string {
  return markdown(
    ['provider', ...BREAK_EVENS.map(({ title }) => title)],
    figures.providers.map(({ name, title }) => [title, ...breakEvensOf(figures, name).map(String)]),
  )
}

function frontierTable(figures: CostFigures): string {
  return markdown(
    ['deferred tokens', 'best', 'median', 'above 102 %', 'worst with a cache', 'worst without'],
    frontierOf(figures).map(({ deferredTokens, best, median, above, worst, worstUncached }) => [
      String(deferredTokens),
      percent(best),
      percent(median),
      percent(above, 0),
      `${percent(worst.total)} (${worst.pattern}, ${worst.provider})`,
      `${percent(worstUncached.total)} (${worstUncached.pattern})`,
    ]),
  )
}

/** By reason: the number of cases, and the case with the largest difference. */
function exceptionsTable(figures: CostFigures): string {
  const all = exceptionsOf(figures)
  if (all.length === 0) return 'There is none.'
  return markdown(
    ['why', 'cases', 'conversations', 'largest difference'],
    [...new Set(all.map(({ because }) => because))].map((reason) => {
      const cases = all.filter(({ because }) => because === reason)
      const most = cases.reduce((a, b) => (b.auto - b.mutation > a.auto - a.mutation ? b : a))
      return [
        reason || '**missed**',
        String(cases.length),
        [...new Set(cases.map(({ pattern }) => pattern.slice(0, 2)))].sort().join(', '),
        `${most.pattern} on ${most.provider}: ${percent(most.mutation)} against ${percent(most.auto)}`,
      ]
    }),
  )
}

function outOfReachTable(figures: CostFigures): string {
  return markdown(
    ['provider', 'conversation', 'total with `frugal`'],
    outOfReachOf(figures).map(({ provider, pattern, total }) => [provider, pattern, percent(total)]),
  )
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

function cell(value: number | undefined): string {
  return value === undefined ? '–' : percent(value)
}
