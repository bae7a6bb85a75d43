/** Anthropic Messages as the scripted endpoint speaks it: its path, its key, its answers and its errors. */

import type { AnswerContext, Protocol, ScriptedCall } from '../shared/protocol.js'
import { type AnthropicCall, messageEvents, messageObject } from './answer.js'
import { asSeen, seal, transformationsOf } from './binding.js'
import { type AnthropicRequestBody, type AnthropicRuleOptions, anthropicViolationOf } from './rules.js'
import { anthropicRenderOrder, anthropicUsage, keptBy, renderAnthropic } from './usage.js'

const ERROR_TYPES = new Map([
  [401, 'authentication_error'],
  [402, 'billing_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [409, 'conflict_error'],
  [429, 'rate_limit_error'],
  [504, 'timeout_error'],
  [529, 'overloaded_error'],
])
/** The codes that the wire has a place for. The others are ours, and stay in the record. */
const WIRE_CODES = ['tool_reference_unresolved', 'tool_name_conflict']

/**
 * Input is an object on this wire. Scripted arguments that are the JSON of none are what a model leaves when its tokens
 * run out: a stream carries them as they are, an object carries `{}`, and either way `stop_reason` is `max_tokens`
 * unless the script has its own. An empty string is an input without fields.
 *
 * Remembers the prefixes that answered requests left in the cache, so every endpoint needs a protocol of its own.
 */
export function anthropicProtocol(options: AnthropicRuleOptions = {}): Protocol<AnthropicRequestBody> {
  const kept: string[] = []
  return {
    name: 'anthropic-messages',
    // The official client adds the version itself.
    basePath: '',
    match: (path) => (path === '/v1/messages' ? {} : undefined),
    authorised: (headers, apiKey) =>
      headers['x-api-key'] === apiKey || headers.authorization === `Bearer ${apiKey}`,
    violationOf: (body) => anthropicViolationOf(body, options),
    wantsStream: (body) => body.stream === true,
    renderOrder: (body) => anthropicRenderOrder(asSeen(body, options)),
    answer({ thinking: thought, text = '', calls: scripted = [], finish }, body, context) {
      const calls = scripted.map((call) => callOf(call, context))
      const rendering = renderAnthropic(asSeen(body, options))
      const thinking =
        thought === undefined ? undefined : { thinking: thought, signature: seal(body, thought, options) }
      const transformations = transformationsOf(body, options)
      const written = [thought ?? '', text, ...calls.flatMap((call) => [call.name, call.text])].join('')
      const usage = anthropicUsage(rendering, kept, written)
      kept.push(...keptBy(rendering))
      const isBroken = calls.some((call) => call.isBroken)
      const natural = calls.length > 0 ? 'tool_use' : 'end_turn'
      const stopReason = finish ?? (isBroken ? 'max_tokens' : natural)
      const id = `msg_${context.index + 1}`
      const answer = { id, model: body.model, thinking, text, calls, stopReason, usage, transformations }
      return { object: messageObject(answer), stream: () => messageEvents(answer) }
    },
    errorObject(status, message, code) {
      const type = ERROR_TYPES.get(status) ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
      const details = code !== null && WIRE_CODES.includes(code) ? { details: { error_code: code } } : {}
      return { type: 'error', error: { type, message, ...details }, request_id: null }
    },
  }
}

function callOf(call: ScriptedCall, context: AnswerContext): AnthropicCall & { readonly isBroken: boolean } {
  const { name, arguments: given, id = context.nextCallId('toolu_') } = call
  const text = typeof given === 'string' ? given : JSON.stringify(given ?? {})
  const input = objectIn(text === '' ? '{}' : text)
  return { id, name, text, input: input ?? {}, isBroken: input === undefined }
}

function objectIn(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
