/** What a request on the Chat Completions wire costs: its render order, and the usage the scripted endpoint reports. */
import { estimateCachedTokens, estimateTokens } from '../shared/usage.js'
import type { ChatMessage, ChatRequestBody } from './request.js'
import type { ChatFamily } from './rules.js'

export interface ChatUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number }
}

/**
 * The request as a server lays it before the model: tools first, then messages, each as JSON. This string defines
 * "prefix" on this wire: a byte changed in the tools costs the cached messages too. Serialised anew from the parsed
 * body, so white space does not count and the order of keys does.
 */
export function chatRenderOrder(
  body: Pick<ChatRequestBody, 'tools' | 'messages'>,
  family: ChatFamily = 'openai',
): string {
  const messages = family === 'template' ? withoutOldReasoning(body.messages) : body.messages
  return (body.tools === undefined ? '' : JSON.stringify(body.tools)) + JSON.stringify(messages)
}

/**
 * Some chat templates look for the last user message and leave the `reasoning_content` of every assistant message before
 * it out. Qwen3's compares the index of a message with `ns.last_query_index`; GLM and MiniMax do the same by other means.
 * So a user message within a turn changes bytes far before itself.
 */
function withoutOldReasoning(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user')
  return messages.map((message, index) => {
    if (index > lastUser || message.role !== 'assistant') return message
    const { reasoning_content: _, ...rest } = message
    return rest
  })
}

export function usageOf(rendered: string, earlier: readonly string[], completion: string): ChatUsage {
  const prompt = estimateTokens(rendered)
  const completed = estimateTokens(completion)
  return {
    prompt_tokens: prompt,
    completion_tokens: completed,
    total_tokens: prompt + completed,
    prompt_tokens_details: { cached_tokens: estimateCachedTokens(rendered, earlier) },
  }
}
