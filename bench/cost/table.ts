/** Prints the figures to the terminal. */
import type { CostFigures, PatternFigures } from './figures.ts'
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

const SHOWN = ['auto', 'frugal', 'native', 'bridge', 'append', 'mutation-first', 'mutation-sorted']
const HEADINGS = ['auto', 'frugal', 'native', 'bridge', 'append', 'first', 'sorted']

export function costTable(figures: CostFigures): string {
  const [first] = figures.providers
  if (!first) return ''
  return [
    `Tools: ${figures.tools}; tokens by ${figures.tokenizer}. All costs relative to sending every tool (eager = 100 %); ! marks more than 102 %.`,
    '',
    `Total cost, ${first.title}`,
    ...strategyTable(figures.patterns, first.name),
    '',
    'Total cost with auto, by provider',
    ...autoTable(figures),
    '',
    'Break-even: tokens of deferred definitions from which deferral (native, else bridge) is cheaper than eager',
    ...breakEvenTable(figures),
    '',
    'Frontier: total cost of deferral if every catalogue had so many deferred tokens, over all conversations and providers',
    ...frontierTable(figures),
    '',
    'Lines',
    ...goalsOf(figures).map(
      ({ holds, name, provider, figure }) =>
        `  ${holds ? 'ok  ' : 'MISS'} ${provider}: ${GOALS[name]}: ${figure}`,
    ),
    ...outOfReachOf(figures).map(
      ({ provider, pattern, total }) => `  edge ${provider}: ${pattern}: ${percent(total)}, out of reach`,
    ),
    ...exceptionLines(figures),
  ].join('\n')
}

function strategyTable(patterns: readonly PatternFigures[], provider: string): string[] {
  const head = `${'conversation'.padEnd(34)}${pad('deferred', 9)}${pad('searches', 9)}${HEADINGS.map((name) => pad(name, 9)).join('')}${pad('tools', 9)}${pad('hits', 7)}${pad('of eager', 9)}`
  const rows = patterns.map((pattern) => {
    const { strategies, cacheHits } = figuresOf(pattern, provider)
    const auto = autoOf(pattern, provider)
    const totals = SHOWN.map((name) => pad(marked(strategies[name]?.total), 9)).join('')
    const searches = strategies.bridge?.searches ?? 0
    return `${pattern.name.padEnd(34)}${pad(thousands(pattern.deferredTokens), 9)}${pad(searches, 9)}${totals}${pad(percent(auto.tools), 9)}${pad(percent(auto.cacheHits, 0), 7)}${pad(percent(cacheHits, 0), 9)}`
  })
  return [
    head,
    ...rows,
    'tools: tool-attributable cost of auto; hits: share of its input that the cache had, and of that of eager.',
  ]
}

function autoTable({ patterns, providers }: CostFigures): string[] {
  const head = `${'conversation'.padEnd(34)}${providers.map(({ name }) => pad(name, 19)).join('')}`
  const rows = patterns.map((pattern) => {
    const cells = providers.map(({ name }) => {
      const { total, delivery } = autoOf(pattern, name)
      return pad(`${delivery === 'off' ? 'eager' : delivery} ${marked(total)}`, 19)
    })
    return `${pattern.name.padEnd(34)}${cells.join('')}`
  })
  return [head, ...rows]
}

function breakEvenTable(figures: CostFigures): string[] {
  const rows = BREAK_EVENS.map(({ title }, index) => {
    const cells = figures.providers.map(({ name }) => pad(breakEvensOf(figures, name)[index] ?? '', 19))
    return `${title.padEnd(34)}${cells.join('')}`
  })
  return [`${''.padEnd(34)}${figures.providers.map(({ name }) => pad(name, 19)).join('')}`, ...rows]
}

function frontierTable(figures: CostFigures): string[] {
  return [
    `${pad('deferred', 10)}${pad('best', 9)}${pad('median', 9)}${pad('above 102 %', 13)}   worst with a cache, and without`,
    ...frontierOf(figures).map(
      ({ deferredTokens, best, median, above, worst, worstUncached }) =>
        `${pad(deferredTokens, 10)}${pad(percent(best), 9)}${pad(percent(median), 9)}${pad(`${percent(above, 0)} of all`, 13)}${pad(percent(worst.total), 10)} ${worst.pattern} on ${worst.provider},${pad(percent(worstUncached.total), 9)} ${worstUncached.pattern}`,
    ),
  ]
}

function exceptionLines(figures: CostFigures): string[] {
  const all = exceptionsOf(figures)
  const plain = all.filter(({ because }) => because === '')
  const reasons = [...new Set(all.map(({ because }) => because).filter(Boolean))]
  return [
    `  ${plain.length === 0 ? 'ok  ' : 'MISS'} conversations in which a mutated list is cheaper than auto: ${plain.length}${plain.map(({ pattern, provider, mutation, auto }) => `; ${pattern} on ${provider} ${percent(mutation)} against ${percent(auto)}`).join('')}`,
    ...reasons.map((reason) => {
      const cases = all.filter(({ because }) => because === reason)
      const most = cases.reduce((a, b) => (b.auto - b.mutation > a.auto - a.mutation ? b : a))
      return `       besides ${cases.length} where ${reason}; most: ${most.pattern} on ${most.provider}, ${percent(most.mutation)} against ${percent(most.auto)}`
    }),
  ]
}

function marked(value: number | undefined): string {
  if (value === undefined) return '–'
  return `${value > 1.02 ? '!' : ''}${(value * 100).toFixed(1)}`
}

function thousands(value: number): string {
  return value < 10_000 ? String(value) : `${Math.round(value / 1000)}k`
}

const pad = (value: string | number, width: number) => String(value).padStart(width)
