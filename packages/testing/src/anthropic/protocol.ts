/** Anthropic Messages for the scripted endpoint: path, key, answers and errors. */
import type { AnswerContext, Protocol, ScriptedCall } from '../shared/protocol.js'
import { type AnthropicCall, messageEvents, messageObject } from './answer.js'
import { dropInvalidThinking, listTransformations, seal } from './binding.js'
import { type AnthropicRequestBody, type AnthropicRuleOptions, findAnthropicViolation } from './rules.js'
import { anthropicRenderOrder, anthropicUsage, listKeptPrefixes, renderAnthropic } from './usage.js'

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
/** Codes that exist on the wire. The others are ours and appear only in the record. */
const WIRE_CODES = ['tool_reference_unresolved', 'tool_name_conflict']

/**
 * Input is an object on this wire. Scripted arguments that are not a JSON object imitate a model that ran out of tokens: a stream
 * carries them unchanged, an object carries `{}`, and `stop_reason` is `max_tokens` unless the script sets it. An empty string is
 * an empty input.
 *
 * Keeps the cached prefixes of answered requests, so each endpoint needs a new protocol.
 */
export function anthropicProtocol(options: AnthropicRuleOptions = {}): Protocol<AnthropicRequestBody> {
  const kept: string[] = []
  return {
    name: 'anthropic-messages',
    // The official client adds the version.
    basePath: '',
    match: (path) => (path === '/v1/messages' ? {} : undefined),
    authorised: (headers, apiKey) =>
      headers['x-api-key'] === apiKey || headers.authorization === `Bearer ${apiKey}`,
    violationOf: (body) => findAnthropicViolation(body, options),
    wantsStream: (body) => body.stream === true,
    renderOrder: (body) => anthropicRenderOrder(dropInvalidThinking(body, options)),
    answer({ thinking: thought, text = '', calls: scripted = [], finish }, body, context) {
      const calls = scripted.map((call) => callOf(call, context))
      const rendering = renderAnthropic(dropInvalidThinking(body, options))
      const thinking =
        thought === undefined ? undefined : { thinking: thought, signature: seal(body, thought, options) }
      const transformations = listTransformations(body, options)
      const written = [thought ?? '', text, ...calls.flatMap((call) => [call.name, call.text])].join('')
      const usage = anthropicUsage(rendering, kept, written)
      kept.push(...listKeptPrefixes(rendering))
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
