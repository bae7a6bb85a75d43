/**
 * Writes units as Chat Completions messages. A message that servers accept and in which nothing changed is the host's
 * own object.
 */

import { safeJson } from '../../base/text.js'
import { describeReferences, type Unit } from '../shared/thread.js'
import type { Warn } from '../shared/wire.js'
import { isNormal, normaliseContent, readCalls, writeCall } from './read.js'
import { type ChatMessage, type ChatToolCall, WIRE } from './types.js'

export function writeMessages(units: readonly Unit[], section: string, warn: Warn): ChatMessage[] {
  return addSection(joinNotes(units, warn), section)
}

/**
 * A note joins the user message or the result before it. After a result, Mistral accepts only a message of the model,
 * and chat templates drop the reasoning before a message. Elsewhere a note is a separate user message.
 */
function joinNotes(units: readonly Unit[], warn: Warn): ChatMessage[] {
  const output: ChatMessage[] = []
  for (const unit of units) {
    const last = output.at(-1)
    if (unit.kind !== 'note') output.push(writeMessage(unit, warn))
    else if (last?.role === 'user' || last?.role === 'tool')
      output[output.length - 1] = { ...last, content: extendContent(last.content, unit.text) }
    else output.push({ role: 'user', content: unit.text })
  }
  return output
}

function writeMessage(unit: Exclude<Unit, { kind: 'note' }>, warn: Warn): ChatMessage {
  const own = unit.native?.wire === WIRE ? (unit.native.value as ChatMessage) : undefined
  if (unit.kind === 'assistant') return own && !unit.repaired ? own : writeReply(unit, own, warn)
  const { kind } = unit
  const id = kind === 'answer' ? { tool_call_id: unit.callId } : {}
  if (!own) {
    const content = kind === 'answer' ? unit.text || describeReferences(unit.loaded ?? []) : unit.text
    return { role: kind === 'answer' ? 'tool' : kind, ...id, content }
  }
  const normal = isNormal(own, [])
  if (normal && (kind !== 'answer' || own.tool_call_id === unit.callId)) return own
  if (!normal) warnRepaired(own, warn)
  const role = kind === 'answer' ? 'tool' : kind === 'user' ? 'user' : own.role
  return { ...own, role, ...id, content: normaliseContent(own.content) }
}

function writeReply(
  unit: Extract<Unit, { kind: 'assistant' }>,
  own: ChatMessage | undefined,
  warn: Warn,
): ChatMessage {
  const calls = unit.calls.map(writeCall) as ChatToolCall[]
  if (!own) {
    const content = unit.text === '' && calls.length > 0 ? null : unit.text
    return { role: 'assistant', content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
  }
  const { tool_calls: _, ...rest } = own
  // Calls of the old field `function_call` are now in `tool_calls`.
  const { function_call: __, ...others } = rest as typeof rest & { readonly function_call?: unknown }
  if (!isNormal(own, readCalls(own))) warnRepaired(own, warn)
  const said = own.content == null ? '' : normaliseContent(own.content)
  if (calls.length === 0) return { ...others, role: 'assistant', content: said === '' ? unit.text : said }
  return { ...others, role: 'assistant', content: own.content == null ? null : said, tool_calls: calls }
}

/** Mistral refuses a message of the model without content and calls. */
export function fillEmptyReplies(messages: readonly ChatMessage[], text: string): ChatMessage[] {
  return messages.map((message) => {
    const { role, content, tool_calls: calls } = message
    return role === 'assistant' && !calls?.length && !content ? { ...message, content: text } : message
  })
}

function warnRepaired(own: ChatMessage, warn: Warn): void {
  warn(
    'form-repaired',
    `repaired the form of a message with the role ${safeJson(own.role)}, because servers refuse it`,
  )
}

/** The section joins the host's system message: some servers accept only one, at the start. */
function addSection(messages: ChatMessage[], section: string): ChatMessage[] {
  if (section === '') return messages
  const [first, ...rest] = messages
  if (first && (first.role === 'system' || first.role === 'developer'))
    return [{ ...first, content: extendContent(first.content, section) }, ...rest]
  return [{ role: 'system', content: section }, ...messages]
}

function extendContent(content: unknown, text: string): unknown {
  if (Array.isArray(content)) return [...content, { type: 'text', text }]
  return typeof content === 'string' && content !== '' ? `${content}\n\n${text}` : text
}
