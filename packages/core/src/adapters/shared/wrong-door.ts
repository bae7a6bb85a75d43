/**
 * A history or a reply in another wire's form, told where it is given: an adapter would read nothing in it. Only shapes
 * that exist on one wire count. Messages of words alone look the same on most, and are nobody's mistake.
 */

import { isRecord } from '../../base/guards.js'
import { invalid } from '../../base/options.js'

/** The forms of messages that have an adapter here. */
export type Form = 'ai-sdk' | 'anthropic' | 'google' | 'openai-chat' | 'openai-responses'

/** And messages as interfaces of the AI SDK keep them, which no adapter reads. */
type AnyForm = Form | 'ui'

const FORMS: Readonly<Record<AnyForm, { readonly api: string; readonly door: string }>> = {
  'ai-sdk': { api: 'the AI SDK', door: 'aiSdk' },
  anthropic: { api: 'Anthropic Messages', door: 'anthropic' },
  google: { api: 'the Gemini API', door: 'google' },
  'openai-chat': { api: 'Chat Completions', door: 'openaiChat' },
  'openai-responses': { api: 'the Responses API', door: 'openaiResponses' },
  ui: { api: 'an interface (UIMessage)', door: '' },
}

/** Forms that an adapter reads besides its own. */
const ALSO_READ: Readonly<Partial<Record<Form, Form>>> = { 'openai-responses': 'openai-chat' }

/** The forms that a message has a sign of: mostly none or one. */
function formsOf(message: unknown): readonly AnyForm[] {
  try {
    return isRecord(message) ? signsOf(message) : []
  } catch {
    // A field that cannot be read: the entry will be dropped.
    return []
  }
}

function signsOf(message: Readonly<Record<string, unknown>>): readonly AnyForm[] {
  const { role, type, content, parts, tool_calls: calls, tool_call_id: answered } = message
  const pieces = Array.isArray(content) ? content.filter(isRecord) : []
  const item = type === 'function_call' || type === 'function_call_output'
  const withParts = Array.isArray(parts) && content === undefined
  // A part of Gemini has a field for its kind, and no type.
  const isUi = withParts && parts.some((part: unknown) => isRecord(part) && typeof part.type === 'string')
  return [
    ...(withParts ? [isUi ? ('ui' as const) : ('google' as const)] : []),
    ...(item && role === undefined && typeof message.call_id === 'string'
      ? (['openai-responses'] as const)
      : []),
    ...((role === 'tool' && typeof answered === 'string') ||
    (role === 'assistant' && Array.isArray(calls) && calls.length > 0)
      ? (['openai-chat'] as const)
      : []),
    ...new Set(pieces.flatMap((piece) => formOfPiece(piece) ?? [])),
  ]
}

/** Pieces of content that exist on one wire alone. Some servers of the Chat family have thinking of their own, without a signature. */
function formOfPiece({ type, source, signature }: Readonly<Record<string, unknown>>): Form | undefined {
  if (type === 'tool_use' || type === 'tool_result') return 'anthropic'
  if (type === 'image' && isRecord(source)) return 'anthropic'
  if (type === 'thinking' && typeof signature === 'string') return 'anthropic'
  if (type === 'tool-call' || type === 'tool-result') return 'ai-sdk'
  if (type === 'image_url' || type === 'input_audio') return 'openai-chat'
  if (type === 'input_text' || type === 'output_text' || type === 'input_image') return 'openai-responses'
  return undefined
}

/** A message without parts, where a message is its parts. */
function lacksParts(message: unknown): boolean {
  try {
    if (!isRecord(message) || message.parts !== undefined || typeof message.role !== 'string') return false
    const { content } = message
    return typeof content === 'string' ? content !== '' : Array.isArray(content) && content.length > 0
  } catch {
    return false
  }
}

/**
 * Describes the first entry of a history that has the form of another wire. Throws if no entry has the form of this one.
 */
export function findForeignEntry(form: Form, messages: readonly unknown[]): string | undefined {
  const forms = messages.map(formsOf)
  const isOwn = (some: readonly AnyForm[]) => some.some((each) => each === form || each === ALSO_READ[form])
  const index = forms.findIndex((some, at) =>
    some.length > 0 ? !isOwn(some) : form === 'google' && lacksParts(messages[at]),
  )
  if (index < 0) return undefined
  const [other] = forms[index] ?? []
  const problem = `entry ${index} of this history is ${other ? `in the form of ${FORMS[other].api}` : 'a message with "content"'}, and ${FORMS[form].door} reads that of ${FORMS[form].api}`
  if (forms.some(isOwn)) return problem
  throw invalid('messages', `${problem[0]?.toUpperCase()}${problem.slice(1)}. ${fixOf(form, other)}`)
}

function fixOf(form: Form, other: AnyForm | undefined): string {
  const here = FORMS[form].door
  if (!other) return 'Its messages are { role, parts: [{ text }] }.'
  if (other === 'ui')
    return 'convertToModelMessages of the AI SDK makes messages of a model of it, which aiSdk of @toolwell/core/ai-sdk reads.'
  const there = FORMS[other].door
  return `Use ${there} of @toolwell/core/${other}, or move the thread: ${here}(conversation).adopt(${there}(conversation).thread(messages)).`
}

/** Throws at a reply of another wire: to this one it would be a reply without calls. */
export function assertOwnReply(form: Form, reply: unknown): void {
  const forms: readonly AnyForm[] = [...replyForms(reply), ...formsOf(reply)]
  const [other] = forms
  if (other === undefined || forms.includes(form)) return
  throw invalid(
    'reply',
    `This reply is in the form of ${FORMS[other].api}, and ${FORMS[form].door} reads that of ${FORMS[form].api}. Use ${FORMS[other].door} of @toolwell/core/${other} for the request and its reply.`,
  )
}

function replyForms(reply: unknown): readonly Form[] {
  if (!isRecord(reply)) return []
  const { choices, candidates, output, content, role } = reply
  return [
    ...(Array.isArray(choices) ? (['openai-chat'] as const) : []),
    ...(Array.isArray(candidates) ? (['google'] as const) : []),
    ...(Array.isArray(output) ? (['openai-responses'] as const) : []),
    ...(role === 'assistant' && Array.isArray(content) && 'stop_reason' in reply
      ? (['anthropic'] as const)
      : []),
  ]
}
