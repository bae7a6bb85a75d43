/** Reads a streamed reply: the events of one message to the message they add up to. */
import { isRecord, readArguments } from '../shared/thread.js'
import { type AnthropicReply, blocksOf, isBlank } from './wire.js'

export { readEvents } from '../shared/sse.js'

export interface StreamedReply<Message extends AnthropicReply = AnthropicReply> {
  readonly message: Message
  readonly stopReason: string | undefined
  readonly usage: unknown
  /** False where the stream broke off: do not run its calls, ask again with the same request id. */
  readonly complete: boolean
}

/** Adds up events, whether parsed here or given by an SDK. A source that fails half-way gives an incomplete reply, not a throw. */
export async function assemble<Message extends AnthropicReply = AnthropicReply>(
  events: AsyncIterable<unknown>,
): Promise<StreamedReply<Message>> {
  const blocks: (Record<string, unknown> | undefined)[] = []
  const inputs = new Map<number, string>()
  let stopReason: string | undefined
  let usage: unknown
  let complete = false
  try {
    for await (const event of events) {
      if (!isRecord(event)) continue
      const { type, index, delta } = event
      if (type === 'error') break
      if (type === 'message_start' && isRecord(event.message)) usage = event.message.usage
      if (type === 'message_delta') {
        usage = { ...given(usage), ...given(event.usage) }
        if (isRecord(delta) && typeof delta.stop_reason === 'string') stopReason = delta.stop_reason
      }
      if (type === 'message_stop') complete = stopReason !== undefined
      if (typeof index !== 'number') continue
      if (type === 'content_block_start' && isRecord(event.content_block))
        blocks[index] = { ...event.content_block }
      const block = blocks[index]
      if (type !== 'content_block_delta' || !block || !isRecord(delta)) continue
      if (typeof delta.partial_json === 'string')
        inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json)
      else extend(block, delta)
    }
  } catch {
    complete = false
  }
  for (const [index, text] of inputs) {
    const block = blocks[index]
    const input = readArguments(text)
    // Text that does not parse stays text: `run` tells the model, and the next request carries it as an object.
    if (block && text !== '') block.input = 'value' in input ? input.value : text
  }
  const content = blocksOf(blocks).filter((block) => !isBlank(block))
  const message: AnthropicReply = {
    role: 'assistant',
    content,
    ...(stopReason === undefined ? {} : { stop_reason: stopReason }),
  }
  return { message: message as Message, stopReason, usage, complete }
}

/** Text, thinking, signatures: each delta names the field that it makes longer. A citation joins a list. */
function extend(block: Record<string, unknown>, delta: Record<string, unknown>): void {
  for (const [field, value] of Object.entries(delta)) {
    if (field === 'citation')
      block.citations = [...(Array.isArray(block.citations) ? block.citations : []), value]
    else if (field !== 'type' && typeof value === 'string')
      block[field] = (typeof block[field] === 'string' ? block[field] : '') + value
  }
}

/** The figures that are there: a later event says null for what an earlier one has said. */
function given(usage: unknown): Record<string, unknown> {
  return isRecord(usage)
    ? Object.fromEntries(Object.entries(usage).filter(([, figure]) => figure !== null))
    : {}
}
