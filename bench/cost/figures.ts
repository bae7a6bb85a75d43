/** Computes the figures of the cost bench: every conversation under every strategy and provider, and the goals. */
import type { Tool, Toolwell, ToolwellOptions } from '@toolwell/core'
import { type BenchCatalogue, chooseTools } from './catalogue.ts'
import type { ConversationFile } from './conversation.ts'
import { costOf, type EagerCost, eagerCostOf } from './measure.ts'
import { mutate, mutations } from './mutation.ts'
import { type Provider, providers } from './providers.ts'
import type { PieceMaker, Rendering } from './rendering.ts'
import { createWell, type Recording, replayConversation } from './replay.ts'
import { isSupported, strategies } from './strategies.ts'
import { wires } from './wires/index.ts'
import type { WireName } from './wires/wire.ts'

export interface CostFigures {
  /** Source of the tools, and the tokenizer. */
  readonly tools: string
  readonly tokenizer: string
  readonly providers: readonly Provider[]
  readonly patterns: readonly PatternFigures[]
}

export interface PatternFigures {
  readonly name: string
  readonly about: string
  readonly turns: number
  readonly tools: number
  /** Tokens of the deferred definitions, of the eager ones, and of the overhead of deferral in each request. */
  readonly deferredTokens: number
  readonly eagerTokens: number
  readonly surfaceTokens: number
  readonly providers: Readonly<Record<string, ProviderFigures>>
}

export interface ProviderFigures {
  readonly requests: number
  /** Eager run: cost of the conversation in uncached input tokens, the share of tools, and the share of cached input. */
  readonly cost: number
  readonly toolShare: number
  readonly cacheHits: number
  /** Tokens of deferred definitions above which deferral costs less than eager: native if available, otherwise bridge. */
  readonly breakEven: number
  readonly strategies: Readonly<Record<string, StrategyFigures>>
}

/** Relative to eager. */
export interface StrategyFigures {
  readonly total: number
  readonly tools: number
  readonly cacheHits: number
  readonly searches: number
  /** Delivery that the library chose, `off` if it sent every tool. */
  readonly delivery: string
}

export async function measurePatterns(
  files: readonly ConversationFile[],
  corpus: readonly Tool[],
  pieces: PieceMaker,
  onPattern: (figures: PatternFigures) => void = () => {},
): Promise<PatternFigures[]> {
  const patterns: PatternFigures[] = []
  for (const file of files) {
    const figures = await measurePattern(file, chooseTools(corpus, file.catalogue), pieces)
    patterns.push(figures)
    onPattern(figures)
  }
  return patterns
}

export async function measurePattern(
  file: ConversationFile,
  catalogue: BenchCatalogue,
  pieces: PieceMaker,
): Promise<PatternFigures> {
  const wells = new Map<string, Toolwell>()
  const recordings = new Map<string, Recording>()
  /** Providers on one wire with the same options share a recording. */
  const record = async (options: ToolwellOptions, wire: WireName) => {
    const given = JSON.stringify(options)
    const well = wells.get(given) ?? createWell(catalogue, options)
    wells.set(given, well)
    const key = `${wire} ${given}`
    const recording =
      recordings.get(key) ?? (await replayConversation(file, catalogue, well, wires[wire], pieces))
    recordings.set(key, recording)
    return recording
  }
  const byProvider: Record<string, ProviderFigures> = {}
  let sizes = { deferredTokens: 0, eagerTokens: 0, surfaceTokens: 0 }
  for (const provider of providers) {
    const runs = new Map<string, Recording>()
    for (const { name, options } of strategies) {
      const recording = await recordOrSkip(() => record(options(provider), provider.wire), name)
      if (recording && isSupported(name, recording.delivery)) runs.set(name, recording)
    }
    const append = runs.get('append') as Recording
    for (const form of mutations) {
      const key = `${provider.wire} ${form}`
      const mutated = recordings.get(key) ?? mutate(append, form, wires[provider.wire], pieces)
      recordings.set(key, mutated)
      runs.set(form, mutated)
    }
    const eager = eagerCostOf(runs.get('eager') as Recording, provider)
    const relative = Object.fromEntries(
      [...runs]
        .filter(([name]) => name !== 'eager')
        .map(([name, run]) => [name, compare(run, eager, provider)]),
    )
    if (sizes.deferredTokens === 0) sizes = sizesOf(runs, file.catalogue.own)
    byProvider[provider.name] = {
      requests: eager.requests,
      cost: Math.round(eager.total),
      toolShare: round(eager.tools / eager.total),
      cacheHits: round(eager.cacheHits),
      breakEven: breakEvenOf(runs, eager, provider, file.catalogue.own),
      strategies: relative,
    }
  }
  const { name, about, turns } = file
  return { name, about, turns: turns.length, tools: file.catalogue.tools, ...sizes, providers: byProvider }
}

/** Skips deliveries that the library does not know. Other errors are thrown. */
async function recordOrSkip(run: () => Promise<Recording>, name: string): Promise<Recording | undefined> {
  try {
    return await run()
  } catch (error) {
    if (name === 'native' && (error as { code?: string }).code === 'invalid-option') return undefined
    throw error
  }
}

function compare(run: Recording, eager: EagerCost, provider: Provider): StrategyFigures {
  const cost = costOf(run, provider)
  return {
    total: round(cost.total / eager.total),
    // The tools' part: the cost of definitions in the eager run, plus everything that this run adds.
    tools: round((cost.total - (eager.total - eager.tools)) / eager.tools),
    cacheHits: round(cost.cacheHits),
    searches: cost.searches,
    delivery: run.mode === 'off' ? 'off' : run.delivery,
  }
}

/** The cost of eager grows linearly with its definitions, that of deferral hardly at all. Returns where they meet. */
function breakEvenOf(
  runs: ReadonlyMap<string, Recording>,
  eager: EagerCost,
  provider: Provider,
  own: number,
): number {
  const deferring = (runs.get('native') ?? runs.get('bridge')) as Recording
  const perToken = eager.tools / eager.toolTokens
  const work = eager.total - eager.tools
  return Math.round((costOf(deferring, provider).total - work) / perToken) - ownTokens(runs, own)
}

function sizesOf(runs: ReadonlyMap<string, Recording>, own: number) {
  const eager = firstOf(runs, 'eager')
  const bridge = firstOf(runs, 'bridge')
  const eagerTokens = ownTokens(runs, own)
  const fixed = (rendering: Rendering) => tokensOf(rendering, 'tools') + tokensOf(rendering, 'system')
  return {
    deferredTokens: tokensOf(eager, 'tools') - eagerTokens,
    eagerTokens,
    surfaceTokens: fixed(bridge) - tokensOf(eager, 'system') - eagerTokens,
  }
}

function ownTokens(runs: ReadonlyMap<string, Recording>, own: number): number {
  const tools = firstOf(runs, 'eager').pieces.filter(({ part }) => part === 'tools')
  return tools.slice(0, own).reduce((sum, { tokens }) => sum + tokens, 0)
}

function firstOf(runs: ReadonlyMap<string, Recording>, name: string): Rendering {
  return runs.get(name)?.requests[0]?.rendering ?? { pieces: [], marks: [] }
}

function tokensOf({ pieces }: Rendering, part: string): number {
  return pieces.reduce((sum, piece) => sum + (piece.part === part ? piece.tokens : 0), 0)
}

const round = (value: number) => Math.round(value * 10_000) / 10_000
