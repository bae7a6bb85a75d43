/**
 * Words of ours that stand as the user's behind results: Anthropic and Gemini take them there, in one turn with the results,
 * and a thread that comes from there has them. Where a server takes no message there, they are a note, which joins the result.
 */

import { isFramed } from '../../surface/deltas.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Placed } from './thread.js'

export function joinOwnWords(placed: readonly Placed[], prompts: Prompts): readonly Placed[] {
  let isBehindResult = false
  let joined: Placed[] | undefined
  for (const [index, item] of placed.entries()) {
    const { unit } = item
    const isOurs: boolean = isBehindResult && unit.kind === 'user' && isFramed(unit.text, prompts)
    isBehindResult = unit.kind === 'answer' || (isBehindResult && (isOurs || unit.kind === 'note'))
    if (!isOurs) continue
    joined ??= [...placed]
    joined[index] = { ...item, unit: { kind: 'note', text: unit.text } }
  }
  return joined ?? placed
}
