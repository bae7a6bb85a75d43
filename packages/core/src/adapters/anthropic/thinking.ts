/** Thinking blocks in units of this wire. */
import type { ThinkingTrait } from '../shared/thinking.js'
import { type AnthropicBlock, isThinking, WIRE } from './types.js'

/**
 * From Claude Fable 5.1 on, the API refuses a thinking block when `system`, `tools` or an earlier message is not what it
 * was when the block was made; blocks may be left out from the oldest on (page build-with-claude/preserved-thinking).
 */
export const boundThinking: ThinkingTrait = {
  holds: (unit) =>
    unit.kind === 'assistant' &&
    unit.native?.wire === WIRE &&
    (unit.native.value as readonly AnthropicBlock[]).some(isThinking),
  without: (unit) => {
    if (unit.kind !== 'assistant' || !unit.native) return unit
    const blocks = unit.native.value as readonly AnthropicBlock[]
    return { ...unit, native: { ...unit.native, value: blocks.filter((block) => !isThinking(block)) } }
  },
}
