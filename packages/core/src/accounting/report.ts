/** What a conversation cost, as a person reads it. */
import { quote } from '../base/text.js'
import { count, short } from './figures.js'
import type { Inspection } from './projections.js'

export function reportOn(
  id: string,
  {
    accounting,
    mode,
    delivery,
    searchHistory,
    loadedLazyTools,
  }: Pick<Inspection, 'accounting' | 'mode' | 'delivery' | 'searchHistory' | 'loadedLazyTools'>,
  /** Tools that are not sent unless they are found. */
  deferred: number,
): string {
  const { requests, metaRequests, measured, actual, counterfactual, saved, cost, provider } = accounting
  const how =
    mode === 'on'
      ? `${deferred === 0 ? 'nothing ' : ''}deferred (${delivery})`
      : mode === 'off'
        ? 'every tool sent'
        : 'no request yet'
  const only = metaRequests > 0 ? `, ${metaRequests} of them only to search or guess` : ''
  const lines = [`${quote(id, 80)}: ${count(requests, 'request')}${only}; ${how}`]
  if (measured > 0) {
    lines.push(row('input tokens', actual, counterfactual, saved))
    lines.push(row('by cache prices, estimated', cost.actual, cost.counterfactual, cost.saved))
  }
  if (measured < requests)
    lines.push(
      `  ${requests - measured} of ${requests} are not in these figures: no usage was given for them`,
    )
  if (provider.inputTokens > 0)
    lines.push(
      `  the provider counted ${short(provider.inputTokens)} input (${short(provider.cachedTokens)} cached), ${short(provider.outputTokens)} output`,
    )
  lines.push(
    `  ${count(searchHistory.length, 'search', 'searches')}, ${loadedLazyTools.length} loaded${loadedLazyTools.length > 0 ? `: ${loadedLazyTools.join(', ')}` : ''}`,
  )
  return lines.join('\n')
}

function row(what: string, sent: number, eager: number, saved: number): string {
  const share = eager > 0 ? ` (${((saved / eager) * 100).toFixed(1)} %)` : ''
  return `  ${what}: ${short(sent)} instead of ${short(eager)} with every tool; saved ${short(saved)}${share}`
}
