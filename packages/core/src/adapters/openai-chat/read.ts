/** Reads Chat Completions messages as units, in every form that servers and libraries write. */

import { isRecord } from '../../base/data.js'
import { invalid } from '../../base/options.js'
import {
  argumentsText,
  cutOff,
  hasObjectArguments,
  plainText,
  readArguments,
  readText,
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
  const kind = detectKind(message)
  const text = readText(normaliseContent(message.content))
  if (kind === 'answer') return { kind, callId: findAnsweredId(message, open), text, native }
  if (kind !== 'assistant') return { kind, text, native }
  const calls = readCalls(message)
  return { kind, text, calls, native, ...(isNormal(message, calls) ? {} : { repaired: true as const }) }
}

/** A message with an unknown role is the model's if it has calls, otherwise the user's. */
function detectKind({ role, tool_calls: calls }: ChatMessage): 'system' | 'user' | 'assistant' | 'answer' {
  if (role === 'tool' || role === 'function') return 'answer'
  if (role === 'system' || role === 'developer') return 'system'
  if (role === 'user') return 'user'
  return role === 'assistant' || (Array.isArray(calls) && calls.length > 0) ? 'assistant' : 'user'
}

/**
 * The id of the call that a message answers. If calls have no ids or repeat one, answers do too: they are matched in
 * order. A message with the role `function` has only a name.
 */
function findAnsweredId(message: ChatMessage, open: readonly UnitCall[]): string {
  const { role, name, tool_call_id: given } = message as ChatMessage & { readonly name?: unknown }
  const id = readId(given)
  const call =
    role === 'function' && id === ''
      ? open.find((each) => each.name === name)
      : (open.find((each) => each.id === id) ?? open.find((each) => readOwnId(each) === id))
  return call?.id ?? (id || plainText(role === 'function' ? name : ''))
}

const ROLES = ['system', 'developer', 'user', 'assistant', 'tool']

/** Converts content to text or a list of typed parts. Unknown types of parts pass: servers add new ones. */
export function normaliseContent(content: unknown): unknown {
  if (!Array.isArray(content)) return plainText(content)
  if (content.length > 0 && content.every(isPart)) return content
  const parts = content.flatMap(normalisePart)
  return parts.length > 0 ? parts : ''
}

/** Whether servers accept the message as it is. `calls`: the calls that were read from it. */
export function isNormal(message: ChatMessage, calls: readonly UnitCall[]): boolean {
  const { role, content, tool_calls: given } = message
  const { function_call: single } = message as { readonly function_call?: unknown }
  if (!ROLES.includes(role)) return false
  if (role !== 'assistant') return content === normaliseContent(content)
  if (isRecord(single)) return false
  if (calls.length === 0) return given === undefined && content === normaliseContent(content)
  const normal =
    calls.length === given?.length && calls.every((call, index) => writeCall(call) === given[index])
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

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads the calls of a message. Missing or repeated ids are replaced; `run` uses the new ones. An entry without an id
 * and a name is skipped. A call of a custom tool gets a name that no function can have: only the host can run it.
 */
export function readCalls(message: ChatMessage | ChatReplyMessage): readonly UnitCall[] {
  const seen = new Set<string>()
  return listCallEntries(message).flatMap((entry): UnitCall[] => {
    if (!isRecord(entry)) return []
    const given = readId(entry.id)
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

/**
 * Reads the calls of a reply to run. A call that was cut off at the limit of the reply does not run: its arguments
 * are incomplete.
 */
export function readReplyCalls(reply: ChatReply): readonly UnitCall[] {
  const given: unknown = isRecord(reply) && Array.isArray(reply.choices) ? reply.choices[0] : reply
  const choice: ChatChoice =
    isRecord(given) && isRecord(given.message)
      ? (given as unknown as ChatChoice)
      : { message: given as ChatReplyMessage }
  const { message, finish_reason: finish } = choice
  if (typeof message?.role !== 'string')
    throw invalid(
      'reply',
      'run takes the completion of the API, a choice of it (completion.choices[0]), or the assistant message of a choice.',
    )
  if (message.role !== 'assistant') return []
  const calls = readCalls(message)
  const cut = finish === 'length' ? calls.at(-1) : undefined
  return calls
    .filter((call) => !isCustomCall(call))
    .map((call) => (call === cut ? { ...call, input: cutOff(call.text ?? '') } : call))
}

/** `function_call` is the older form of `tool_calls`, for a single call. */
function listCallEntries(
  message: (ChatMessage | ChatReplyMessage) & { readonly function_call?: unknown },
): readonly unknown[] {
  const { tool_calls: calls, function_call: single } = message
  const list: readonly unknown[] = Array.isArray(calls) ? calls : []
  return isRecord(single) ? [...list, { type: 'function', function: single }] : list
}

/** An id as text. Some libraries write numbers. */
function readId(id: unknown): string {
  return typeof id === 'string' ? id : typeof id === 'number' ? String(id) : ''
}

/** The id of a call in its message. */
function readOwnId({ native }: UnitCall): string {
  return readId((native?.value as Fields | undefined)?.id)
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

/** Writes a call as servers accept it. Returns the object of the message if it is complete. */
export function writeCall(call: UnitCall): object {
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
    written.trim() !== '' &&
    hasObjectArguments(call)
  )
    return own
  return { ...own, id, type: 'function', function: { ...target, name, arguments: argumentsText(call) } }
}
