/** Thinking of Anthropic's models in messages of the SDK: parts of the type `reasoning`, with a seal in their options. */

import { isRecord } from '../../base/guards.js'
import type { ThinkingTrait } from '../shared/thinking.js'
import { type AiCallOptions, type AiMessage, type AiPart, partsOf, WIRE } from './types.js'

/** Page build-with-claude/preserved-thinking: such thinking is refused behind other bytes than it was thought behind. */
export const boundThinking: ThinkingTrait = {
  holds: (unit) =>
    unit.kind === 'assistant' &&
    unit.native?.wire === WIRE &&
    partsOf(unit.native.value as AiMessage).some(isSealed),
  without: (unit) => {
    if (unit.kind !== 'assistant' || !unit.native) return unit
    const message = unit.native.value as AiMessage
    const value = { ...message, content: partsOf(message).filter((part) => !isSealed(part)) }
    return { ...unit, native: { ...unit.native, value } }
  },
}

function isSealed({ type, providerOptions }: AiPart): boolean {
  return type === 'reasoning' && isRecord(providerOptions) && isRecord(providerOptions.anthropic)
}

/**
 * Nothing is left out here: the host has asked the API to drop such thinking itself, or the budget is fixed. Models with a
 * fixed budget do not check what they thought, and want it in a tool loop.
 */
export function keepsThinking({ providerOptions }: AiCallOptions): boolean {
  const { anthropic } = isRecord(providerOptions) ? providerOptions : {}
  const { thinking } = isRecord(anthropic) ? anthropic : {}
  const { type, blockBinding } = isRecord(thinking) ? thinking : {}
  if (type === 'enabled') return true
  return isRecord(blockBinding) && blockBinding.prefixMismatchBehavior === 'drop_block'
}
