/** Writes an answer on the Anthropic wire: a message object or the events of a stream. */
import { argumentFragments, pieces } from '../shared/usage.js'
import type { AnthropicUsage } from './usage.js'

/** A call before it is written in either form. */
export interface AnthropicCall {
  readonly id: string
  readonly name: string
  /** Input in a stream, valid JSON or not. */
  readonly text: string
  /** Input in a message object. */
  readonly input: object
}

/** A finished answer. Empty text gives no block. */
export interface AnthropicAnswer {
  readonly id: string
  readonly model: string
  /** Thinking with its signature. */
  readonly thinking: { readonly thinking: string; readonly signature: string } | undefined
  readonly text: string
  readonly calls: readonly AnthropicCall[]
  readonly stopReason: string
  readonly usage: AnthropicUsage
  /** Thinking dropped by the server, if the request asked for this report. */
  readonly transformations: readonly object[] | undefined
}

const TEXT_BLOCK = { type: 'text', text: '' }

export function messageObject(answer: AnthropicAnswer): object {
  const { thinking, text, calls, stopReason, usage } = answer
  const thought = thinking ? [{ type: 'thinking', ...thinking }] : []
  const said = text === '' ? [] : [{ ...TEXT_BLOCK, text }]
  const content = [
    ...thought,
    ...said,
    ...calls.map((call) => ({ ...toolUseBlock(call), input: call.input })),
  ]
  return messageOf(answer, content, stopReason, usage)
}

/**
 * Yields one event per piece, except that the last piece contains the whole ending from the end of the last block. Blocks follow
 * each other. Text and input come in pieces of at most eight characters, and input begins with an empty piece.
 */
export function* messageEvents(answer: AnthropicAnswer): Generator<string> {
  const { thinking, text, calls, stopReason, usage } = answer
  yield event('message_start', { message: messageOf(answer, [], null, { ...usage, output_tokens: 1 }) })
  yield event('ping', {})
  const blocks = [
    ...(thinking
      ? [{ start: { type: 'thinking', thinking: '', signature: '' }, deltas: thinkingDeltas(thinking) }]
      : []),
    ...(text === '' ? [] : [{ start: TEXT_BLOCK, deltas: textDeltas(text) }]),
    ...calls.map((call) => ({ start: toolUseBlock(call), deltas: inputDeltas(call.text) })),
  ]
  let ending = ''
  for (const [index, { start, deltas }] of blocks.entries()) {
    if (ending !== '') yield ending
    yield event('content_block_start', { index, content_block: start })
    for (const delta of deltas) yield event('content_block_delta', { index, delta })
    ending = event('content_block_stop', { index })
  }
  const { cache_creation, service_tier, inference_geo, speed, ...cumulative } = usage
  const delta = { stop_reason: stopReason, stop_sequence: null, stop_details: null, container: null }
  ending += event('message_delta', { delta, usage: cumulative })
  yield ending + event('message_stop', {})
}

function messageOf(
  { id, model, transformations }: AnthropicAnswer,
  content: readonly object[],
  stopReason: string | null,
  usage: AnthropicUsage,
): object {
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    diagnostics: null,
    usage,
    ...(transformations ? { input_transformations: transformations } : {}),
  }
}

function toolUseBlock({ id, name }: AnthropicCall): object {
  return { type: 'tool_use', id, name, input: {}, caller: { type: 'direct' } }
}

function textDeltas(text: string): readonly object[] {
  return pieces(text).map((piece) => ({ type: 'text_delta', text: piece }))
}

function thinkingDeltas({ thinking, signature }: { thinking: string; signature: string }): readonly object[] {
  const words = pieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece }))
  return [...words, { type: 'signature_delta', signature }]
}

function inputDeltas(text: string): readonly object[] {
  return ['', ...argumentFragments(text)].map((fragment) => ({
    type: 'input_json_delta',
    partial_json: fragment,
  }))
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
}
