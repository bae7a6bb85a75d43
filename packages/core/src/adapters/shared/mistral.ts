/**
 * What Mistral's servers demand of a history, besides what the Chat family does. Sources: `mistral-common`, the validator of its
 * requests. After the role `tool` it expects `assistant` or `tool`; ids of calls have nine letters and digits, and the API
 * answers 400 to others ("Tool call id was call_98660886 but must be a-z, A-Z, 0-9, with a length of 9.").
 */

import { shortHash } from '../../base/hash.js'
import type { Prompts } from '../../surface/prompts.js'
import type { IdRules } from './settle-ids.js'
import type { Placed } from './thread.js'

/** Ids of other providers, and those of calls that were interrupted, get one of this form; Mistral's own stay. */
export const MISTRAL_IDS: Pick<IdRules, 'legal' | 'made'> = {
  legal: /^[a-zA-Z0-9]{9}$/,
  made: (id) => shortHash(id, 9),
}

/** Where the user speaks behind a result (tools were interrupted, the loop was left), a word of the model's stands between. */
export function speakBetween(placed: readonly Placed[], prompts: Prompts): readonly Placed[] {
  let isBehindResult = false
  return placed.flatMap((item) => {
    const { kind } = item.unit
    const isDue = isBehindResult && kind === 'user'
    isBehindResult = kind === 'answer' || (isBehindResult && kind === 'note')
    if (!isDue) return [item]
    return [{ unit: { kind: 'assistant', text: prompts.noReply(), calls: [] }, anchor: '', calls: [] }, item]
  })
}
