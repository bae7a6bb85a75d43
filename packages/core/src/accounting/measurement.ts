/** Reads the token figures that a host reports for a request. Figures of a provider are checked before they count. */

import { assertKnownKeys, invalid } from '../base/options.js'
import { quote } from '../base/text.js'
import type { LedgerFact, SurfaceTokens } from '../ledger/event.js'
import type { Notice } from '../tool/notice.js'

/** The provider's figures. `readUsage` of an adapter entry point reads them from a reply. */
export interface Usage {
  /** All input, cached or not. Anthropic: the sum of `input_tokens`, `cache_read_input_tokens` and `cache_creation_input_tokens`. */
  readonly inputTokens?: number | undefined
  /** The part of `inputTokens` that was read from the cache. */
  readonly cachedTokens?: number | undefined
  readonly outputTokens?: number | undefined
}

export interface Measurement extends Usage {
  readonly requestId: string
  /**
   * Tokens of the messages as sent, with system prompt and notices. Defaults to the provider's input tokens minus the tools. A request
   * that is already measured then stays unchanged.
   */
  readonly messageTokens?: number | undefined
}

const FIGURES = ['inputTokens', 'cachedTokens', 'outputTokens'] as const

/** Ignores impossible figures of a provider with a notice, because odd usage figures must not stop a host's loop. */
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
      `recordRequest got requestId ${quote(String(requestId))} and messageTokens ${String(given.messageTokens)}. Pass the id of a started request (turn.view.requestId); messageTokens, if given, must not be negative.`,
    )
  if (given.messageTokens === undefined && request.messageTokens !== undefined) return undefined
  const refuse = (detail: string) => notify({ kind: 'usage-refused', requestId, detail })
  const figures: { [name in (typeof FIGURES)[number]]?: number } = {}
  for (const name of FIGURES) {
    const value: unknown = given[name]
    if (isFigure(value)) figures[name] = value
    else if (value !== undefined && value !== null)
      refuse(`${name} must be a non-negative number, not ${String(value)}; it was ignored`)
  }
  const { inputTokens, cachedTokens } = figures
  if (inputTokens !== undefined && cachedTokens !== undefined && cachedTokens > inputTokens) {
    refuse(
      `cachedTokens (${cachedTokens}) is more than inputTokens (${inputTokens}); both were ignored. inputTokens is all input, cached or not: on Anthropic the sum of input_tokens, cache_read_input_tokens and cache_creation_input_tokens`,
    )
    delete figures.inputTokens
    delete figures.cachedTokens
  }
  const messageTokens = given.messageTokens ?? countMessageTokens(figures.inputTokens, request.tokens)
  if (messageTokens === undefined) return undefined
  return { kind: 'measured', requestId, messageTokens, ...figures }
}

/** Counts all input except definitions. */
function countMessageTokens(input: number | undefined, tokens: SurfaceTokens): number | undefined {
  return input === undefined ? undefined : Math.max(0, input - sumToolTokens(tokens) - (tokens.revealed ?? 0))
}

function isFigure(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

/** Sums the tokens of the tools array. The section, search answers and notices are part of the messages. */
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
