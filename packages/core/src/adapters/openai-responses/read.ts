/** Items of the Responses API to units. A search that the model left to the client is a call of the loader. */

import { isRecord } from '../../base/guards.js'
import { canonicalJson } from '../../base/hash.js'
import { isNamespace } from '../shared/namespace.js'
import {
  cutOff,
  plainText,
  readArguments,
  referencesText,
  textOf,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import { withoutParsed } from './normalise.js'
import { groupReplies } from './replies.js'
import {
  isCall,
  isMessage,
  isSearchCall,
  isSearchOutput,
  type ResponsesCall,
  type ResponsesItem,
  WIRE,
} from './types.js'
import { textBeside } from './words.js'

/** `loader`: the name of a search on every other wire. */
export function readItems(history: readonly ResponsesItem[], loader: string): readonly Unit[] {
  return groupReplies(history.map(withoutParsed)).map((group) =>
    isReply(group) ? readReply(group, loader) : unitOf(group),
  )
}

function readReply(reply: readonly ResponsesItem[], loader: string): Unit {
  return {
    kind: 'assistant',
    text: said(reply),
    calls: reply.flatMap((item) => readCall(item, loader) ?? []),
    native: { wire: WIRE, value: reply },
    ...(reply.some(isOther) ? { more: true as const } : {}),
  }
}

/** The call in an item; undefined if it is not a call. */
export function readCall(item: ResponsesItem, loader: string): UnitCall | undefined {
  if (isCall(item)) return functionCall(item)
  if (!isSearchCall(item)) return undefined
  return {
    id: item.call_id,
    name: loader,
    input: readArguments(item.arguments),
    native: { wire: WIRE, value: item },
  }
}

/** Neither a message, nor reasoning, nor a call. */
function isOther(item: ResponsesItem): boolean {
  return !isMessage(item) && item.type !== 'reasoning' && !isCall(item) && !isSearchCall(item)
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
    const beside = textBeside(item)
    const text =
      loaded.length > 0
        ? [referencesText(loaded), beside].filter((each) => each !== '').join('\n')
        : beside || '(nothing loaded)'
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
  return { kind: 'user', text: written(item), native }
}

function written(item: ResponsesItem): string {
  try {
    return canonicalJson(item)
  } catch {
    return plainText(item)
  }
}

/** The functions that a search brought, in a namespace or by themselves. */
function namesIn({ tools }: { readonly tools?: unknown }): string[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: unknown): readonly string[] => {
    if (isNamespace(tool)) return namesIn(tool)
    return isRecord(tool) && typeof tool.name === 'string' ? [tool.name] : []
  })
}

/** What the model said in these items. */
export function said(items: readonly ResponsesItem[]): string {
  return items.map((item) => (isMessage(item) ? textOf(item.content) : '')).join('')
}

function functionCall(item: ResponsesCall): UnitCall {
  const { call_id: id, name, arguments: text } = item
  const native = { wire: WIRE, value: item }
  // Cut off before its first argument, which is not the same as a call without arguments.
  if (item.status === 'incomplete' && text === '') return { id, name, input: cutOff(text), text, native }
  const written = typeof text === 'string' ? { text } : {}
  return { id, name, input: readArguments(text), ...written, native }
}
