/** Reads items of the Responses API as units. A search that the client runs is a call of the loader. */

import { isRecord } from '../../base/data.js'
import { canonicalJson } from '../../base/hash.js'
import { isNamespace } from '../shared/namespace.js'
import {
  CODE,
  cutOff,
  describeReferences,
  plainText,
  readArguments,
  readText,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import { removeParsed } from './normalise.js'
import {
  isCall,
  isMessage,
  isOfHostTool,
  isOfModel,
  isSearchCall,
  isSearchOutput,
  type ResponsesCall,
  type ResponsesItem,
  readAddedText,
  readCallId,
  WIRE,
} from './types.js'

/** `loader`: the name of a search on every other wire. */
export function readItems(history: readonly ResponsesItem[], loader: string): readonly Unit[] {
  return groupReplies(history.map(removeParsed)).map((group) =>
    isReply(group) ? readReply(group, loader) : readItem(group),
  )
}

function readReply(reply: readonly ResponsesItem[], loader: string): Unit {
  return {
    kind: 'assistant',
    text: readReplyText(reply),
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
    input: readInput(item),
    native: { wire: WIRE, value: item },
  }
}

/** A call that was cut off: its arguments may parse, but are not what the model meant. */
function readInput({ status, arguments: text }: ResponsesItem): UnitCall['input'] {
  return status === 'incomplete' ? cutOff(plainText(text)) : readArguments(text)
}

/** Whether an item is not a message, reasoning or a call. */
function isOther(item: ResponsesItem): boolean {
  return !isMessage(item) && item.type !== 'reasoning' && !isCall(item) && !isSearchCall(item)
}

function isReply(group: ResponsesItem | readonly ResponsesItem[]): group is readonly ResponsesItem[] {
  return Array.isArray(group)
}

function readItem(item: ResponsesItem): Unit {
  const native = { wire: WIRE, value: item }
  if (item.type === 'function_call_output')
    return { kind: 'answer', callId: item.call_id ?? '', text: readText(item.output), native }
  if (isSearchOutput(item)) {
    const loaded = namesIn(item)
    const beside = readAddedText(item)
    const text =
      loaded.length > 0
        ? [describeReferences(loaded), beside].filter((each) => each !== '').join('\n')
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
  if (isMessage(item)) return { kind: system ? 'system' : 'user', text: readText(item.content), native }
  // An unknown item keeps its place. Its content gives the anchor.
  return { kind: 'user', text: writeItem(item), native }
}

function writeItem(item: ResponsesItem): string {
  try {
    return canonicalJson(item)
  } catch {
    return plainText(item)
  }
}

/** The functions in a search result, inside and outside namespaces. */
function namesIn({ tools }: { readonly tools?: unknown }): string[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: unknown): readonly string[] => {
    if (isNamespace(tool)) return namesIn(tool)
    return isRecord(tool) && typeof tool.name === 'string' ? [tool.name] : []
  })
}

/** The model's text in these items. */
export function readReplyText(items: readonly ResponsesItem[]): string {
  return items.map((item) => (isMessage(item) ? readText(item.content) : '')).join('')
}

function functionCall(item: ResponsesCall): UnitCall {
  const { call_id: id, name, arguments: text, caller } = item
  const native = { wire: WIRE, value: item }
  const code =
    isRecord(caller) && caller.type === 'program' ? { fromCode: plainText(caller.caller_id) || CODE } : {}
  const written = typeof text === 'string' ? { text } : {}
  return { id, name, input: readInput(item), ...written, ...code, native }
}

/**
 * Groups the items of each reply. A history is a flat list, but the calls of a reply are answered together, so a
 * reply must be one unit, also when the history grows. Output of the host's other tools belongs to the reply.
 */
function groupReplies(
  items: readonly ResponsesItem[],
): readonly (ResponsesItem | readonly ResponsesItem[])[] {
  const groups: (ResponsesItem | readonly ResponsesItem[])[] = []
  let index = 0
  while (index < items.length) {
    const start = index
    while (index < items.length && isOfReply(items[index] as ResponsesItem)) index++
    if (index > start) groups.push(...splitReplies(items.slice(start, index), countAnswers(items, index)))
    else groups.push(items[index++] as ResponsesItem)
  }
  return groups
}

function isOfReply(item: ResponsesItem): boolean {
  return isOfModel(item) || isOfHostTool(item)
}

function splitReplies(
  run: readonly ResponsesItem[],
  answered: ReadonlyMap<string, number>,
): ResponsesItem[][] {
  const isShort = (id: string) =>
    run.filter((item) => readCallId(item) === id).length > (answered.get(id) ?? 0)
  const settled = findAnswered(run, answered)
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
 * Whether a reply ends before `next`. Consecutive replies come from a host that continued after a text or an
 * interrupted call. They stay separate, so that a position between them stays valid.
 */
function hasEnded(
  open: readonly ResponsesItem[],
  next: ResponsesItem,
  answered: ReadonlySet<ResponsesItem>,
  isShort: (id: string) => boolean,
): boolean {
  const last = open.at(-1)
  if (!last) return false
  const calls = open.filter((item) => readCallId(item) !== undefined)
  const called = readCallId(next)
  if (called !== undefined && calls.some((item) => readCallId(item) === called) && isShort(called))
    return true
  if (calls.some((item) => answered.has(item))) return false
  // The model continues after the output of its tools.
  if (isOfHostTool(last)) return !isOfHostTool(next)
  // An item after an unanswered call may belong to the same reply or not. As a separate unit, the answer keeps its place.
  if (calls.length > 0) return !isOfHostTool(next)
  return (next.type === 'reasoning' || isMessage(next)) && isMessage(last)
}

/** The answered calls. A server may reuse ids in each reply: the answers belong to the last calls. */
function findAnswered(
  run: readonly ResponsesItem[],
  answers: ReadonlyMap<string, number>,
): Set<ResponsesItem> {
  const left = new Map(answers)
  const answered = run.toReversed().filter((item) => {
    const id = readCallId(item) ?? ''
    const count = left.get(id) ?? 0
    left.set(id, count - 1)
    return count > 0
  })
  return new Set(answered)
}

/** Counts the answers of each call, up to the next item of the model. */
function countAnswers(items: readonly ResponsesItem[], start: number): Map<string, number> {
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
