/** Writes units as items of the Responses API. If the delivery is native, the loader's calls are searches of the API. */

import { dropUndefined } from '../../base/data.js'
import type { MediaPart, ResultPart } from '../../result/part.js'
import { acceptsMedia } from '../../result/wire-media.js'
import type { SurfaceView } from '../../surface/project.js'
import { defaultPrompts, type Prompts } from '../../surface/prompts.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { listRevealed } from '../../turn/load-found-tools.js'
import type { CallAnswer } from '../../turn/run.js'
import { chooseFileName, writeDataUrl, writeParts } from '../shared/media.js'
import { groupBySource } from '../shared/namespace.js'
import {
  argumentsObject,
  argumentsText,
  hasObjectArguments,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import type { Warn } from '../shared/wire.js'
import { readReplyText } from './read.js'
import { writeFunction } from './tools.js'
import {
  isCall,
  isMessage,
  isOfProgram,
  isSearchCall,
  isSearchOutput,
  type ResponsesCallOutput,
  type ResponsesItem,
  type ResponsesOutputPart,
  readAddedText,
  readCallId,
  removeId,
  WIRE,
  type WordedOutput,
} from './types.js'

type AssistantUnit = Extract<Unit, { kind: 'assistant' }>
type AnswerUnit = Extract<Unit, { kind: 'answer' }>

export function writeItems(
  units: readonly Unit[],
  view: SurfaceView,
  prompts: Prompts,
  warn: Warn,
): ResponsesItem[] {
  /** Ids of searches, until another call uses them again. */
  const searches = new Set<string>()
  const callers = new Map<string, unknown>()
  const output: ResponsesItem[] = []
  const words = createWords(output)
  const written = (unit: Exclude<Unit, { kind: 'note' }>): readonly ResponsesItem[] => {
    if (unit.kind === 'assistant') {
      const items = replyItems(unit, view)
      for (const item of items) {
        if (isSearchCall(item)) searches.add(item.call_id)
        else if (searches.size > 0) searches.delete(readCallId(item) ?? '')
        if (isCall(item)) callers.set(item.call_id, item.caller)
      }
      return items
    }
    if (unit.kind === 'answer') {
      const toSearch = searches.has(unit.callId)
      const item = own(unit)
      if (view.mode === 'off' && item && isSearchOutput(item) !== toSearch)
        warn('form-repaired', 'repaired the form of an entry of the history, because servers refuse it')
      return [withCaller(writeAnswerUnit(unit, toSearch, view, prompts), callers.get(unit.callId))]
    }
    return [own(unit) ?? message(unit.kind, unit.text)]
  }
  for (const unit of units) {
    if (unit.kind === 'user') words.startTurn()
    if (unit.kind !== 'note') {
      for (const item of written(unit)) words.push(item)
      continue
    }
    const { text, adds = [] } = unit
    words.say(text)
    if (adds.length === 0) continue
    const tools = adds.map((tool) => ({ source: tool.source, member: writeFunction(tool) }))
    words.push({ type: 'additional_tools', role: 'developer', tools: groupBySource(tools, prompts) })
  }
  return output
}

/** Writes the answer to a call. */
export function writeAnswer(
  answer: CallAnswer,
  view: SurfaceView,
  prompts: Prompts,
  call?: UnitCall,
): ResponsesItem {
  const { callId, text, outcome, parts } = answer
  const isSearch = view.delivery === 'native' && outcome.kind === 'search'
  if (isSearch) return searchOutput(callId, listRevealed(outcome.result), text, prompts)
  const item = call?.native?.value as ResponsesItem | undefined
  return withCaller(callOutput(callId, parts ? writeOutput(parts, prompts) : text), item?.caller)
}

/** The output of a call made by a program names that program too (SDK type `FunctionCallOutput`). */
function withCaller(item: ResponsesItem, caller: unknown): ResponsesItem {
  return isOfProgram({ caller }) && !isOfProgram(item) ? { ...item, caller } : item
}

function own(unit: Exclude<Unit, { kind: 'note' }>): ResponsesItem | undefined {
  return unit.native?.wire === WIRE ? (unit.native.value as ResponsesItem) : undefined
}

function replyItems(unit: AssistantUnit, view: SurfaceView): readonly ResponsesItem[] {
  const items = unit.native?.wire === WIRE ? (unit.native.value as readonly ResponsesItem[]) : undefined
  if (items && !unit.repaired && isUnchanged(unit, items, view)) return items
  const calls = unit.calls.map((call) => writeCall(call, view))
  if (!items) return [...(unit.text === '' ? [] : [message('assistant', unit.text)]), ...calls]
  return rewriteItems(unit, items, new Map(unit.calls.map(({ id }, index) => [id, calls[index]])))
}

/** Whether the items already contain the calls of the unit as they would be written. True for most of a history. */
function isUnchanged({ calls }: AssistantUnit, items: readonly ResponsesItem[], view: SurfaceView): boolean {
  let next = 0
  for (const item of items) {
    const id = readCallId(item)
    if (id === undefined) continue
    const call = calls[next++]
    if (!call || call.id !== id || writeCall(call, view) !== item) return false
  }
  return true
}

/**
 * Rewrites the items with the current calls of the unit. The provider accepts reasoning only with the item it led to,
 * which it finds by id unless the reasoning carries its content. If that item changed, such reasoning is removed,
 * together with the ids that refer to it.
 */
function rewriteItems(
  unit: AssistantUnit,
  items: readonly ResponsesItem[],
  calls: ReadonlyMap<string, ResponsesItem | undefined>,
): readonly ResponsesItem[] {
  let fresh = unit.text === readReplyText(items) ? '' : unit.text
  const replace = (item: ResponsesItem): readonly ResponsesItem[] => {
    const id = readCallId(item)
    if (id === undefined) return [item]
    const call = calls.get(id)
    const text = fresh
    if (!call) fresh = ''
    return call ? [call] : text === '' ? [] : [message('assistant', text)]
  }
  return groupByReasoning(items).flatMap(({ reasoning, led }) => {
    const kept = led.flatMap(replace)
    const known = kept[0] === led[0] || reasoning.every((item) => typeof item.encrypted_content === 'string')
    return kept.length > 0 && known ? [...reasoning, ...kept] : kept.map(removeId)
  })
}

function groupByReasoning(
  items: readonly ResponsesItem[],
): { reasoning: ResponsesItem[]; led: ResponsesItem[] }[] {
  const parts: { reasoning: ResponsesItem[]; led: ResponsesItem[] }[] = [{ reasoning: [], led: [] }]
  for (const item of items) {
    if (item.type === 'reasoning' && parts.at(-1)?.led.length !== 0) parts.push({ reasoning: [], led: [] })
    parts.at(-1)?.[item.type === 'reasoning' ? 'reasoning' : 'led'].push(item)
  }
  return parts
}

function writeCall(call: UnitCall, view: SurfaceView): ResponsesItem {
  const item = call.native?.wire === WIRE ? (call.native.value as ResponsesItem) : undefined
  const isSearch = call.name === view.loader && view.delivery === 'native'
  // While deferral is off, the host's searches stay unchanged.
  if (item && (view.mode === 'off' || isSearchCall(item) === isSearch))
    return isSearch || (typeof item.arguments === 'string' && hasObjectArguments(call)) || isSearchCall(item)
      ? item
      : { ...item, arguments: argumentsText(call) }
  if (!isSearch)
    return { type: 'function_call', call_id: call.id, name: call.name, arguments: argumentsText(call) }
  return {
    type: 'tool_search_call',
    execution: 'client',
    call_id: call.id,
    status: 'completed',
    arguments: argumentsObject(call.input),
  }
}

function writeAnswerUnit(
  unit: AnswerUnit,
  toSearch: boolean,
  view: SurfaceView,
  prompts: Prompts,
): ResponsesItem {
  const item = own(unit)
  if (item && isSearchOutput(item) === toSearch)
    return toSearch || item.output != null ? item : { ...item, output: '' }
  // The parts contain only text and accepted media: no description is needed.
  if (!toSearch)
    return callOutput(unit.callId, unit.parts ? writeOutput(unit.parts, defaultPrompts) : unit.text)
  const known = new Map([...view.tools, ...view.declaredHidden].map((tool) => [tool.name, tool as WireTool]))
  const tools = (unit.loaded ?? []).flatMap((name) => {
    const tool = known.get(name)
    return tool ? [{ ...tool, ...dropUndefined({ source: view.sources.get(name) }) }] : []
  })
  return searchOutput(unit.callId, tools, tools.length > 0 ? '' : unit.text, prompts)
}

/** The output of a search holds only definitions. Additional text is kept in a separate field. */
function searchOutput(
  callId: string,
  tools: readonly WireTool[],
  text: string,
  prompts: Prompts,
): WordedOutput {
  const members = tools.map((tool) => ({
    source: tool.source,
    member: { ...writeFunction(tool), defer_loading: true },
  }))
  return {
    type: 'tool_search_output',
    execution: 'client',
    call_id: callId,
    status: 'completed',
    tools: groupBySource(members, prompts),
    ...(text === '' ? {} : { toolwell: { text } }),
  }
}

function callOutput(callId: string, output: ResponsesCallOutput['output']): ResponsesCallOutput {
  return { type: 'function_call_output', call_id: callId, output }
}

function message(role: string, text: string): ResponsesItem {
  return { type: 'message', role, content: text }
}

/** Writes a result as the output of its call: text, or parts if it has media. */
function writeOutput(parts: readonly ResultPart[], prompts: Prompts): ResponsesCallOutput['output'] {
  const made = writeParts(parts, mediaPart, prompts)
  if (made.every((each) => typeof each === 'string')) return made.join('\n')
  return made.map((each) => (typeof each === 'string' ? { type: 'input_text', text: each } : each))
}

function mediaPart(part: MediaPart): ResponsesOutputPart | undefined {
  if (!acceptsMedia(WIRE, part)) return undefined
  return part.type === 'image'
    ? { type: 'input_image', image_url: writeDataUrl(part), detail: 'auto' }
    : { type: 'input_file', filename: chooseFileName(part), file_data: writeDataUrl(part) }
}

/**
 * Adds text that has no message. The API accepts no message between the outputs of a batch and the model's next item,
 * so the text joins an output of the batch. The output of a search, or for a program, takes no text: then the text
 * waits for the next output or user message.
 */
export interface Words {
  /** Adds an item, and the waiting text if the item takes it. */
  push(item: ResponsesItem): void
  /** Adds text after the last item. */
  say(text: string): void
  /** Starts a user turn: earlier items do not change any more. */
  startTurn(): void
}

/** Writes into `output`. */
function createWords(output: ResponsesItem[]): Words {
  let waiting = ''
  let turn = 0
  return {
    startTurn() {
      turn = output.length
    },
    push(item) {
      const text = waiting
      const takes = text !== '' && (takesText(item) || (isMessage(item) && item.role === 'user'))
      if (takes) waiting = ''
      output.push(takes && takesText(item) ? extended(item, text) : item)
      if (takes && !takesText(item)) output.push(note(text))
    },
    say(text) {
      if (text === '') return
      const start = Math.max(turn, output.findLastIndex((item) => !isBehindCalls(item)) + 1)
      const last = output.findLastIndex(takesText)
      const found = output[last]
      if (last >= start && found) output[last] = extended(found, text)
      else if (output.slice(start).some((item) => isSearchOutput(item) || isOutput(item)))
        waiting = joined(waiting, text)
      else output.push(note(text))
    },
  }
}

/** Moves the additional text of searches to a place where the model reads it. */
export function placeAddedText(items: readonly ResponsesItem[], prompts: Prompts): readonly ResponsesItem[] {
  if (!items.some((item) => 'toolwell' in item)) return items
  const output: ResponsesItem[] = []
  const words = createWords(output)
  for (const item of items) {
    const { toolwell: _, ...sent } = item as WordedOutput
    words.push('toolwell' in item ? sent : item)
    const text = readAddedText(item)
    if (text !== '') words.say(prompts.frame({ body: text }))
  }
  return output
}

function isOutput(item: ResponsesItem): boolean {
  return item.type === 'function_call_output'
}

/** Whether the model reads the output. Otherwise a program does. */
function takesText(item: ResponsesItem): boolean {
  return isOutput(item) && !isOfProgram(item)
}

function isBehindCalls(item: ResponsesItem): boolean {
  return isOutput(item) || isSearchOutput(item) || item.type === 'additional_tools'
}

function extended(item: ResponsesItem, text: string): ResponsesItem {
  const { output } = item
  if (Array.isArray(output)) return { ...item, output: [...output, { type: 'input_text', text }] }
  return { ...item, output: joined(typeof output === 'string' ? output : '', text) }
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n\n${text}`
}

function note(text: string): ResponsesItem {
  return { type: 'message', role: 'developer', content: text }
}
