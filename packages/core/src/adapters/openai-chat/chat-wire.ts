/** How Chat Completions writes a history down, and how it is read. */
import { ToolwellError } from '../../errors.js'
import type { SurfaceView } from '../../surface.js'
import type { Wire } from '../shared/adapter.js'
import { argumentsText, readArguments, textOf, type Unit, type UnitCall } from '../shared/thread.js'
import { chatTools } from './tools.js'
import {
  type ChatMessage,
  type ChatReply,
  type ChatTool,
  type ChatToolCall,
  type ChatToolMessage,
  callsOf,
  isOdd,
  WIRE,
} from './wire.js'

export interface ChatParts<Message = ChatMessage> {
  messages: Message[]
  /** Absent where there are none: an empty array is refused by servers. */
  tools?: ChatTool[]
}

const parsed = new WeakMap<ChatMessage, Unit>()

export const chatWire: Wire<ChatMessage, ChatReply, ChatParts> = {
  name: WIRE,
  parse: (messages) => messages.map(toUnit),
  write: (units, view) => withSection(merge(units), view.section),
  callable: () => [],
  parts(messages, view) {
    const tools = chatTools(view)
    // Nobody here changes them; they are typed as clients want them.
    return {
      messages: messages as ChatMessage[],
      ...(tools.length > 0 ? { tools: tools as ChatTool[] } : {}),
    }
  },
  calls(reply) {
    if (typeof reply?.role !== 'string')
      throw new ToolwellError(
        'invalid-option',
        'run wants the assistant message of the reply: completion.choices[0].message.',
        { path: 'reply' },
      )
    return callsOf(reply).map(toCall)
  },
  answer: (answers) =>
    answers.map(
      ({ callId, text }): ChatToolMessage => ({ role: 'tool', tool_call_id: callId, content: text }),
    ),
}

function toUnit(message: ChatMessage): Unit {
  const known = parsed.get(message)
  if (known) return known
  const native = { wire: WIRE, value: message }
  const text = textOf(message.content)
  const made: Unit =
    message.role === 'tool'
      ? { kind: 'answer', callId: message.tool_call_id ?? '', text, native }
      : message.role === 'assistant'
        ? {
            kind: 'assistant',
            text,
            calls: callsOf(message).map(toCall),
            native,
            ...(isOdd(message) ? { mended: true as const } : {}),
          }
        : {
            kind: message.role === 'system' || message.role === 'developer' ? 'system' : 'user',
            text,
            native,
          }
  parsed.set(message, made)
  return made
}

function toCall(call: ChatToolCall): UnitCall {
  const { name, arguments: text } = call.function
  const written = typeof text === 'string' ? { text } : {}
  return { id: call.id, name, input: readArguments(text), ...written, native: { wire: WIRE, value: call } }
}

/** A note joins the user's message it follows; elsewhere it is a user's message of its own. */
function merge(units: readonly Unit[]): ChatMessage[] {
  const output: ChatMessage[] = []
  for (const unit of units) {
    const last = output.at(-1)
    if (unit.kind !== 'note') output.push(toMessage(unit))
    else if (last?.role === 'user')
      output[output.length - 1] = { ...last, content: extended(last.content, unit.text) }
    else output.push({ role: 'user', content: unit.text })
  }
  return output
}

function toMessage(unit: Exclude<Unit, { kind: 'note' }>): ChatMessage {
  const own = unit.native?.wire === WIRE ? (unit.native.value as ChatMessage) : undefined
  switch (unit.kind) {
    case 'answer':
      return own ?? { role: 'tool', tool_call_id: unit.callId, content: unit.text }
    case 'assistant': {
      if (own && !unit.mended) return own
      const { tool_calls: _, ...rest } = own ?? { role: 'assistant' }
      const calls = unit.calls.map(fromCall)
      const content =
        calls.length === 0 ? unit.text : own ? (own.content ?? null) : unit.text === '' ? null : unit.text
      return { ...rest, content, ...(calls.length > 0 ? { tool_calls: calls } : {}) }
    }
    default:
      return own ?? { role: unit.kind, content: unit.text }
  }
}

function fromCall(call: UnitCall): ChatToolCall {
  if (call.native?.wire === WIRE) return call.native.value as ChatToolCall
  return { id: call.id, type: 'function', function: { name: call.name, arguments: argumentsText(call) } }
}

/** The section joins the host's own system message: some servers accept only one, and only at the start. */
function withSection(messages: ChatMessage[], section: SurfaceView['section']): ChatMessage[] {
  if (section === '') return messages
  const [first, ...rest] = messages
  if (first && (first.role === 'system' || first.role === 'developer'))
    return [{ ...first, content: extended(first.content, section) }, ...rest]
  return [{ role: 'system', content: section }, ...messages]
}

function extended(content: unknown, text: string): unknown {
  if (Array.isArray(content)) return [...content, { type: 'text', text }]
  return typeof content === 'string' && content !== '' ? `${content}\n\n${text}` : text
}
