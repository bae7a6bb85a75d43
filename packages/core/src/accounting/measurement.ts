/** What a host says a request came to. The provider's figures are checked before they are believed. */

import { assertKnownKeys, invalid } from '../base/options.js'
import { quote } from '../base/text.js'
import type { LedgerFact, SurfaceTokens } from '../ledger/event.js'
import type { Notice } from '../tool/notice.js'

/** The provider's figures. `readUsage` of an adapter's door reads them from a reply. */
export interface Usage {
  /** All input, cached or not. Anthropic: `input_tokens`, `cache_read_input_tokens` and `cache_creation_input_tokens` together. */
  readonly inputTokens?: number | undefined
  /** The part of `inputTokens` that was read from the cache. */
  readonly cachedTokens?: number | undefined
  readonly outputTokens?: number | undefined
}

export interface Measurement extends Usage {
  readonly requestId: string
  /**
   * Tokens of the messages as they were sent, system prompt and inserts included. Left out: what the provider counted, less
   * the tools; a request that was measured before stays as it is then.
   */
  readonly messageTokens?: number | undefined
}

const FIGURES = ['inputTokens', 'cachedTokens', 'outputTokens'] as const

/** Figures of a provider that cannot be true are left out and told: a server's odd usage must not end a host's loop. */
export function readMeasurement(
  given: Measurement,
  begun: (
    requestId: string,
  ) => { readonly tokens: SurfaceTokens; readonly messageTokens?: number } | undefined,
  notify: (notice: Notice) => void,
): Extract<LedgerFact, { kind: 'measured' }> | undefined {
  assertKnownKeys(given, ['requestId', 'messageTokens', ...FIGURES], 'recordRequest')
  const { requestId } = given
  const request = begun(requestId)
  if (!request || (given.messageTokens !== undefined && !isFigure(given.messageTokens)))
    throw invalid(
      'recordRequest',
      `recordRequest needs the id of a request that was begun (turn.view.requestId), and messageTokens that are not negative where it gets any; it got ${quote(String(requestId))} and ${String(given.messageTokens)}.`,
    )
  if (given.messageTokens === undefined && request.messageTokens !== undefined) return undefined
  const refuse = (detail: string) => notify({ kind: 'usage-refused', requestId, detail })
  const figures: { [name in (typeof FIGURES)[number]]?: number } = {}
  for (const name of FIGURES) {
    const value: unknown = given[name]
    if (isFigure(value)) figures[name] = value
    else if (value !== undefined && value !== null)
      refuse(`${name} must be a number that is not negative, not ${String(value)}; it was left out`)
  }
  const { inputTokens, cachedTokens } = figures
  if (inputTokens !== undefined && cachedTokens !== undefined && cachedTokens > inputTokens) {
    refuse(
      `cachedTokens (${cachedTokens}) is more than inputTokens (${inputTokens}), which is all input, cached or not: on Anthropic input_tokens, cache_read_input_tokens and cache_creation_input_tokens together; both were left out`,
    )
    delete figures.inputTokens
    delete figures.cachedTokens
  }
  const messageTokens = given.messageTokens ?? countMessageTokens(figures.inputTokens, request.tokens)
  if (messageTokens === undefined) return undefined
  return { kind: 'measured', requestId, messageTokens, ...figures }
}

/** All input that is no definition. */
function countMessageTokens(input: number | undefined, tokens: SurfaceTokens): number | undefined {
  return input === undefined ? undefined : Math.max(0, input - sumToolTokens(tokens) - (tokens.revealed ?? 0))
}

function isFigure(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

// Figures as lines show them.

/** What the tools array costs. The section, search answers and inserts are part of the messages. */
export function sumToolTokens(tokens: SurfaceTokens): number {
  return tokens.eager + tokens.loaded + tokens.cards + tokens.metaTools
}

export function describeTokens(tokens: SurfaceTokens): string {
  return `${formatTokens(sumToolTokens(tokens))} tokens of tools, ${formatTokens(tokens.everythingEager)} if all were sent`
}

export function formatCount(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`
}

export function formatTokens(tokens: number): string {
  return Math.abs(tokens) < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`
}
