/** The fence before a tool: a call that someone has started is answered, and not run again. */

import { defined } from '../base/guards.js'
import type { LedgerEvent } from '../ledger/event.js'
import type { LedgerLog } from '../ledger/log.js'
import type { Prompts } from '../surface/prompts.js'
import type { RunVerdict, Verdict } from './verdict.js'

/** Nothing is written: whoever started it writes what came of it. */
export function fenced(
  verdicts: readonly Verdict[],
  { started, events }: Pick<LedgerLog, 'started' | 'events'>,
  since: number | undefined,
  prompts: Prompts,
): Verdict[] {
  return verdicts.map((verdict) => {
    if (verdict.kind !== 'run' || !started.has(verdict.call.anchor, verdict.key, since)) return verdict
    const { call, entry, asked } = verdict
    const ended = endOf(verdict, events)
    const text = prompts.alreadyStarted({ outcome: ended })
    return {
      kind: 'answer',
      call,
      outcome: { kind: 'already-started', tool: entry.id, asked, text, ...defined({ ended }) },
      facts: [],
    }
  })
}

/** Undefined where it has not ended, ended nobody knows how, or did so before the events that are here. */
function endOf(
  { call: { anchor }, key }: RunVerdict,
  events: readonly LedgerEvent[],
): 'succeeded' | 'failed' | undefined {
  const at = events.filter((event) => event.anchor === anchor)
  const start = at.findLastIndex((event) => event.kind === 'call-started' && event.key === key)
  if (start < 0) return undefined
  const end = at.slice(start).find(({ kind }) => kind === 'call-succeeded' || kind === 'call-failed')
  if (end?.kind === 'call-succeeded') return 'succeeded'
  return end?.kind === 'call-failed' && end.reason === 'error' ? 'failed' : undefined
}
