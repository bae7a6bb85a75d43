/** What definitions cost on one wire. Counted once, and kept with their source: a later start reads no schema for it. */

import { shortHash } from '../base/hash.js'
import type { Catalogue, Entry, KeptParts, Source } from '../catalogue/catalogue.js'

/** To be increased when definitions come to other tokens than before: because a dialect writes them in another way, say. */
const costVersion = 1

export interface Costs {
  /** Tokens of a tool's definition as it is sent. */
  count(entry: Entry, count: () => number): number
}

interface Kept {
  /** Names the wire names: they are sent and counted too, and may depend on other sources. */
  readonly names: string
  /** In the order of the source's tools; null where nobody has asked. */
  readonly costs: readonly (number | null)[]
}

/** `by` names what decides the count besides the tools; undefined where that has no name, and nothing can be kept. */
export function createCosts(catalogue: Catalogue, by: string | undefined): Costs {
  const known = new WeakMap<Entry, number>()
  const met = new WeakSet<KeptParts>()
  const counted = new Map<KeptParts, Source>()
  const key = `${costVersion} ${by}`

  const takeKept = (source: Source, kept: KeptParts) => {
    met.add(kept)
    const entries = listEntries(source, catalogue)
    const { names, costs } = readKept(kept)[key] ?? {}
    if (names !== hashNames(entries) || !Array.isArray(costs) || costs.length !== entries.length) return
    for (const [at, entry] of entries.entries()) {
      const cost: unknown = costs[at]
      if (Number.isSafeInteger(cost) && (cost as number) >= 0) known.set(entry, cost as number)
    }
  }

  const keep = () => {
    for (const [kept, source] of counted) {
      const entries = listEntries(source, catalogue)
      const costs = entries.map((entry) => known.get(entry) ?? null)
      const all = { ...readKept(kept), [key]: { names: hashNames(entries), costs } satisfies Kept }
      try {
        kept.tokens.write(new TextEncoder().encode(JSON.stringify(all)))
      } catch {
        // The next start counts again.
      }
    }
    counted.clear()
  }

  return {
    count(entry, count) {
      const source = by === undefined ? undefined : catalogue.sources.get(entry.source)
      const kept = source?.kept
      if (source && kept && !met.has(kept)) takeKept(source, kept)
      const before = known.get(entry)
      if (before !== undefined) return before
      const made = count()
      known.set(entry, made)
      if (source && kept) {
        // Once for all that are counted in one go.
        if (counted.size === 0) queueMicrotask(keep)
        counted.set(kept, source)
      }
      return made
    },
  }
}

function listEntries({ ids }: Source, catalogue: Catalogue): Entry[] {
  return [...ids].flatMap((id) => catalogue.get(id) ?? [])
}

function hashNames(entries: readonly Entry[]): string {
  return shortHash(entries.map(({ wireName }) => wireName).join('\n'))
}

/** By what decided the count. Nothing where it cannot be read. */
function readKept({ tokens }: KeptParts): Readonly<Record<string, Kept | undefined>> {
  try {
    const all: unknown = JSON.parse(new TextDecoder().decode(tokens.read()))
    return typeof all === 'object' && all !== null ? (all as Record<string, Kept>) : {}
  } catch {
    return {}
  }
}

/** What the prompt cache does to the price of a request, by wire: shares of the plain input price. Sources are in docs/concepts/deliveries-and-cache.md. */

export interface CacheRule {
  /** For what is read from the cache. */
  readonly read: number
  /** For what is read anew and kept for the next request. */
  readonly write: number
  /** For what the model writes. */
  readonly output: number
  /** Tokens that a prefix needs to be kept at all. */
  readonly minimum: number
}

const RULES: Readonly<Record<string, CacheRule>> = {
  anthropic: { read: 0.1, write: 1.25, output: 5, minimum: 1024 },
  'openai-responses': { read: 0.1, write: 1.25, output: 5, minimum: 1024 },
  google: { read: 0.1, write: 1, output: 5, minimum: 4096 },
}

/** Servers of the Chat Completions family, and wires of the host's own: an automatic cache, as most have. */
const USUAL: CacheRule = { read: 0.1, write: 1, output: 5, minimum: 1024 }

/** `own`: what the host says of its prices. */
export function getCacheRule(wire: string, own: Partial<CacheRule> = {}): CacheRule {
  return { ...(RULES[wire] ?? USUAL), ...own }
}

/** The conversations that `auto` plans for: so many searches in so many requests. */
export const plans = {
  /** What most conversations come to. */
  typical: { searches: 3, requests: 10 },
  /** The worst: the shortest conversation with twelve searches, where the definitions are paid for least often. */
  frugal: { searches: 12, requests: 13 },
} as const

export type AutoPlan = keyof typeof plans

/** Tokens that a request adds to the history. */
const GROWTH = 2000
/** Tokens of one search answer and its reminder. */
const ANSWER = 600
/** Tokens that the model writes in a round that only searches. */
const REPLY = 100
/** What the bridge adds: its own definition, and the wrapper that the model writes around a call. */
const BRIDGE = 150
const WRAPPER = 15

interface DeferredPrompt {
  readonly surface: number
  readonly prompt: number
  readonly bridged?: boolean
}

/**
 * Tokens of definitions from which deferring them costs no more than sending them, in the conversation of the plan.
 * A search costs a round: the prompt is read once more, an answer joins it, the model writes a little.
 * `surface`: what deferral itself adds to every request; `prompt`: the first messages and the eager tools; `bridged`: found tools are
 * called through the bridge, once in each request but the last.
 */
export function computeBreakEven(
  plan: AutoPlan,
  { surface: cards, prompt, bridged = false }: DeferredPrompt,
  rule: CacheRule,
): number {
  const { read, write, output } = rule
  const { searches, requests } = plans[plan]
  const surface = cards + (bridged ? BRIDGE : 0)
  const wrappers = bridged ? (requests - 1) * WRAPPER * output : 0
  const prefix = prompt + surface + (GROWTH * requests) / 2
  const search = read * prefix + ANSWER * (write + (read * requests) / 2) + REPLY * output
  const definition = write + read * (requests - 1)
  return Math.round(
    surface + (searches * search + wrappers + computeUncached(prompt + surface, rule)) / definition,
  )
}

/** What the first requests cost because they are too short for the cache: with every tool sent they would not be. */
function computeUncached(first: number, { read, minimum }: CacheRule): number {
  const short = Math.max(0, Math.ceil((minimum - first) / GROWTH))
  return (1 - Math.min(1, read)) * short * (first + (GROWTH * (short - 1)) / 2)
}
