/** What a conversation cost, as a person reads it. */
import { firstLine, quote } from '../base/text.js'
import type { Unmatched } from '../catalogue/unmatched-names.js'
import type { Finding } from '../tool/source.js'
import type { Inspection } from './inspect.js'
import { formatCount, formatTokens } from './measurement.js'

/** What the report reads of a conversation. */
type Reported = Pick<
  Inspection,
  'accounting' | 'mode' | 'because' | 'delivery' | 'wire' | 'searchHistory' | 'loadedLazyTools'
>

export function formatReport(
  id: string,
  { accounting, mode, because, delivery, wire, searchHistory, loadedLazyTools }: Reported,
  /** Tools that are not sent unless they are found, and whether any tool is sent at all. */
  { deferred, isEmpty }: { readonly deferred: number; readonly isEmpty: boolean },
): string {
  const { requests, metaRequests, measured, actual, counterfactual, saved, cost, provider } = accounting
  const how =
    mode === 'undecided'
      ? (because ?? (requests > 0 ? 'cleared, and no request since' : 'no request yet'))
      : isEmpty
        ? `no tool sent${because ? ` (${because})` : ''}`
        : mode === 'on'
          ? `${deferred === 0 ? 'nothing ' : ''}deferred (${delivery})`
          : 'every tool sent'
  const only = metaRequests > 0 ? `, ${metaRequests} of them only to search or guess` : ''
  const lines = [`${quote(id, 80)}: ${formatCount(requests, 'request')}${only}; ${how}`]
  if (counterfactual > 0) {
    lines.push(formatRow('input tokens', actual, counterfactual, saved))
    lines.push(formatRow('by cache prices, estimated', cost.actual, cost.counterfactual, cost.saved))
  } else if (measured > 0)
    lines.push(
      `  input tokens: ${formatTokens(actual)}, all to search or guess: what was saved shows once a tool is called or an answer given`,
    )
  if (measured < requests)
    lines.push(
      `  no figures for ${requests - measured} of ${formatCount(requests, 'request')}: no usage came with the reply. Give run the whole reply${wire === 'openai-chat' ? ' (a stream holds its usage with stream_options: { include_usage: true })' : ''}, or recordRequest its usage`,
    )
  if (provider.inputTokens > 0)
    lines.push(
      `  the provider counted ${formatTokens(provider.inputTokens)} input (${formatTokens(provider.cachedTokens)} cached), ${formatTokens(provider.outputTokens)} output`,
    )
  // What was searched for and loaded is forgotten when a conversation is cleared; what it cost is not.
  if (mode === 'undecided' && requests > 0) return lines.join('\n')
  lines.push(
    `  ${formatCount(searchHistory.length, 'search', 'searches')}, ${loadedLazyTools.length} loaded${loadedLazyTools.length > 0 ? `: ${loadedLazyTools.join(', ')}` : ''}`,
  )
  return lines.join('\n')
}

/** What was given and does nothing, for whoever has not asked about it. */
export function listUnusedLines(findings: readonly Finding[], unmatched: readonly Unmatched[]): string[] {
  const skipped = findings.filter(({ kind }) => kind === 'invalid-tool' || kind === 'duplicate-tool')
  const [first] = skipped
  const sources = [...new Set(skipped.map(({ source }) => quote(source, 60)))]
  const others = sources.length > 3 ? ' and others' : ''
  return [
    ...(first
      ? [
          `left out: ${formatCount(skipped.length, 'tool')} of ${sources.slice(0, 3).join(', ')}${others}: ${firstLine(first.detail, 300)}${skipped.length > 1 ? '; …' : ''} (see explain, or findings of the catalogue)`,
        ]
      : []),
    ...unmatched.map(({ option, detail }) => `${option}: ${detail}`),
  ]
}

function formatRow(what: string, sent: number, eager: number, saved: number): string {
  const share = eager > 0 ? ` (${((saved / eager) * 100).toFixed(1)} %)` : ''
  return `  ${what}: ${formatTokens(sent)} instead of ${formatTokens(eager)} with every tool; saved ${formatTokens(saved)}${share}`
}
