/** Computes costs from recorded requests, in units of one uncached input token and relative to sending every tool. */
import { applyCache, type CacheUse } from './cache.ts'
import type { Provider } from './providers.ts'
import type { Recording } from './replay.ts'

export interface Cost {
  readonly requests: number
  readonly searches: number
  readonly inputTokens: number
  /** Share of input tokens read from the cache. */
  readonly cacheHits: number
  /** Input and output of the whole conversation, in uncached input tokens. */
  readonly total: number
}

export interface EagerCost extends Cost {
  /** Tokens of all definitions. */
  readonly toolTokens: number
  /** Cost of the definitions. The rest of the total is work under every strategy. */
  readonly tools: number
}

export function costOf(recording: Recording, provider: Provider): Cost {
  return summarise(recording, applyCache(recording.requests, provider.rule), provider)
}

/** The same, with the cost of the definitions: they are in one place of each request and are cached together. */
export function eagerCostOf(recording: Recording, provider: Provider): EagerCost {
  const uses = applyCache(recording.requests, provider.rule)
  const { prices } = provider
  let tools = 0
  let toolTokens = 0
  for (const [index, { rendering }] of recording.requests.entries()) {
    const use = uses[index] as CacheUse
    let start = 0
    let length = 0
    for (const { part, tokens } of rendering.pieces)
      if (part === 'tools') length += tokens
      else if (length === 0) start += tokens
    const end = start + length
    const cached = use.read
    const written = use.read + use.written
    const overlap = (from: number, to: number) => Math.max(0, Math.min(to, end) - Math.max(from, start))
    tools +=
      overlap(0, cached) * prices.read +
      overlap(cached, written) * prices.write +
      overlap(written, Number.POSITIVE_INFINITY)
    toolTokens = length
  }
  return { ...summarise(recording, uses, provider), toolTokens, tools }
}

function summarise({ requests, searches }: Recording, uses: readonly CacheUse[], { prices }: Provider): Cost {
  let inputTokens = 0
  let read = 0
  let total = 0
  for (const [index, use] of uses.entries()) {
    inputTokens += use.read + use.written + use.plain
    read += use.read
    total += use.read * prices.read + use.written * prices.write + use.plain
    total += (requests[index]?.output ?? 0) * prices.output
  }
  return { requests: requests.length, searches, inputTokens, cacheHits: read / inputTokens, total }
}
