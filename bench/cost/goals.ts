/** Goals of the cost bench, and cases that cannot reach them. */
import type { CostFigures, PatternFigures, StrategyFigures } from './figures.ts'

export interface Goal {
  readonly name: keyof typeof GOALS
  readonly provider: string
  /** Readable figure with its conversation. */
  readonly figure: string
  readonly holds: boolean
}

/** A conversation in which rebuilding the list costs less than `auto`. */
export interface Exception {
  readonly pattern: string
  readonly provider: string
  readonly mutation: number
  readonly auto: number
  readonly because:
    | 'nothing was searched for, so no list changed'
    | 'nothing is cached, so the order is free'
    | ''
}

/** Cost of deferral at one catalogue size, over all conversations and providers, relative to eager. */
export interface FrontierRow {
  readonly deferredTokens: number
  readonly best: number
  readonly median: number
  /** With the providers that have a cache, and with the one without. */
  readonly worst: FrontierCase
  readonly worstUncached: FrontierCase
  /** Share of the cases above 102 %. */
  readonly above: number
}

interface FrontierCase {
  readonly pattern: string
  readonly provider: string
  readonly isCached: boolean
  readonly total: number
}

/**
 * Out of reach for any decision before request 1 that defers 95 tools: without a cache, each of the twelve searches pays for some
 * 50,000 tokens of history again.
 */
const OUT_OF_REACH = [{ provider: 'no-cache', pattern: '28-one-turn-large-results' }]

export const USUAL = '10-ten-turns-95-tools'
const TOOLS_LIMIT = 0.25
const GAINING = 24
const WORST_LIMIT = 1.35
const FRUGAL_LIMIT = 1.02
const SIZES = [1_000, 2_000, 4_000, 6_000, 8_000, 12_000, 16_000, 20_000, 25_000, 40_000]

export const GOALS = {
  share: 'tools’ part at 95 tools and 10 turns (goal ≤ 25 %)',
  gaining: 'conversations that cost no more than eager (goal ≥ 24)',
  worst: 'the most expensive one (goal ≤ 135 %)',
  frugal: 'the most expensive one with `frugal` (goal ≤ 102 %)',
} as const

/** The second and third goal apply to providers with discounted caches. */
export function goalsOf({ providers, patterns }: CostFigures): Goal[] {
  return providers.flatMap(({ name: provider, rule }) => {
    const usual = patterns.find((pattern) => pattern.name === USUAL)
    const share = usual ? autoOf(usual, provider).tools : Number.NaN
    const gaining = patterns.filter((pattern) => autoOf(pattern, provider).total <= 1).length
    const worst = dearest(patterns, (pattern) => autoOf(pattern, provider).total)
    const reachable = patterns.filter((pattern) => !isOutOfReach(pattern.name, provider))
    const frugal = dearest(reachable, (pattern) => frugalOf(pattern, provider).total)
    const uncached = rule.kind === 'none'
    const goal = (name: Goal['name'], figure: string, holds: boolean): Goal => ({
      name,
      provider,
      figure,
      holds,
    })
    return [
      goal('share', percent(share), share <= TOOLS_LIMIT),
      goal('gaining', `${gaining} of ${patterns.length}`, uncached || gaining >= GAINING),
      goal('worst', worst.text, uncached || worst.total <= WORST_LIMIT),
      goal('frugal', frugal.text, frugal.total <= FRUGAL_LIMIT),
    ]
  })
}

function dearest(patterns: readonly PatternFigures[], totalOf: (pattern: PatternFigures) => number) {
  const pattern = patterns.reduce((a, b) => (totalOf(b) > totalOf(a) ? b : a))
  const total = totalOf(pattern)
  return { total, text: `${percent(total)} (${pattern.name})` }
}

/** Cases excluded from the goals, with their figures. */
export function outOfReachOf({ patterns }: CostFigures) {
  return OUT_OF_REACH.flatMap(({ provider, pattern }) => {
    const figures = patterns.find(({ name }) => name === pattern)
    const total = figures ? frugalOf(figures, provider).total : 0
    return total > FRUGAL_LIMIT ? [{ provider, pattern, total }] : []
  })
}

function isOutOfReach(pattern: string, provider: string): boolean {
  return OUT_OF_REACH.some((each) => each.pattern === pattern && each.provider === provider)
}

export function exceptionsOf({ providers, patterns }: CostFigures): Exception[] {
  return providers.flatMap(({ name, rule }) =>
    patterns.flatMap((pattern): Exception[] => {
      const { strategies } = figuresOf(pattern, name)
      const first = strategies['mutation-first']
      const sorted = strategies['mutation-sorted']
      const auto = autoOf(pattern, name)
      const mutation = Math.min(first?.total ?? Number.NaN, sorted?.total ?? Number.NaN)
      if (!(mutation < auto.total)) return []
      const because =
        first?.searches === 0
          ? 'nothing was searched for, so no list changed'
          : rule.kind === 'none' || (rule.kind === 'prefix' && mutation === strategies.append?.total)
            ? 'nothing is cached, so the order is free'
            : ''
      return [{ pattern: pattern.name, provider: name, mutation, auto: auto.total, because }]
    }),
  )
}

/** Every conversation at other catalogue sizes, along the line of the break-even. */
export function frontierOf({ providers, patterns }: CostFigures): FrontierRow[] {
  return SIZES.map((size) => {
    const cases = providers
      .flatMap(({ name, rule }) =>
        patterns.map((pattern) => ({
          pattern: pattern.name,
          provider: name,
          isCached: rule.kind !== 'none',
          total: round(deferredAt(pattern, name, size)),
        })),
      )
      .sort((a, b) => a.total - b.total)
    const at = (index: number) => cases[index] as FrontierCase
    return {
      deferredTokens: size,
      best: at(0).total,
      median: at(Math.floor(cases.length / 2)).total,
      worst: cases.findLast(({ isCached }) => isCached) ?? at(0),
      worstUncached: cases.findLast(({ isCached }) => !isCached) ?? at(0),
      above: round(cases.filter(({ total }) => total > FRUGAL_LIMIT).length / cases.length),
    }
  })
}

function deferredAt(pattern: PatternFigures, provider: string, size: number): number {
  const { cost, toolShare, breakEven } = figuresOf(pattern, provider)
  const { deferredTokens, eagerTokens } = pattern
  const perToken = (cost * toolShare) / (deferredTokens + eagerTokens)
  const work = cost * (1 - toolShare)
  return (work + perToken * (eagerTokens + breakEven)) / (work + perToken * (eagerTokens + size))
}

/** Break-even cases: few or many searches, short or long results. */
export const BREAK_EVENS = [
  { pattern: '11-ten-turns-no-search', title: 'ten turns, no search' },
  { pattern: USUAL, title: 'ten turns, three searches' },
  { pattern: '05-errand-95-tools', title: 'one turn, three searches' },
  { pattern: '23-sixty-turns-95-tools', title: 'sixty turns, twelve searches' },
  { pattern: '27-one-turn-12-searches-95-tools', title: 'one turn, twelve searches' },
  { pattern: '28-one-turn-large-results', title: 'the same, results of 8,000' },
]

export function breakEvensOf({ patterns }: CostFigures, provider: string): number[] {
  return BREAK_EVENS.map(({ pattern: name }) => {
    const pattern = patterns.find((each) => each.name === name)
    return pattern ? figuresOf(pattern, provider).breakEven : Number.NaN
  })
}

export function figuresOf(pattern: PatternFigures, provider: string) {
  const figures = pattern.providers[provider]
  if (!figures) throw new Error(`${pattern.name} was not measured for ${provider}`)
  return figures
}

export function autoOf(pattern: PatternFigures, provider: string): StrategyFigures {
  return strategyOf(pattern, provider, 'auto')
}

export function frugalOf(pattern: PatternFigures, provider: string): StrategyFigures {
  return strategyOf(pattern, provider, 'frugal')
}

function strategyOf(pattern: PatternFigures, provider: string, name: string): StrategyFigures {
  const figures = figuresOf(pattern, provider).strategies[name]
  if (!figures) throw new Error(`${pattern.name} was not measured with ${name}`)
  return figures
}

export function percent(value: number, digits = 1): string {
  return `${(value * 100).toFixed(digits)} %`
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000
}
