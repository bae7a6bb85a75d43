/** Formats the costs of a conversation as text for people. */

import { firstLine, quote } from '../base/text.js'
import { getWireFacts } from '../base/wires.js'
import type { Unmatched } from '../catalogue/exposure.js'
import type { Finding } from '../tool/source.js'
import type { Inspection } from './inspect.js'
import { formatCount, formatTokens } from './measurement.js'

/** The parts of an inspection that the report reads. */
type Reported = Pick<
  Inspection,
  'accounting' | 'mode' | 'because' | 'ownTokens' | 'delivery' | 'wire' | 'searchHistory' | 'loadedLazyTools'
>

export function formatReport(
  id: string,
  { accounting, mode, because, ownTokens, delivery, wire, searchHistory, loadedLazyTools }: Reported,
  /** The number of deferred tools, and whether no tool is sent at all. */
  { deferred, isEmpty }: { readonly deferred: number; readonly isEmpty: boolean },
): string {
  const { requests, metaRequests, measured, actual, counterfactual, saved, cost, provider } = accounting
  const how =
    mode === 'undecided'
      ? (because ?? (requests > 0 ? 'cleared, no request since' : 'no request yet'))
      : isEmpty
        ? `no tool sent${because ? ` (${because})` : ''}`
        : mode === 'on'
          ? `${deferred === 0 ? 'nothing ' : ''}deferred (${delivery})`
          : 'every tool sent'
  const only = metaRequests > 0 ? `, ${metaRequests} of them only to find tools` : ''
  const lines = [`${quote(id, 80)}: ${formatCount(requests, 'request')}${only}; ${how}`]
  if (counterfactual > 0) {
    lines.push(formatRow('input tokens', actual, counterfactual, saved))
    lines.push(formatRow('with the cache discount, estimated', cost.actual, cost.counterfactual, cost.saved))
  } else if (measured > 0)
    lines.push(
      `  input tokens: ${formatTokens(actual)}, all to find tools; the saving shows once the model calls a tool or answers`,
    )
  if (ownTokens !== undefined)
    lines.push(
      `  own tools: ${formatTokens(ownTokens)} tokens of every request, eager by default; createToolwell({ defer: 'all' }) defers them`,
    )
  const { usageHint } = getWireFacts(wire ?? '')
  if (measured < requests)
    lines.push(
      `  no figures for ${requests - measured} of ${formatCount(requests, 'request')}: the reply had no usage. Pass the whole reply to run${usageHint ? ` (${usageHint})` : ''}, or its usage to recordRequest`,
    )
  if (provider.inputTokens > 0)
    lines.push(
      `  the provider counted ${formatTokens(provider.inputTokens)} input (${formatTokens(provider.cachedTokens)} cached), ${formatTokens(provider.outputTokens)} output`,
    )
  // Clearing a conversation forgets its searches and loaded tools, but not its costs.
  if (mode === 'undecided' && requests > 0) return lines.join('\n')
  lines.push(
    `  ${formatCount(searchHistory.length, 'search', 'searches')}, ${loadedLazyTools.length} loaded${loadedLazyTools.length > 0 ? `: ${loadedLazyTools.join(', ')}` : ''}`,
  )
  return lines.join('\n')
}

/** Lists tools that were skipped and options that match nothing. */
export function listUnusedLines(findings: readonly Finding[], unmatched: readonly Unmatched[]): string[] {
  const skipped = findings.filter(({ kind }) => kind === 'invalid-tool' || kind === 'duplicate-tool')
  const [first] = skipped
  const sources = [...new Set(skipped.map(({ source }) => quote(source, 60)))]
  const others = sources.length > 3 ? ' and others' : ''
  return [
    ...(first
      ? [
          `skipped: ${formatCount(skipped.length, 'tool')} of ${sources.slice(0, 3).join(', ')}${others}: ${firstLine(first.detail, 300)}${skipped.length > 1 ? '; …' : ''} (see explain, or findings of the catalogue)`,
        ]
      : []),
    ...unmatched.map(({ option, detail }) => `${option}: ${detail}`),
  ]
}

function formatRow(what: string, sent: number, eager: number, saved: number): string {
  const percent = eager > 0 ? Math.abs((saved / eager) * 100).toFixed(1) : '0.0'
  const figures = `  ${what}: ${formatTokens(sent)} instead of ${formatTokens(eager)}`
  return saved < 0
    ? `${figures}; ${formatTokens(-saved)} tokens more than sending every tool (+${percent} %)`
    : `${figures} with every tool; saved ${formatTokens(saved)} tokens (${percent} %)`
}
