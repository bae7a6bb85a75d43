/** Items of the Responses API to units. A search that the model left to the client is a call of the loader. */
import { canonicalJson } from '../../fingerprint.js'
import { readArguments, referencesText, textOf, type Unit, type UnitCall } from '../shared/thread.js'
import { groupReplies } from './replies.js'
import {
  isCall,
  isMessage,
  isSearchCall,
  isSearchOutput,
  type ResponsesCall,
  type ResponsesItem,
  WIRE,
} from './wire.js'

/** The same items give the same units. `loader`: what a search is called on every other wire. */
export function createReader(loader: string) {
  const parsed = new WeakMap<ResponsesItem, Unit>()
  /** By the first item of a reply. */
  const replies = new WeakMap<
    ResponsesItem,
    { readonly items: readonly ResponsesItem[]; readonly unit: Unit }
  >()

  function call(item: ResponsesItem): UnitCall | undefined {
    if (isCall(item)) return functionCall(item)
    if (!isSearchCall(item)) return undefined
    return {
      id: item.call_id,
      name: loader,
      input: readArguments(item.arguments),
      native: { wire: WIRE, value: item },
    }
  }

  function replyUnit(items: readonly ResponsesItem[]): Unit {
    const first = items[0] as ResponsesItem
    const known = replies.get(first)
    if (known?.items.length === items.length && known.items.every((item, index) => item === items[index]))
      return known.unit
    const unit: Unit = {
      kind: 'assistant',
      text: said(items),
      calls: items.flatMap((item) => call(item) ?? []),
      native: { wire: WIRE, value: items },
    }
    replies.set(first, { items, unit })
    return unit
  }

  function itemUnit(item: ResponsesItem): Unit {
    const known = parsed.get(item)
    if (known) return known
    const made = unitOf(item)
    parsed.set(item, made)
    return made
  }

  return {
    call,
    units: (items: readonly ResponsesItem[]): readonly Unit[] =>
      groupReplies(items).map((group) => (isReply(group) ? replyUnit(group) : itemUnit(group))),
  }
}

function isReply(group: ResponsesItem | readonly ResponsesItem[]): group is readonly ResponsesItem[] {
  return Array.isArray(group)
}

function unitOf(item: ResponsesItem): Unit {
  const native = { wire: WIRE, value: item }
  if (item.type === 'function_call_output')
    return { kind: 'answer', callId: item.call_id ?? '', text: textOf(item.output), native }
  if (isSearchOutput(item)) {
    const loaded = namesIn(item)
    const text = loaded.length > 0 ? referencesText(loaded) : '(nothing loaded)'
    return {
      kind: 'answer',
      callId: item.call_id,
      text,
      ...(loaded.length > 0 ? { loaded } : {}),
      native,
    }
  }
  const system = item.role === 'system' || item.role === 'developer'
  if (isMessage(item)) return { kind: system ? 'system' : 'user', text: textOf(item.content), native }
  // Not known here: it keeps its place, and its content is what names it.
  return { kind: 'user', text: canonicalJson(item), native }
}

/** The functions that a search brought. */
function namesIn({ tools }: ResponsesItem): string[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: { readonly name?: unknown } | null) =>
    typeof tool?.name === 'string' ? [tool.name] : [],
  )
}

/** What the model said in these items. */
export function said(items: readonly ResponsesItem[]): string {
  return items.map((item) => (isMessage(item) ? textOf(item.content) : '')).join('')
}

function functionCall(item: ResponsesCall): UnitCall {
  const { call_id: id, name, arguments: text } = item
  const native = { wire: WIRE, value: item }
  // Cut off before its first argument, which is not the same as a call without arguments.
  if (item.status === 'incomplete' && text === '')
    return { id, name, input: { unparsable: '', problem: 'the reply was cut off' }, text, native }
  const written = typeof text === 'string' ? { text } : {}
  return { id, name, input: readArguments(text), ...written, native }
}
