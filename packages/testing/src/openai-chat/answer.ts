/** One answer of the scripted endpoint in its two forms on the wire: a single object, or the chunks of a stream. */

import { argumentFragments, pieces } from '../shared/pieces.js'
import type { ChatToolCall } from './request.js'
import type { ChatUsage } from './usage.js'

/** A finished answer, before it is written in either form. */
export interface ChatCompletion {
  readonly id: string
  readonly model: string
  readonly content: string | null
  readonly calls: readonly ChatToolCall[]
  readonly finish: string
  readonly usage: ChatUsage
}

/** Constant, so that two runs of one script write the same bytes. */
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
 * The chunks that carry the answer; `endingChunks` follow. Text and arguments come in pieces of at most eight
 * characters. Parallel calls take turns, one fragment each: a client that joins fragments by arrival instead of by
 * `index` fails here.
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

/** The reason for the end and, where it was asked for, the usage: a chunk without choices, which naive clients index. */
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
