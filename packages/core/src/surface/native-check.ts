/**
 * Does native deferral do here what it should? A proxy may strip the flags and answer as if nothing were wrong, at full
 * price. What the host measures and what the model does tell. Pure: reads the state, gives a reason or none.
 */

import { RESERVE_NAME } from '../base/names.js'
import type { LedgerState, RequestRecord } from '../ledger/fold.js'

/** Loads that have to look wrong before the delivery is given up: figures of tokens are estimates. */
const VOTES = 2
/** Tokens that a load must bring to be told from noise. */
const LEAST = 200

/** Why native deferral is not to be trusted; undefined where nothing speaks against it. */
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
  /** Tokens of definitions that came in between. */
  readonly loaded: number
}

/** Neighbours that were both measured by host and provider. */
function pairsOf(records: readonly RequestRecord[]): Pair[] {
  const isMeasured = (record: RequestRecord | undefined): record is Pair['before'] =>
    record?.messageTokens !== undefined &&
    (record.inputTokens ?? 0) > 0 &&
    // A host that gives what was not cached as all that was read: such figures tell nothing.
    (record.cachedTokens ?? 0) <= (record.inputTokens ?? 0)
  return records.flatMap((after, index) => {
    const before = records[index - 1]
    if (!isMeasured(before) || !isMeasured(after)) return []
    return [{ before, after, loaded: (after.tokens.revealed ?? 0) - (before.tokens.revealed ?? 0) }]
  })
}

/**
 * The provider counts what was loaded a second time, and about that much. Images and thoughts that the host does not
 * measure may look like it: how far requests are off between which nothing was loaded tells how much of that there is.
 * The host's tokens are brought to the provider's scale, but never upwards: input that is less than was sent may be a part
 * of it, what was not cached say, and grows by what was said alone.
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

/** How far an estimate of what was said may be off. */
function tolerance(pair: Pair): number {
  return Math.abs(saidIn(pair)) / 4
}

/**
 * The provider's cache held a part of this prompt, and is without it as soon as a tool is loaded. A prompt that was too
 * short to be kept never was in it. A cache that also forgets where nothing is loaded, or keeps what it has where
 * something is, tells of nothing.
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
