/** How the Responses API writes a history down, and how it is read. Used without state: the host keeps all items. */
import { canonicalJson } from '../../fingerprint.js'
import type { Wire } from '../shared/adapter.js'
import { argumentsText, readArguments, textOf, type Unit, type UnitCall } from '../shared/thread.js'
import { groupReplies } from './replies.js'
import { responsesTools } from './tools.js'
import {
  isCall,
  isMessage,
  type ResponsesCall,
  type ResponsesCallOutput,
  type ResponsesItem,
  type ResponsesReply,
  type ResponsesTool,
  WIRE,
} from './wire.js'

export interface ResponsesParts {
  readonly input: readonly ResponsesItem[]
  /** Absent where there are none. */
  readonly tools?: readonly ResponsesTool[]
  /** The host's own, then what Toolwell has to say. */
  readonly instructions?: string
}

export interface ResponsesPrompt {
  /** The system prompt. It goes here and not into the request itself, because something may be added to it. */
  readonly instructions?: string
}

type AssistantUnit = Extract<Unit, { kind: 'assistant' }>

const parsed = new WeakMap<ResponsesItem, Unit>()
/** By the first item of a reply. */
const replies = new WeakMap<
  ResponsesItem,
  { readonly items: readonly ResponsesItem[]; readonly unit: Unit }
>()

export const responsesWire: Wire<ResponsesItem, ResponsesReply, ResponsesParts, ResponsesPrompt> = {
  name: WIRE,
  parse: (items) => groupReplies(items).map((group) => (isReply(group) ? replyUnit(group) : itemUnit(group))),
  write: (units) => units.flatMap(toItems),
  callable: () => [],
  parts(input, view, { instructions }) {
    const tools = responsesTools(view)
    const whole =
      view.section === '' ? instructions : instructions ? `${instructions}\n\n${view.section}` : view.section
    return {
      input,
      ...(tools.length > 0 ? { tools } : {}),
      ...(whole === undefined ? {} : { instructions: whole }),
    }
  },
  calls: ({ output }) => (Array.isArray(output) ? output.filter(isCall).map(toCall) : []),
  answer: (answers) => answers.map(({ callId, text }) => callOutput(callId, text)),
}

function isReply(group: ResponsesItem | readonly ResponsesItem[]): group is readonly ResponsesItem[] {
  return Array.isArray(group)
}

function replyUnit(items: readonly ResponsesItem[]): Unit {
  const first = items[0] as ResponsesItem
  const known = replies.get(first)
  if (known?.items.length === items.length && known.items.every((item, index) => item === items[index]))
    return known.unit
  const native = { wire: WIRE, value: items }
  const unit: Unit = {
    kind: 'assistant',
    text: said(items),
    calls: items.filter(isCall).map(toCall),
    native,
  }
  replies.set(first, { items, unit })
  return unit
}

function itemUnit(item: ResponsesItem): Unit {
  const known = parsed.get(item)
  if (known) return known
  const native = { wire: WIRE, value: item }
  const system = item.role === 'system' || item.role === 'developer'
  const made: Unit =
    item.type === 'function_call_output'
      ? { kind: 'answer', callId: item.call_id ?? '', text: textOf(item.output), native }
      : isMessage(item)
        ? { kind: system ? 'system' : 'user', text: textOf(item.content), native }
        : // Not known here: it keeps its place, and its content is what names it.
          { kind: 'user', text: canonicalJson(item), native }
  parsed.set(item, made)
  return made
}

/** What the model said in these items. */
function said(items: readonly ResponsesItem[]): string {
  return items.map((item) => (isMessage(item) ? textOf(item.content) : '')).join('')
}

function toCall(item: ResponsesCall): UnitCall {
  const { call_id: id, name, arguments: text } = item
  const native = { wire: WIRE, value: item }
  // Cut off before its first argument, which is not the same as a call without arguments.
  if (item.status === 'incomplete' && text === '')
    return { id, name, input: { unparsable: '', problem: 'the reply was cut off' }, text, native }
  return { id, name, input: readArguments(text), text, native }
}

function toItems(unit: Unit): readonly ResponsesItem[] {
  if (unit.kind === 'note') return [message('developer', unit.text)]
  const own = unit.native?.wire === WIRE ? unit.native.value : undefined
  if (unit.kind === 'assistant') {
    const items = own as readonly ResponsesItem[] | undefined
    if (items) return unit.mended ? mend(unit, items) : items
    return [...(unit.text === '' ? [] : [message('assistant', unit.text)]), ...unit.calls.map(fromCall)]
  }
  if (own) return [own as ResponsesItem]
  return [unit.kind === 'answer' ? callOutput(unit.callId, unit.text) : message(unit.kind, unit.text)]
}

/**
 * The items with the calls that the unit has now. The provider takes reasoning only together with the item it led to,
 * which it knows by its id unless the reasoning carries its own content: so where that item changed, reasoning that
 * would be looked up goes, and with it the ids that point back to it.
 */
function mend(unit: AssistantUnit, items: readonly ResponsesItem[]): readonly ResponsesItem[] {
  const calls = new Map(unit.calls.map((call) => [call.id, call]))
  let fresh = unit.text === said(items) ? '' : unit.text
  const replace = (item: ResponsesItem): readonly ResponsesItem[] => {
    if (!isCall(item)) return [item]
    const call = calls.get(item.call_id)
    const text = fresh
    if (!call) fresh = ''
    return call ? [fromCall(call)] : text === '' ? [] : [message('assistant', text)]
  }
  return byReasoning(items).flatMap(({ reasoning, led }) => {
    const kept = led.flatMap(replace)
    const known = kept[0] === led[0] || reasoning.every((item) => typeof item.encrypted_content === 'string')
    return kept.length > 0 && known ? [...reasoning, ...kept] : kept.map(withoutId)
  })
}

function byReasoning(
  items: readonly ResponsesItem[],
): { reasoning: ResponsesItem[]; led: ResponsesItem[] }[] {
  const parts: { reasoning: ResponsesItem[]; led: ResponsesItem[] }[] = [{ reasoning: [], led: [] }]
  for (const item of items) {
    if (item.type === 'reasoning' && parts.at(-1)?.led.length !== 0) parts.push({ reasoning: [], led: [] })
    parts.at(-1)?.[item.type === 'reasoning' ? 'reasoning' : 'led'].push(item)
  }
  return parts
}

function fromCall(call: UnitCall): ResponsesItem {
  if (call.native?.wire === WIRE) return call.native.value as ResponsesItem
  return { type: 'function_call', call_id: call.id, name: call.name, arguments: argumentsText(call) }
}

function callOutput(callId: string, text: string): ResponsesCallOutput {
  return { type: 'function_call_output', call_id: callId, output: text }
}

function message(role: string, text: string): ResponsesItem {
  return { type: 'message', role, content: text }
}

function withoutId({ id: _, ...rest }: ResponsesItem): ResponsesItem {
  return rest
}
