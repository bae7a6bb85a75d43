/** Reads a streamed reply: server-sent events to chunks, chunks to the one assistant message they add up to. */
import type { ChatToolCall } from './wire.js'

export { readEvents } from '../shared/sse.js'

export interface StreamedReply {
  readonly message: {
    readonly role: 'assistant'
    readonly content: string | null
    readonly refusal?: string
    readonly tool_calls?: readonly ChatToolCall[]
  }
  readonly finishReason: string | undefined
  readonly usage: unknown
  /** False where the stream broke off: do not run its calls, ask again with the same request id. */
  readonly complete: boolean
}

interface Delta {
  readonly content?: string | null
  readonly refusal?: string | null
  readonly tool_calls?: readonly {
    readonly index?: number
    readonly id?: string
    readonly function?: { readonly name?: string; readonly arguments?: string }
  }[]
}

/** Adds up chunks, whether parsed here or given by an SDK. A source that fails half-way gives an incomplete reply, not a throw. */
export async function assemble(chunks: AsyncIterable<unknown>): Promise<StreamedReply> {
  let content = ''
  let refusal = ''
  let finishReason: string | undefined
  let usage: unknown
  const calls: { id: string; name: string; text: string }[] = []
  try {
    for await (const chunk of chunks) {
      const { choices, usage: figures } = (chunk ?? {}) as {
        choices?: { delta?: Delta; finish_reason?: string | null }[]
        usage?: unknown
      }
      usage = figures ?? usage
      const choice = choices?.[0]
      if (!choice) continue
      content += choice.delta?.content ?? ''
      refusal += choice.delta?.refusal ?? ''
      for (const part of choice.delta?.tool_calls ?? []) {
        const index = part.index ?? Math.max(0, calls.length - (part.id === undefined ? 1 : 0))
        const call = calls[index] ?? { id: '', name: '', text: '' }
        calls[index] = call
        if (part.id) call.id = part.id
        call.name += part.function?.name ?? ''
        call.text += part.function?.arguments ?? ''
      }
      finishReason = choice.finish_reason ?? finishReason
    }
  } catch {
    finishReason = undefined
  }
  const made = calls
    .filter(Boolean)
    .map(({ id, name, text }) => ({ id, type: 'function', function: { name, arguments: text } }))
  return {
    message: {
      role: 'assistant',
      content: content === '' ? null : content,
      ...(refusal === '' ? {} : { refusal }),
      ...(made.length > 0 ? { tool_calls: made } : {}),
    },
    finishReason,
    usage,
    complete: finishReason !== undefined,
  }
}
