/**
 * Makes a history acceptable to a strict server: every call answered right behind it, every name declared and legal.
 * Deterministic, so that a repaired message has the same bytes on every request.
 */
import { BRIDGE_NAME } from '../../meta-tools.js'
import type { SurfaceView } from '../../surface.js'
import { safeJson } from '../../text.js'
import { type ChatMessage, type ChatToolCall, callsOf, textOf } from './wire.js'

/** A message with the anchor of the host's message it stands for. */
export interface Placed {
  readonly message: ChatMessage
  readonly anchor: string
}

const INTERRUPTED = 'This call was interrupted; it is not known whether it ran.'

export function repair(
  placed: readonly Placed[],
  view: SurfaceView,
  warn: (warning: string) => void,
): Placed[] {
  return settleNames(settleOrder(placed, warn), view, warn)
}

/** Results directly after their call, in the order of the calls; one each; none without a call. */
function settleOrder(placed: readonly Placed[], warn: (warning: string) => void): Placed[] {
  const output: Placed[] = []
  let index = 0
  while (index < placed.length) {
    const item = placed[index++] as Placed
    const calls = callsOf(item.message)
    if (item.message.role === 'tool') {
      warn(`dropped a tool message without a call (${safeJson(item.message.tool_call_id ?? '')})`)
      continue
    }
    output.push(item)
    if (calls.length === 0) continue
    // Everything up to the next assistant message may hold an answer that a host put in late.
    const wanted = new Map<string, Placed | undefined>(calls.map((call) => [call.id, undefined]))
    const others: Placed[] = []
    while (index < placed.length && placed[index]?.message.role !== 'assistant') {
      const next = placed[index++] as Placed
      const id = next.message.role === 'tool' ? next.message.tool_call_id : undefined
      if (id === undefined) others.push(next)
      else if (wanted.has(id) && wanted.get(id) === undefined) {
        if (others.length > 0) warn(`moved the answer to ${safeJson(id)} directly behind its call`)
        wanted.set(id, next)
      } else warn(`dropped a second answer, or one without a call (${safeJson(id)})`)
    }
    for (const [id, answer] of wanted) {
      if (!answer) warn(`answered the interrupted call ${safeJson(id)}`)
      output.push(
        answer ?? { message: { role: 'tool', tool_call_id: id, content: INTERRUPTED }, anchor: `call:${id}` },
      )
    }
    output.push(...others)
  }
  return output
}

/** Calls whose name this request does not declare: through the bridge, out of it, or told as text. */
function settleNames(
  placed: readonly Placed[],
  view: SurfaceView,
  warn: (warning: string) => void,
): Placed[] {
  const declared = new Set(view.tools.map((tool) => tool.name))
  const told = new Map<string, ChatToolCall>()
  let pending: Placed[] = []
  const output: Placed[] = []
  for (const item of placed) {
    const { message } = item
    if (message.role === 'tool' && told.has(message.tool_call_id ?? '')) {
      const call = told.get(message.tool_call_id ?? '') as ChatToolCall
      const text = `<tool-update>\nAn earlier call of ${safeJson(call.function.name)} with ${safeJson(call.function.arguments)} was answered: ${safeJson(textOf(message.content))}\n</tool-update>`
      pending.push({ message: { role: 'user', content: text }, anchor: item.anchor })
      continue
    }
    if (message.role !== 'tool') {
      output.push(...pending)
      pending = []
      told.clear()
    }
    const calls = callsOf(message)
    if (calls.every((call) => declared.has(call.function.name))) {
      output.push(item)
      continue
    }
    const kept: ChatToolCall[] = []
    for (const call of calls) {
      const renamed = declared.has(call.function.name) ? call : rename(call, declared, view)
      if (renamed) kept.push(renamed)
      else {
        told.set(call.id, call)
        warn(`told a call of ${safeJson(call.function.name)} as text: the name is not declared any more`)
      }
    }
    const { tool_calls: _, ...rest } = message
    const next =
      kept.length > 0
        ? { ...message, tool_calls: kept }
        : { ...rest, content: textOf(message.content) || '(called a tool)' }
    output.push({ message: next, anchor: item.anchor })
  }
  return [...output, ...pending]
}

function rename(
  call: ChatToolCall,
  declared: ReadonlySet<string>,
  view: SurfaceView,
): ChatToolCall | undefined {
  const { name, arguments: text } = call.function
  if (view.bridge !== undefined && declared.has(view.bridge) && name !== view.loader)
    return {
      ...call,
      function: { name: view.bridge, arguments: JSON.stringify({ name, arguments: parse(text) ?? {} }) },
    }
  if (name !== BRIDGE_NAME) return undefined
  const wrapped = parse(text) as { name?: unknown; arguments?: unknown } | undefined
  if (typeof wrapped?.name !== 'string' || !declared.has(wrapped.name)) return undefined
  return { ...call, function: { name: wrapped.name, arguments: JSON.stringify(wrapped.arguments ?? {}) } }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
