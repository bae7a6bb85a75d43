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
import {
  callIdOf,
  isCall,
  isMessage,
  isOfHostTool,
  isOfModel,
  isSearchCall,
  isSearchOutput,
  type ResponsesCall,
  type ResponsesItem,
  textBeside,
  WIRE,
} from './types.js'

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

// Which items belong to one reply. A history is a flat list, but calls are answered together, so a reply has to be one unit; and what is one unit now must still be one when the history has grown.

/** The history in order: the items of a reply together, each other one by itself. What the host's other tools gave belongs to the reply. */
function groupReplies(
  items: readonly ResponsesItem[],
): readonly (ResponsesItem | readonly ResponsesItem[])[] {
  const groups: (ResponsesItem | readonly ResponsesItem[])[] = []
  let index = 0
  while (index < items.length) {
    const start = index
    while (index < items.length && isOfReply(items[index] as ResponsesItem)) index++
    if (index > start) groups.push(...split(items.slice(start, index), answeredFrom(items, index)))
    else groups.push(items[index++] as ResponsesItem)
  }
  return groups
}

function isOfReply(item: ResponsesItem): boolean {
  return isOfModel(item) || isOfHostTool(item)
}

function split(run: readonly ResponsesItem[], answered: ReadonlyMap<string, number>): ResponsesItem[][] {
  const isShort = (id: string) => run.filter((item) => callIdOf(item) === id).length > (answered.get(id) ?? 0)
  const settled = answeredCalls(run, answered)
  const replies: ResponsesItem[][] = []
  let open: ResponsesItem[] = []
  for (const item of run) {
    if (hasEnded(open, item, settled, isShort)) {
      replies.push(open)
      open = []
    }
    open.push(item)
  }
  return [...replies, open]
}

/**
 * Replies that follow each other directly come from a host that went on after a text or after an interrupted call.
 * They stay apart: a place in the history behind the first one is still a place when the second has come.
 */
function hasEnded(
  open: readonly ResponsesItem[],
  next: ResponsesItem,
  answered: ReadonlySet<ResponsesItem>,
  isShort: (id: string) => boolean,
): boolean {
  const last = open.at(-1)
  if (!last) return false
  const calls = open.filter((item) => callIdOf(item) !== undefined)
  const called = callIdOf(next)
  if (called !== undefined && calls.some((item) => callIdOf(item) === called) && isShort(called)) return true
  if (calls.some((item) => answered.has(item))) return false
  // The model goes on when its tools have answered.
  if (isOfHostTool(last)) return !isOfHostTool(next)
  // Nobody can tell whether two calls that were never answered came together. Apart, the first is where it was.
  if (called !== undefined) return calls.length > 0
  return (next.type === 'reasoning' || isMessage(next)) && (calls.length > 0 || isMessage(last))
}

/** The calls that are answered. A server may count its ids anew in each reply: the answers are those of the last ones. */
function answeredCalls(
  run: readonly ResponsesItem[],
  answers: ReadonlyMap<string, number>,
): Set<ResponsesItem> {
  const left = new Map(answers)
  const answered = run.toReversed().filter((item) => {
    const id = callIdOf(item) ?? ''
    const count = left.get(id) ?? 0
    left.set(id, count - 1)
    return count > 0
  })
  return new Set(answered)
}

/** How often each call is answered between here and the next item of the model. */
function answeredFrom(items: readonly ResponsesItem[], start: number): Map<string, number> {
  const answered = new Map<string, number>()
  for (let index = start; index < items.length; index++) {
    const item = items[index] as ResponsesItem
    if (isOfModel(item)) break
    const isAnswer = item.type === 'function_call_output' || isSearchOutput(item)
    if (isAnswer && typeof item.call_id === 'string')
      answered.set(item.call_id, (answered.get(item.call_id) ?? 0) + 1)
  }
  return answered
}
