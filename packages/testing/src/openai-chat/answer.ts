/** Writes an answer on the Chat Completions wire, as an object or the chunks of a stream, and computes its usage. */
import { argumentFragments, estimateCachedTokens, estimateTokens, pieces } from '../shared/usage.js'
import type { ChatMessage, ChatRequestBody, ChatToolCall } from './request.js'
import type { ChatFamily } from './rules.js'

/** A finished answer before it is written in either form. */
export interface ChatCompletion {
  readonly id: string
  readonly model: string
  readonly content: string | null
  readonly calls: readonly ChatToolCall[]
  readonly finish: string
  readonly usage: ChatUsage
}

/** Constant, so that a script gives the same bytes on every run. */
const CREATED = 1_700_000_000

export function completionObject(completion: ChatCompletion): object {
  const { id, model, content, calls, finish, usage } = completion
  const message = { role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }
  return {
    id,
    object: 'chat.completion',
    created: CREATED,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    usage,
  }
}

/**
 * Chunks with the content of the answer; `endingChunks` follow. Text and arguments come in pieces of at most eight characters.
 * Parallel calls alternate, so a client that joins fragments by arrival instead of by `index` fails.
 */
export function* deltaChunks(completion: ChatCompletion, includeUsage: boolean): Generator<object> {
  const { content, calls } = completion
  const delta = (fields: object) => chunkOf(completion, includeUsage, [choice(fields, null)])
  yield delta({ role: 'assistant', content: content === null ? null : '' })
  for (const piece of pieces(content ?? '')) yield delta({ content: piece })
  for (const [index, call] of calls.entries()) {
    yield delta({ tool_calls: [{ index, ...call, function: { name: call.function.name, arguments: '' } }] })
  }
  const fragments = calls.map((call) => argumentFragments(call.function.arguments))
  for (let turn = 0; fragments.some((list) => turn < list.length); turn++) {
    for (const [index, list] of fragments.entries()) {
      const fragment = list[turn]
      if (fragment !== undefined) yield delta({ tool_calls: [{ index, function: { arguments: fragment } }] })
    }
  }
}

/** The finish reason and, if requested, the usage in a chunk without choices, which naive clients do not expect. */
export function* endingChunks(completion: ChatCompletion, includeUsage: boolean): Generator<object> {
  yield chunkOf(completion, includeUsage, [choice({}, completion.finish)])
  if (includeUsage) yield { ...chunkOf(completion, includeUsage, []), usage: completion.usage }
}

function chunkOf({ id, model }: ChatCompletion, includeUsage: boolean, choices: readonly object[]): object {
  const usage = includeUsage ? { usage: null } : {}
  return { id, object: 'chat.completion.chunk', created: CREATED, model, choices, ...usage }
}

function choice(delta: object, finish: string | null): object {
  return { index: 0, delta, logprobs: null, finish_reason: finish }
}

interface ChatUsage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number }
}

/**
 * The request in the order in which a server shows it to the model: tools, then messages, each as JSON. It defines the prefix on
 * this wire: a changed byte in the tools also loses the cached messages. Serialised from the parsed body, so white space does not
 * count and the order of keys does.
 */
export function chatRenderOrder(
  body: Pick<ChatRequestBody, 'tools' | 'messages'>,
  family: ChatFamily = 'openai',
): string {
  const messages = family === 'template' ? withoutOldReasoning(body.messages) : body.messages
  return (body.tools === undefined ? '' : JSON.stringify(body.tools)) + JSON.stringify(messages)
}

/**
 * Some chat templates drop the `reasoning_content` of every assistant message before the last user message. Qwen3's compares the
 * index of a message with `ns.last_query_index`; GLM and MiniMax have equivalents. A user message within a turn therefore changes
 * bytes far before it.
 */
function withoutOldReasoning(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const lastUser = messages.findLastIndex(({ role }) => role === 'user')
  return messages.map((message, index) => {
    if (index > lastUser || message.role !== 'assistant') return message
    const { reasoning_content: _, ...rest } = message
    return rest
  })
}

export function computeUsage(rendered: string, earlier: readonly string[], completion: string): ChatUsage {
  const prompt = estimateTokens(rendered)
  const completed = estimateTokens(completion)
  return {
    prompt_tokens: prompt,
    completion_tokens: completed,
    total_tokens: prompt + completed,
    prompt_tokens_details: { cached_tokens: estimateCachedTokens(rendered, earlier) },
  }
}
