/**
 * Converts between pi and Toolwell: finished messages to provider replies, bridged calls to calls of the inner tool, answers to
 * pi's content.
 */
import type { Catalogue } from '@toolwell/core'
import type { FrameworkAnswer } from '@toolwell/core/framework'
import { isRecord } from '@toolwell/core/internal'
import { findReferences, readCallId, type WireName } from './payload.js'
import type { Content, PiEvent } from './pi.js'

interface Call {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** Models whose calls pi sends back to Google's API with ids. Other models match calls by name. */
const WITH_IDS = /^(claude-|gpt-oss-)/

export function createReply(message: unknown, wire: WireName, model: string): unknown {
  const calls = readCalls(message)
  const { input, cached, output } = readUsage(message)
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

/** Empty if the request failed. pi counts cache reads and writes separately from other input. */
function readUsage(message: unknown) {
  const usage = isRecord(message) && isRecord(message.usage) ? message.usage : {}
  const figure = (key: string) => (typeof usage[key] === 'number' ? usage[key] : 0)
  return {
    input: figure('input') + figure('cacheRead') + figure('cacheWrite'),
    cached: figure('cacheRead'),
    output: figure('output'),
  }
}

function readCalls(message: unknown): readonly Call[] {
  if (!isRecord(message) || !Array.isArray(message.content)) return []
  return message.content.flatMap((block: unknown) =>
    isRecord(block) &&
    block.type === 'toolCall' &&
    typeof block.id === 'string' &&
    typeof block.name === 'string'
      ? [{ id: readCallId(block.id), name: block.name, input: block.arguments }]
      : [],
  )
}

const BRIDGE = 'tool_call'

export interface BridgedCalls {
  /** Changes the event in place, so that later extensions see the inner tool and can change its arguments. */
  show(event: PiEvent, catalogue: Catalogue): void
  /** The arguments in the form that the bridge expects. */
  restore(callId: string, input: unknown): unknown
}

export function createBridgedCalls(): BridgedCalls {
  const rest = new Map<string, Record<string, unknown>>()
  return {
    show(event, catalogue) {
      const { toolName, toolCallId, input } = event
      if (toolName !== BRIDGE || toolCallId === undefined || !isRecord(input)) return
      const { arguments: inner, ...others } = input
      const found = typeof others.name === 'string' ? catalogue.resolve(others.name, () => true) : undefined
      if (found?.kind !== 'found' || !isRecord(inner)) return
      rest.set(toolCallId, others)
      event.toolName = found.entry.wireName
      for (const key of Object.keys(input)) delete input[key]
      Object.assign(input, inner)
    },
    restore(callId, input) {
      const others = rest.get(callId)
      rest.delete(callId)
      return others ? { ...others, arguments: input } : input
    },
  }
}

/** Every other outcome is an error. */
const FINE = new Set(['search', 'result'])

export function createContent(answer: FrameworkAnswer): { content: Content[]; details: unknown } {
  const { text, parts, outcome } = answer
  if (!FINE.has(outcome.kind)) throw new Error(text)
  const images = (parts ?? []).flatMap((part): Content[] =>
    part.type === 'image' ? [{ type: 'image', data: part.data, mimeType: part.mediaType }] : [],
  )
  const native = findReferences(answer.messages)
  const words =
    images.length === 0 ? [text] : (parts ?? []).flatMap((part) => (part.type === 'text' ? part.text : []))
  return {
    content: [...words.map((word): Content => ({ type: 'text', text: word })), ...images],
    details: { toolwell: outcome.kind, ...(native ? { native } : {}) },
  }
}
