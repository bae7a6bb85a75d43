/** Counts the tokens of definitions and computes when deferring them pays off. */

import { shortHash } from '../base/hash.js'
import { type CacheRule, getWireFacts } from '../base/wires.js'
import type { Catalogue, Entry, KeptParts, Source } from '../catalogue/catalogue.js'

/** Increase when definitions get other token counts, for example because a dialect writes them differently. */
const costVersion = 1

export interface Costs {
  /** Returns the tokens of a tool's definition as sent. Counted once and stored with the source, so a later start reads no schema. */
  count(entry: Entry, count: () => number): number
}

interface Kept {
  /** Hash of the wire names. They are sent and counted too, and may depend on other sources. */
  readonly names: string
  /** In the order of the tools of the source; null if not counted yet. */
  readonly costs: readonly (number | null)[]
}

/** `by`: names everything that decides the count besides the tools; undefined if it has no name, so nothing can be stored. */
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
        // Once for all tools that are counted together.
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

/** Reads the stored counts by key; empty if they cannot be read. */
function readKept({ tokens }: KeptParts): Readonly<Record<string, Kept | undefined>> {
  try {
    const all: unknown = JSON.parse(new TextDecoder().decode(tokens.read()))
    return typeof all === 'object' && all !== null ? (all as Record<string, Kept>) : {}
  } catch {
    return {}
  }
}

/** For servers of the Chat Completions family and wires of hosts: an automatic cache, as most have. */
const USUAL: CacheRule = { read: 0.1, write: 1, output: 5, minimum: 1024 }

/** Returns the rule of a wire. `own`: prices set by the host. */
export function getCacheRule(wire: string, own: Partial<CacheRule> = {}): CacheRule {
  return { ...(getWireFacts(wire).cache ?? USUAL), ...own }
}

/** Number of searches and requests in the conversations that the decision is made for. */
export const plans = {
  /** Most conversations. */
  typical: { searches: 3, requests: 10 },
  /** The worst case: the shortest conversation with twelve searches, in which the definitions are sent least often. */
  frugal: { searches: 12, requests: 13 },
} as const

export type AutoPlan = keyof typeof plans

/** Tokens that a request adds to the history. */
const GROWTH = 2000
/** Tokens of one search answer and its reminder. */
const ANSWER = 600
/** Tokens that the model writes in a round that only searches. */
const REPLY = 100
/** Tokens that the bridge adds: its definition, and the wrapper that the model writes around a call. */
const BRIDGE = 150
const WRAPPER = 15

interface DeferredPrompt {
  readonly surface: number
  readonly prompt: number
  readonly bridged?: boolean
}

/**
 * Computes the tokens of definitions from which on deferring costs no more than sending them, in the conversation of the plan.
 * A search costs one round: the prompt is read once more, an answer is added, and the model writes a little.
 * `surface`: tokens that deferring adds to every request. `prompt`: the first messages and the eager tools. `bridged`: found tools
 * are called through the bridge, once in each request except the last.
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

/** Computes the extra cost of first requests that are too short for the cache. With every tool sent they would be long enough. */
function computeUncached(first: number, { read, minimum }: CacheRule): number {
  const short = Math.max(0, Math.ceil((minimum - first) / GROWTH))
  return (1 - Math.min(1, read)) * short * (first + (GROWTH * (short - 1)) / 2)
}
