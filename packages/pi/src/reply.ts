/** A finished message of the model as a reply of the wire: pi reads streams itself, and shows what it made of them. */
import { isRecord } from '@toolwell/core/internal'
import { callIdOf } from './call-ids.js'
import type { WireName } from './payload.js'

interface Call {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** Models whose calls pi sends back to Google's API with their ids; those of others go by their names there. */
const WITH_IDS = /^(claude-|gpt-oss-)/

export function replyOf(message: unknown, wire: WireName, model: string): unknown {
  const calls = callsIn(message)
  const { input, cached, output } = usageIn(message)
  const counted = (key: string, usage: object) => (input > 0 ? { [key]: usage } : {})
  if (wire === 'anthropic')
    return {
      role: 'assistant',
      content: calls.map((call) => ({ type: 'tool_use', ...call })),
      stop_reason: null,
      ...counted('usage', {
        input_tokens: input - cached,
        cache_read_input_tokens: cached,
        output_tokens: output,
      }),
    }
  if (wire === 'google') {
    const parts = calls.map(({ id, name, input }) => ({
      functionCall: { ...(WITH_IDS.test(model) ? { id } : {}), name, args: input },
    }))
    return {
      candidates: [{ content: { role: 'model', parts } }],
      ...counted('usageMetadata', {
        promptTokenCount: input,
        cachedContentTokenCount: cached,
        candidatesTokenCount: output,
      }),
    }
  }
  const written = calls.map(({ id, name, input }) => ({ id, name, text: JSON.stringify(input) }))
  if (wire === 'openai-responses')
    return {
      output: written.map(({ id, name, text }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: text,
      })),
      ...counted('usage', {
        input_tokens: input,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: output,
      }),
    }
  const toolCalls = written.map(({ id, name, text }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
  }))
  return {
    choices: [{ index: 0, message: { role: 'assistant', content: null, tool_calls: toolCalls } }],
    ...counted('usage', {
      prompt_tokens: input,
      prompt_tokens_details: { cached_tokens: cached },
      completion_tokens: output,
    }),
  }
}

/** None where the request failed. pi counts what was read from the cache, and written to it, beside the rest of the input. */
function usageIn(message: unknown) {
  const usage = isRecord(message) && isRecord(message.usage) ? message.usage : {}
  const figure = (key: string) => (typeof usage[key] === 'number' ? usage[key] : 0)
  return {
    input: figure('input') + figure('cacheRead') + figure('cacheWrite'),
    cached: figure('cacheRead'),
    output: figure('output'),
  }
}

function callsIn(message: unknown): readonly Call[] {
  if (!isRecord(message) || !Array.isArray(message.content)) return []
  return message.content.flatMap((block: unknown) =>
    isRecord(block) &&
    block.type === 'toolCall' &&
    typeof block.id === 'string' &&
    typeof block.name === 'string'
      ? [{ id: callIdOf(block.id), name: block.name, input: block.arguments }]
      : [],
  )
}
