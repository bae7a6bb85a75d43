/**
 * Does native deferral do here what it should? A proxy may strip the flags and answer as if nothing were wrong, at full
 * price. What the host measures and what the model does tell. Pure: reads the state, gives a reason or none.
 */
import type { LedgerState, RequestRecord } from './ledger.js'
import { RESERVE_NAME } from './names.js'

/** Activations that have to look wrong before the delivery is given up: figures of tokens are estimates. */
const VOTES = 2
/** Tokens that an activation must bring to be told from noise. */
const LEAST = 200

/** Why native deferral is not to be trusted; undefined where nothing speaks against it. */
export function distrust(state: LedgerState): string | undefined {
  if (state.latch?.delivery !== 'native') return undefined
  if (state.reserveCalled)
    return `the model called ${RESERVE_NAME}, which it should not see: something on the way shows it every declared tool`
  const pairs = pairsOf([...state.requests.values()].filter((record) => record.latch === state.latches))
  if (pairs.filter(sendsTwice).length >= VOTES)
    return 'input grows by more than was loaded: something on the way sends deferred definitions with every request'
  const steady = pairs.filter(({ loaded }) => loaded === 0)
  const rereads = pairs.filter((pair) => pair.loaded > 0 && cachedShare(pair) < 0.2)
  if (rereads.length >= VOTES && steady.some((pair) => cachedShare(pair) > 0.6))
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
 * The provider counted what was loaded a second time. The host's tokens are brought to the provider's scale, but never
 * upwards: input that is less than was sent may be a part of it, what was not cached say, and grows by what was said alone.
 */
function sendsTwice({ before, after, loaded }: Pair): boolean {
  if (loaded < LEAST) return false
  const { eager, active, cards, metaTools, revealed = 0 } = before.tokens
  const sent = eager + active + cards + metaTools + revealed + before.messageTokens
  const scale = Math.max(1, before.inputTokens / sent)
  const said = after.messageTokens - before.messageTokens
  const grown = (after.inputTokens - before.inputTokens) / scale
  const surplus = grown - said - loaded
  return surplus > loaded / 2 && surplus > Math.abs(said) / 4
}

function cachedShare({ before, after }: Pair): number {
  return after.cachedTokens === undefined ? 1 : after.cachedTokens / before.inputTokens
}
