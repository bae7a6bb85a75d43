/**
 * Detects native deferral that does not work: a proxy may strip the flags and answer normally, at full price. The
 * host's measurements and the model's calls show it. Pure: reads the state and returns a reason, or undefined.
 */

import { RESERVE_NAME } from '../base/names.js'
import type { LedgerState, RequestRecord } from '../ledger/fold.js'

/** Number of suspicious loads before the delivery is given up, because token figures are estimates. */
const VOTES = 2
/** Tokens that a load must add to stand out from noise. */
const LEAST = 200

/** Why native deferral is not trusted; undefined if there is no evidence against it. */
export function findNativeFault(state: LedgerState): string | undefined {
  if (state.frozen?.delivery !== 'native') return undefined
  if (state.native.reserveCalled)
    return `the model called ${RESERVE_NAME}, which it should not see: something on the way shows it every declared tool`
  const pairs = pairsOf(
    [...state.requests.byId.values()].filter((record) => record.frozen === state.freezing.count),
  )
  if (sendsTwice(pairs))
    return 'input grows by more than was loaded: something on the way sends deferred definitions with every request'
  if (readsAgain(pairs))
    return 'each loaded tool makes the provider read the prompt again: something on the way puts deferred tools into it'
  return undefined
}

interface Pair {
  readonly before: Required<Pick<RequestRecord, 'messageTokens' | 'inputTokens'>> & RequestRecord
  readonly after: Pair['before']
  /** Tokens of definitions loaded in between. */
  readonly loaded: number
}

/** Neighbouring requests that both the host and the provider measured. */
function pairsOf(records: readonly RequestRecord[]): Pair[] {
  const isMeasured = (record: RequestRecord | undefined): record is Pair['before'] =>
    record?.messageTokens !== undefined &&
    (record.inputTokens ?? 0) > 0 &&
    // Some hosts report only the uncached part as the whole input. Such figures prove nothing.
    (record.cachedTokens ?? 0) <= (record.inputTokens ?? 0)
  return records.flatMap((after, index) => {
    const before = records[index - 1]
    if (!isMeasured(before) || !isMeasured(after)) return []
    return [{ before, after, loaded: (after.tokens.revealed ?? 0) - (before.tokens.revealed ?? 0) }]
  })
}

/**
 * True if the provider counts about the loaded tokens a second time. Images and thinking that the host does not
 * measure look similar, so the error of requests without loads shows how much of that there is. The host's tokens are
 * scaled to the provider's, but never upwards: an input smaller than what was sent may be only its uncached part,
 * which grows by the new messages alone.
 */
function sendsTwice(pairs: readonly Pair[]): boolean {
  const steady = pairs.filter(({ loaded }) => loaded === 0)
  if (steady.length === 0) return false
  const scale = Math.max(1, Math.min(...pairs.map(({ before }) => before.inputTokens / sentIn(before))))
  const surplusOf = (pair: Pair) =>
    (pair.after.inputTokens - pair.before.inputTokens) / scale - saidIn(pair) - pair.loaded
  const noise = Math.max(...steady.map((pair) => Math.abs(surplusOf(pair)) - tolerance(pair)))
  const loads = pairs.filter(({ loaded }) => loaded >= LEAST)
  const twice = loads.filter((pair) => {
    const surplus = surplusOf(pair)
    const about = surplus > pair.loaded / 2 && surplus < pair.loaded * 2
    return about && surplus > tolerance(pair) && pair.loaded > noise * 2
  })
  return twice.length >= VOTES && twice.length > loads.length / 2
}

function sentIn({ tokens, messageTokens }: Pair['before']): number {
  const { eager, loaded, cards, metaTools, revealed = 0 } = tokens
  return eager + loaded + cards + metaTools + revealed + messageTokens
}

function saidIn({ before, after }: Pair): number {
  return after.messageTokens - before.messageTokens
}

/** Allowed error of a text estimate. */
function tolerance(pair: Pair): number {
  return Math.abs(saidIn(pair)) / 4
}

/**
 * True if the provider's cache held part of this prompt and loses it whenever a tool is loaded. A prompt too short to
 * be cached never was. A cache that also forgets without a load, or survives one, proves nothing.
 */
function readsAgain(pairs: readonly Pair[]): boolean {
  let held = 0
  let votes = 0
  let others = 0
  for (const { before, after, loaded } of pairs) {
    held = Math.max(held, before.cachedTokens ?? 0)
    if (after.cachedTokens === undefined || held === 0 || before.inputTokens < held) continue
    const forgotten = after.cachedTokens < held / 5
    if (forgotten && loaded > 0) votes += 1
    else if (forgotten || loaded > 0) others += 1
  }
  return votes >= VOTES && votes > others
}
