/**
 * Answers of searches that refer to tools, on Anthropic's wire. pi keeps words and images; the references stay beside them in
 * the session, and take their place again in every request.
 */
import { isRecord } from '@toolwell/core/internal'
import type { SessionEntry } from './pi.js'

type Block = Readonly<Record<string, unknown>>

/** What of an answer pi would lose: its blocks, where one of them refers to a tool. */
export function nativeBlocks(messages: readonly unknown[]): readonly Block[] | undefined {
  const blocks = messages.flatMap((message) =>
    isRecord(message) && Array.isArray(message.content) ? message.content.filter(isRecord) : [],
  )
  const refers = ({ content }: Block) =>
    Array.isArray(content) && content.some((each) => isRecord(each) && each.type === 'tool_reference')
  return blocks.some(refers) ? blocks : undefined
}

/** By the id of the call, as pi has it in its session. */
export function nativeResultsIn(branch: readonly SessionEntry[]): ReadonlyMap<string, readonly Block[]> {
  const found = new Map<string, readonly Block[]>()
  for (const { message } of branch) {
    if (!isRecord(message) || message.role !== 'toolResult' || typeof message.toolCallId !== 'string')
      continue
    const { details } = message
    if (isRecord(details) && Array.isArray(details.native))
      found.set(message.toolCallId, details.native.filter(isRecord))
  }
  return found
}

/** A history of Anthropic's wire with the references in it. What else a search said stands behind all results of its message. */
export function withNativeResults(history: unknown, native: ReadonlyMap<string, readonly Block[]>): unknown {
  if (native.size === 0 || !Array.isArray(history)) return history
  return history.map((message: unknown) => {
    if (!isRecord(message) || !Array.isArray(message.content)) return message
    const behind: Block[] = []
    const content = message.content.map((block: unknown) => {
      const kept =
        isRecord(block) && typeof block.tool_use_id === 'string' ? native.get(block.tool_use_id) : undefined
      const result = kept?.find(({ type }) => type === 'tool_result')
      if (!isRecord(block) || !kept || !result) return block
      behind.push(...kept.filter((each) => each !== result))
      return { ...block, content: result.content }
    })
    return { ...message, content: [...content, ...behind] }
  })
}
