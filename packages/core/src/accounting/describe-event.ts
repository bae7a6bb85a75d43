/** Every event and notice as one line in words, for `debug` and for whoever reads a ledger. */
import { quote, showInvisible } from '../base/text.js'
import type { LedgerEvent } from '../ledger/event.js'
import type { ToolwellEvent } from '../ledger/events.js'
import type { Notice } from '../tool/notice.js'
import { describeTokens, formatCount, formatTokens } from './measurement.js'

export function describeEvent({ conversation, ...event }: ToolwellEvent): string {
  const line = 'anchor' in event ? describeLedgerEvent(event) : toOneLine(describeNotice(event))
  return conversation === '' ? line : `${quote(conversation, 60)} · ${line}`
}

/** Names and details may come from a server: none begins a line of its own, or hides in one. */
function toOneLine(text: string): string {
  return showInvisible(text.replace(/\s+/g, ' '))
}

export function describeLedgerEvent(event: LedgerEvent): string {
  return toOneLine(describeFact(event))
}

function describeFact(event: LedgerEvent): string {
  switch (event.kind) {
    case 'frozen': {
      const { mode, deferred, delivery, because = '' } = event
      const how =
        mode === 'off'
          ? 'off'
          : `${deferred === 0 ? '' : `${formatCount(deferred, 'tool')} deferred, `}${delivery}`
      // Most reasons begin with the delivery.
      const why = because.startsWith(`${delivery}:`)
        ? because.slice(delivery.length)
        : because && ` (${because})`
      return `latched (${event.reason}) on ${event.wire}: ${how}${why}`
    }
    case 'returned':
      return `back on ${event.wire}: the former latch holds`
    case 'thinking-stripped':
      return `thinking of ${event.messages.length} messages is left out from here on`
    case 'forked':
      return `forked from ${quote(event.origin.ledger, 60)} behind ${event.origin.events} events`
    case 'inherited':
      return `a sub-agent of ${quote(event.parent, 60)}`
    case 'searched':
      return `searched ${quote(event.query, 120)}: ${describeSearch(event)}`
    case 'loaded':
      return `loaded ${event.tool.wireName} (${event.source})`
    case 'unloaded':
      return `unloaded ${event.tool} (${event.reason})`
    case 'suspended':
      return `suspended ${event.tool} (${event.reason})`
    case 'restored':
      return `restored ${event.tool}`
    case 'redefined':
      return `${event.tool.wireName} has a new definition`
    case 'call-started':
      return `call of ${event.tool} starts`
    case 'call-succeeded':
      return `call of ${event.tool} succeeded${event.dropped ? `; not loaded (${event.dropped})` : ''}`
    case 'call-failed':
      return `call of ${event.tool || quote(event.asked, 80)} failed (${event.reason})${event.detail ? `: ${event.detail}` : ''}`
    case 'announced':
      return `told the model (${event.topic}): ${event.about.join(', ')}, ${event.tokens} tokens`
    case 'requested':
      return `request ${event.requestId}: ${describeTokens(event.tokens)}`
    case 'measured':
      return `request ${event.requestId} came to ${describeUsage(event)}`
    case 'compacted':
      return `compacted: ${Object.keys(event.kept).length} anchors kept`
    case 'cleared':
      return 'cleared'
    case 'downgraded':
      return `${event.from} is given up: ${event.reason}`
  }
}

function describeSearch({
  loaded,
  dropped,
  missed,
  tokens,
}: Extract<LedgerEvent, { kind: 'searched' }>): string {
  if (missed) return `nothing found, ${tokens} tokens`
  const parts = [
    loaded.length > 0 ? `loaded ${loaded.join(', ')}` : 'loaded nothing',
    ...(dropped.length > 0 ? [`${dropped.length} not loaded`] : []),
    `${tokens} tokens`,
  ]
  return parts.join(', ')
}

export function describeUsage({
  messageTokens,
  inputTokens,
  cachedTokens,
  outputTokens,
}: Pick<
  Extract<LedgerEvent, { kind: 'measured' }>,
  'messageTokens' | 'inputTokens' | 'cachedTokens' | 'outputTokens'
>): string {
  if (inputTokens === undefined) return `${formatTokens(messageTokens)} tokens of messages`
  const cached = cachedTokens === undefined ? '' : `, ${formatTokens(cachedTokens)} of them cached`
  const output = outputTokens === undefined ? '' : `, ${formatTokens(outputTokens)} output`
  return `${formatTokens(inputTokens)} input tokens${cached}${output}`
}

function describeNotice(notice: Notice): string {
  switch (notice.kind) {
    case 'source-changed': {
      const { source, state, reason, tools, findings } = notice
      const odd = findings.map(({ detail }) => `; ${detail}`).join('')
      const whose = source === '' ? "the host's own source" : `source ${quote(source, 60)}`
      const holds = tools > 0 || state === 'ready' ? ` with ${formatCount(tools, 'tool')}` : ''
      return `${whose} is ${state}${holds}${reason ? `: ${reason}` : ''}${odd}`
    }
    case 'policy-failed':
      return `the policy failed (${notice.action} ${notice.tool}), so it is denied: ${notice.detail}`
    case 'searcher-failed':
      return `the searcher failed, the built-in one answered: ${notice.detail}`
    case 'append-failed':
      return `the store refused a step (${notice.step}): ${notice.detail}`
    case 'search-ignored':
      return `the model called ${notice.hiddenCalls} tools it cannot see and has never searched; try affordance: 'strong'`
    case 'schema-unusable':
      return `the schema of ${notice.tool} cannot check its arguments: ${notice.detail}`
    case 'hook-failed':
      return `${notice.hook} failed: ${notice.detail}`
    case 'usage-refused':
      return `usage of ${notice.requestId} was not believed: ${notice.detail}`
    case 'late-result-dropped':
      return `a result of ${notice.tool} came after its time limit and was dropped`
    case 'call-fenced':
      return `call ${notice.callId} of ${notice.tool} was run before (${notice.outcome ?? 'its outcome is not known'}) and is not run again; for a new conversation, open a new id`
    case 'history-warning':
      return `warning (${notice.code}): ${notice.detail}`
    case 'option-unmatched':
      return `${notice.option}: ${notice.detail}`
    default:
      return `${notice.kind}: ${notice.detail}`
  }
}
