/** Describes every event and notice in one line, for `debug` and for reading a ledger. */

import { quote, showInvisible } from '../base/text.js'
import type { LedgerEvent, ToolwellEvent } from '../ledger/event.js'
import type { Notice } from '../tool/notice.js'
import { describeTokens, formatCount, formatTokens } from './measurement.js'

export function describeEvent({ conversation, ...event }: ToolwellEvent): string {
  const line = 'anchor' in event ? describeLedgerEvent(event) : toOneLine(describeNotice(event))
  return conversation === '' ? line : `${quote(conversation, 60)} · ${line}`
}

/** Names and details may come from a server, so they must neither start a new line nor hide characters. */
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
      return `frozen (${event.reason}) on ${event.wire}: ${how}${why}`
    }
    case 'returned':
      return `back on ${event.wire}: its frozen prefix is used again`
    case 'thinking-stripped':
      return `thinking of ${formatCount(event.messages.length, 'message')} is no longer sent`
    case 'forked':
      return `forked from ${quote(event.origin.ledger, 60)} after ${event.origin.events} events`
    case 'inherited':
      return `sub-agent of ${quote(event.parent, 60)}`
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
      return `call of ${event.tool} started`
    case 'call-succeeded':
      return `call of ${event.tool} succeeded${event.dropped ? `; not loaded (${event.dropped})` : ''}`
    case 'call-failed':
      return `call of ${event.tool || quote(event.asked, 80)} failed (${event.reason})${event.detail ? `: ${event.detail}` : ''}`
    case 'announced':
      return `announced (${event.topic}): ${event.about.join(', ')}, ${event.tokens} tokens`
    case 'requested':
      return `request ${event.requestId}: ${describeTokens(event.tokens)}`
    case 'measured':
      return `request ${event.requestId} used ${describeUsage(event)}`
    case 'compacted':
      return `compacted: ${Object.keys(event.kept).length} positions kept`
    case 'cleared':
      return 'cleared'
    case 'downgraded':
      return `${event.from} is no longer used: ${event.reason}`
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
      const details = findings.map(({ detail }) => `; ${detail}`).join('')
      const name = source === '' ? "the host's own source" : `source ${quote(source, 60)}`
      const count = tools > 0 || state === 'ready' ? ` with ${formatCount(tools, 'tool')}` : ''
      return `${name} is ${state}${count}${reason ? `: ${reason}` : ''}${details}`
    }
    case 'policy-failed':
      return `the policy failed (${notice.action} ${notice.tool}), so the action is denied: ${notice.detail}`
    case 'searcher-failed':
      return `the searcher failed and the built-in one answered: ${notice.detail}`
    case 'append-failed':
      return `the store refused a step (${notice.step}): ${notice.detail}`
    case 'search-ignored':
      return `the model called ${notice.hiddenCalls} tools it cannot see and has never searched; try surface: { affordance: 'strong' }`
    case 'schema-unusable':
      return `the arguments of ${notice.tool} cannot be checked against its schema: ${notice.detail}`
    case 'hook-failed':
      return `${notice.hook} failed: ${notice.detail}`
    case 'usage-refused':
      return `usage of ${notice.requestId} was ignored: ${notice.detail}`
    case 'late-result-dropped':
      return `a result of ${notice.tool} arrived after its time limit and was dropped`
    case 'call-fenced':
      return `call ${notice.callId} of ${notice.tool} was run before (${notice.outcome ?? 'outcome unknown'}) and is not run again; for a new conversation, open a new id`
    case 'history-warning':
      return `warning (${notice.code}): ${notice.detail}`
    case 'option-unmatched':
      return `${notice.option}: ${notice.detail}`
    default:
      return `${notice.kind}: ${notice.detail}`
  }
}
