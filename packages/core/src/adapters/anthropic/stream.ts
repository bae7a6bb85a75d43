/** Assembles the events of a streamed reply into one message. */
import type { Usage } from '../../accounting/measurement.js'
import { dropUndefined, isRecord } from '../../base/data.js'
import { addFigures, checkEvents, readFigure, type StreamedReply } from '../shared/stream.js'
import { readArguments } from '../shared/thread.js'
import { type AnthropicReply, isBlank, readBlocks } from './types.js'

export { readEvents } from '../shared/stream.js'

/**
 * Converts `usage` of a message for `recordRequest`. On this wire `input_tokens` excludes tokens that were read from
 * or written to the cache.
 */
export function readUsage(usage: unknown): Usage {
  const cachedTokens = readFigure(usage, 'cache_read_input_tokens')
  const written = readFigure(usage, 'cache_creation_input_tokens')
  return {
    inputTokens: addFigures(readFigure(usage, 'input_tokens'), written, cachedTokens),
    cachedTokens,
    outputTokens: readFigure(usage, 'output_tokens'),
  }
}

/**
 * Assembles events that were parsed here or by an SDK. If the source fails, returns an incomplete reply instead of
 * throwing.
 */
export async function assemble<Reply extends AnthropicReply = AnthropicReply>(
  events: AsyncIterable<unknown>,
): Promise<StreamedReply<Reply, Pick<Reply, 'role' | 'content'>>> {
  const blocks = new Map<number, Record<string, unknown>>()
  const inputs = new Map<number, string>()
  let finish: string | undefined
  let rawUsage: unknown
  let edits: unknown
  let error: unknown
  let complete = false
  try {
    for await (const event of checkEvents(events)) {
      if (!isRecord(event)) continue
      const { type, index, delta } = event
      // Some servers send an error without a type.
      if (type === 'error' || (type === undefined && event.error)) throw event.error ?? event
      if (type === 'message_start' && isRecord(event.message)) rawUsage = event.message.usage
      if (type === 'message_delta') {
        rawUsage = { ...given(rawUsage), ...given(event.usage) }
        edits = event.context_management ?? edits
        if (isRecord(delta) && typeof delta.stop_reason === 'string') finish = delta.stop_reason
      }
      if (type === 'message_stop') complete = finish !== undefined
      if (typeof index !== 'number') continue
      if (type === 'content_block_start' && isRecord(event.content_block))
        blocks.set(index, { ...event.content_block })
      const block = blocks.get(index)
      if (type !== 'content_block_delta' || !block || !isRecord(delta)) continue
      if (typeof delta.partial_json === 'string')
        inputs.set(index, (inputs.get(index) ?? '') + delta.partial_json)
      else extend(block, delta)
    }
  } catch (cause) {
    error = cause ?? 'the stream broke off'
    complete = false
  }
  for (const [index, text] of inputs) {
    const block = blocks.get(index)
    const input = readArguments(text)
    // Text that does not parse stays text: `run` reports it to the model, and the next request sends it inside an
    // object.
    if (block && text !== '') block.input = 'value' in input ? input.value : text
  }
  const placed = [...blocks].sort(([a], [b]) => a - b).map(([, block]) => block)
  const content = readBlocks(placed).filter((block) => !isBlank(block))
  const message: AnthropicReply = { role: 'assistant', content }
  const reply: AnthropicReply = {
    ...message,
    ...dropUndefined({ stop_reason: finish, context_management: edits }),
  }
  return {
    reply: reply as Reply,
    messages: content.length > 0 ? [message as Reply] : [],
    finish,
    usage: readUsage(rawUsage),
    rawUsage,
    error,
    complete,
  }
}

/** Each delta names the field to extend: text, thinking, signature. A citation is added to a list. A summary comes whole. */
function extend(block: Record<string, unknown>, delta: Record<string, unknown>): void {
  const { type, ...fields } = delta
  if (type === 'compaction_delta') Object.assign(block, fields)
  for (const [field, value] of Object.entries(type === 'compaction_delta' ? {} : fields)) {
    if (field === 'citation')
      block.citations = [...(Array.isArray(block.citations) ? block.citations : []), value]
    else if (typeof value === 'string')
      block[field] = (typeof block[field] === 'string' ? block[field] : '') + value
  }
}

/** The figures that are not null: a later event may send null for a figure of an earlier one. */
function given(usage: unknown): Record<string, unknown> {
  return isRecord(usage)
    ? Object.fromEntries(Object.entries(usage).filter(([, figure]) => figure !== null))
    : {}
}
