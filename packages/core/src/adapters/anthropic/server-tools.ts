/**
 * Tools that the API runs itself: its calls and their results stand in the model's own messages. Where a reply was cut, or
 * a history, one of the two is missing, and the API refuses the other.
 */
import { isRecord } from '../../base/data.js'
import { type AnthropicBlock, type AnthropicMessage, blocksOf, isResult } from './types.js'

const CALLS = ['server_tool_use', 'mcp_tool_use']

export function isServerCall({ type }: AnthropicBlock): boolean {
  return CALLS.includes(type)
}

export function isServerResult(block: AnthropicBlock): boolean {
  return block.type.endsWith('_tool_result')
}

/** Blocks without their other half. A call that is not over may wait for it while the client answers calls of its own. */
export function unpaired(messages: readonly AnthropicMessage[]): ReadonlySet<AnthropicBlock> {
  const open = new Map<unknown, AnthropicBlock>()
  const lost = new Set<AnthropicBlock>()
  const giveUp = (ids: Iterable<unknown>) => {
    for (const id of ids) {
      const block = open.get(id)
      if (block && open.delete(id)) lost.add(block)
    }
  }
  for (const { role, content } of messages) {
    const blocks = blocksOf(content)
    if (role === 'user' && !blocks.some(isResult)) giveUp([...open.keys()])
    if (role !== 'assistant') continue
    const before = [...open.keys()]
    for (const block of blocks) {
      if (isServerCall(block)) {
        giveUp([block.id])
        open.set(block.id, block)
      } else if (isServerResult(block) && !open.delete(block.tool_use_id)) lost.add(block)
    }
    const callers = new Set(blocks.map(({ caller }) => (isRecord(caller) ? caller.tool_id : undefined)))
    giveUp(before.filter((id) => !callers.has(id) && !blocks.some((block) => block.id === id)))
  }
  return lost
}
