/** Messages to units, one each. */

import { isRecord } from '../../base/guards.js'
import { invalid } from '../../base/options.js'
import {
  argumentsText,
  cutOff,
  hasObjectArguments,
  plainText,
  readArguments,
  textOf,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import { type ChatChoice, type ChatMessage, type ChatReply, type ChatReplyMessage, WIRE } from './types.js'

export function readMessages(messages: readonly ChatMessage[]): readonly Unit[] {
  let open: readonly UnitCall[] = []
  return messages.map((message) => {
    const unit = readMessage(message, open)
    if (unit.kind === 'assistant') open = unit.calls
    if (unit.kind === 'answer') open = open.filter(({ id }) => id !== unit.callId)
    return unit
  })
}

function readMessage(message: ChatMessage, open: readonly UnitCall[]): Unit {
  const native = { wire: WIRE, value: message }
  const kind = kindOf(message)
  const text = textOf(normaliseContent(message.content))
  if (kind === 'answer') return { kind, callId: answeredBy(message, open), text, native }
  if (kind !== 'assistant') return { kind, text, native }
  const calls = callsOf(message)
  return { kind, text, calls, native, ...(isNormal(message, calls) ? {} : { repaired: true as const }) }
}

/** Of a role that is not known here, a message with calls is the model's, and any other is the user's. */
function kindOf({ role, tool_calls: calls }: ChatMessage): 'system' | 'user' | 'assistant' | 'answer' {
  if (role === 'tool' || role === 'function') return 'answer'
  if (role === 'system' || role === 'developer') return 'system'
  if (role === 'user') return 'user'
  return role === 'assistant' || (Array.isArray(calls) && calls.length > 0) ? 'assistant' : 'user'
}

/**
 * The call that a message answers. Where the model's calls had no ids, or one id twice, answers have it too, and belong
 * to those calls in their order. A message of the role `function` has a name only.
 */
function answeredBy(message: ChatMessage, open: readonly UnitCall[]): string {
  const { role, name, tool_call_id: given } = message as ChatMessage & { readonly name?: unknown }
  const id = givenId(given)
  const call =
    role === 'function' && id === ''
      ? open.find((each) => each.name === name)
      : (open.find((each) => each.id === id) ?? open.find((each) => ownId(each) === id))
  return call?.id ?? (id || plainText(role === 'function' ? name : ''))
}

/** Shapes that servers refuse, and the nearest ones that they take. Nothing that was said is lost on the way. */
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool']

/** Text, or a list of parts that say what they are. Kinds of parts that are not known here pass: servers add their own. */
export function normaliseContent(content: unknown): unknown {
  if (!Array.isArray(content)) return plainText(content)
  if (content.length > 0 && content.every(isPart)) return content
  const parts = content.flatMap(normalisePart)
  return parts.length > 0 ? parts : ''
}

/** Whether a server takes a message as it is. `calls`: those that were read from it. */
export function isNormal(message: ChatMessage, calls: readonly UnitCall[]): boolean {
  const { role, content, tool_calls: given } = message
  const { function_call: single } = message as { readonly function_call?: unknown }
  if (!ROLES.includes(role)) return false
  if (role !== 'assistant') return content === normaliseContent(content)
  if (isRecord(single)) return false
  if (calls.length === 0) return given === undefined && content === normaliseContent(content)
  const normal =
    calls.length === given?.length && calls.every((call, index) => fromCall(call) === given[index])
  return normal && (content == null || content === normaliseContent(content))
}

function normalisePart(part: unknown): readonly object[] {
  if (isPart(part)) return [part]
  if (isRecord(part) && typeof part.text === 'string') return [{ ...part, type: 'text' }]
  const text = plainText(part)
  return text === '' ? [] : [{ type: 'text', text }]
}

function isPart(part: unknown): part is object {
  return (
    isRecord(part) && typeof part.type === 'string' && (part.type !== 'text' || typeof part.text === 'string')
  )
}

/** The calls of an assistant message, in every form that servers and libraries have written them. */
type Fields = Readonly<Record<string, unknown>>

/**
 * Ids that are missing or repeated get one of their own, which `run` answers with. What has neither an id nor a name is no
 * call. A call of a custom tool is named so that no function can be taken for it: only its owner can run it.
 */
export function callsOf(message: ChatMessage | ChatReplyMessage): readonly UnitCall[] {
  const seen = new Set<string>()
  return entriesOf(message).flatMap((entry): UnitCall[] => {
    if (!isRecord(entry)) return []
    const given = givenId(entry.id)
    const target = isRecord(entry.function) ? entry.function : {}
    if (given === '' && typeof target.name !== 'string' && !isCustom(entry)) return []
    const base = given || 'call'
    let id = base
    for (let count = 2; seen.has(id); count++) id = `${base}~${count}`
    seen.add(id)
    const native = { wire: WIRE, value: entry }
    if (isCustom(entry)) {
      const { name, input } = entry.custom
      return [{ id, name: `custom:${name}`, input: { value: { input } }, native }]
    }
    const { name, arguments: written } = target
    const text = typeof written === 'string' ? { text: written } : {}
    return [
      { id, name: typeof name === 'string' ? name : '', input: readArguments(written), ...text, native },
    ]
  })
}

/** The calls of a reply that shall run. The one within which a reply ended at its limit does not: what there is of it is not what was meant. */
export function callsIn(reply: ChatReply): readonly UnitCall[] {
  const given: unknown = isRecord(reply) && Array.isArray(reply.choices) ? reply.choices[0] : reply
  const choice: ChatChoice =
    isRecord(given) && isRecord(given.message)
      ? (given as unknown as ChatChoice)
      : { message: given as ChatReplyMessage }
  const { message, finish_reason: finish } = choice
  if (typeof message?.role !== 'string')
    throw invalid(
      'reply',
      'run wants the completion that the API gave, a choice of it (completion.choices[0]), or the assistant message in that.',
    )
  if (message.role !== 'assistant') return []
  const calls = callsOf(message)
  const cut = finish === 'length' ? calls.at(-1) : undefined
  return calls
    .filter((call) => !isCustomCall(call))
    .map((call) => (call === cut ? { ...call, input: cutOff(call.text ?? '') } : call))
}

/** `function_call` is what `tool_calls` was before there could be several. */
function entriesOf(
  message: (ChatMessage | ChatReplyMessage) & { readonly function_call?: unknown },
): readonly unknown[] {
  const { tool_calls: calls, function_call: single } = message
  const list: readonly unknown[] = Array.isArray(calls) ? calls : []
  return isRecord(single) ? [...list, { type: 'function', function: single }] : list
}

/** An id as text. Libraries that count have written numbers. */
function givenId(id: unknown): string {
  return typeof id === 'string' ? id : typeof id === 'number' ? String(id) : ''
}

/** The id that the message itself has for a call. */
function ownId({ native }: UnitCall): string {
  return givenId((native?.value as Fields | undefined)?.id)
}

export function isCustomCall({ native }: UnitCall): boolean {
  return native?.wire === WIRE && isRecord(native.value) && isCustom(native.value)
}

function isCustom(
  entry: Fields,
): entry is Fields & { readonly custom: { readonly name: string; readonly input: string } } {
  const { type, custom } = entry
  return (
    type === 'custom' &&
    isRecord(custom) &&
    typeof custom.name === 'string' &&
    typeof custom.input === 'string'
  )
}

/** A call as servers take it: the very object of the message where that has all it needs. */
export function fromCall(call: UnitCall): object {
  const { id, name, native } = call
  const own = native?.wire === WIRE && isRecord(native.value) ? native.value : {}
  if (isCustom(own)) return own.id === id ? own : { ...own, id }
  const target = isRecord(own.function) ? own.function : {}
  const written = target.arguments
  if (
    own.id === id &&
    own.type === 'function' &&
    target.name === name &&
    typeof written === 'string' &&
    hasObjectArguments(call)
  )
    return own
  return { ...own, id, type: 'function', function: { ...target, name, arguments: argumentsText(call) } }
}
