/** Units to items of the Responses API. The loader's calls are searches of the API's own where the delivery is native. */

import { dropUndefined } from '../../base/data.js'
import type { SurfaceView } from '../../surface/project.js'
import { defaultPrompts, type Prompts } from '../../surface/prompts.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { listRevealed } from '../../turn/load-found-tools.js'
import type { CallAnswer } from '../../turn/run.js'
import { bySource } from '../shared/namespace.js'
import {
  argumentsObject,
  argumentsText,
  hasObjectArguments,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import type { Warn } from '../shared/warning.js'
import { outputOf } from './output.js'
import type { Progress } from './progress.js'
import { said } from './read.js'
import { toFunction } from './tools.js'
import {
  callIdOf,
  isSearchCall,
  isSearchOutput,
  type ResponsesCallOutput,
  type ResponsesItem,
  WIRE,
} from './types.js'
import { createWords, type WordedOutput } from './words.js'

type AssistantUnit = Extract<Unit, { kind: 'assistant' }>
type AnswerUnit = Extract<Unit, { kind: 'answer' }>

/** From one message of the user's to the next, or any number of these. */
export function writeItems(
  units: readonly Unit[],
  progress: Progress,
  view: SurfaceView,
  prompts: Prompts,
  warn: Warn,
): ResponsesItem[] {
  const { searches } = progress
  const output: ResponsesItem[] = []
  const words = createWords(output, progress.waiting)
  const written = (unit: Exclude<Unit, { kind: 'note' }>): readonly ResponsesItem[] => {
    if (unit.kind === 'assistant') {
      const items = replyItems(unit, view)
      for (const item of items)
        if (isSearchCall(item)) searches.add(item.call_id)
        else if (searches.size > 0) searches.delete(callIdOf(item) ?? '')
      return items
    }
    if (unit.kind === 'answer') {
      const toSearch = searches.has(unit.callId)
      const item = own(unit)
      if (view.mode === 'off' && item && isSearchOutput(item) !== toSearch)
        warn('form-repaired', 'repaired the form of an entry of the history: servers refuse it')
      return [answered(unit, toSearch, view, prompts)]
    }
    return [own(unit) ?? message(unit.kind, unit.text)]
  }
  for (const unit of units) {
    if (unit.kind !== 'note') {
      for (const item of written(unit)) words.push(item)
      continue
    }
    const { text, adds = [] } = unit
    words.say(text)
    if (adds.length === 0) continue
    const tools = adds.map((tool) => ({ source: tool.source, member: toFunction(tool) }))
    words.push({ type: 'additional_tools', role: 'developer', tools: bySource(tools, prompts) })
  }
  progress.waiting = words.waiting()
  return output
}

/** The item that answers a call of a reply. */
export function answerItem(answer: CallAnswer, view: SurfaceView, prompts: Prompts): ResponsesItem {
  const { callId, text, outcome, parts } = answer
  const isSearch = view.delivery === 'native' && outcome.kind === 'search'
  if (isSearch) return searchOutput(callId, listRevealed(outcome.result), text, prompts)
  return callOutput(callId, parts ? outputOf(parts, prompts) : text)
}

function own(unit: Exclude<Unit, { kind: 'note' }>): ResponsesItem | undefined {
  return unit.native?.wire === WIRE ? (unit.native.value as ResponsesItem) : undefined
}

function replyItems(unit: AssistantUnit, view: SurfaceView): readonly ResponsesItem[] {
  const items = unit.native?.wire === WIRE ? (unit.native.value as readonly ResponsesItem[]) : undefined
  if (items && !unit.repaired && isWrittenSo(unit, items, view)) return items
  const calls = unit.calls.map((call) => fromCall(call, view))
  if (!items) return [...(unit.text === '' ? [] : [message('assistant', unit.text)]), ...calls]
  return rewritten(unit, items, new Map(unit.calls.map(({ id }, index) => [id, calls[index]])))
}

/** Whether the items hold the calls of the unit, each as it would be written: so it is with most of a history, on every request. */
function isWrittenSo({ calls }: AssistantUnit, items: readonly ResponsesItem[], view: SurfaceView): boolean {
  let next = 0
  for (const item of items) {
    const id = callIdOf(item)
    if (id === undefined) continue
    const call = calls[next++]
    if (!call || call.id !== id || fromCall(call, view) !== item) return false
  }
  return true
}

/**
 * The items with the calls that the unit has now. The provider takes reasoning only together with the item it led to,
 * which it knows by its id unless the reasoning carries its own content: so where that item changed, reasoning that
 * would be looked up goes, and with it the ids that point back to it.
 */
function rewritten(
  unit: AssistantUnit,
  items: readonly ResponsesItem[],
  calls: ReadonlyMap<string, ResponsesItem | undefined>,
): readonly ResponsesItem[] {
  let fresh = unit.text === said(items) ? '' : unit.text
  const replace = (item: ResponsesItem): readonly ResponsesItem[] => {
    const id = callIdOf(item)
    if (id === undefined) return [item]
    const call = calls.get(id)
    const text = fresh
    if (!call) fresh = ''
    return call ? [call] : text === '' ? [] : [message('assistant', text)]
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

function fromCall(call: UnitCall, view: SurfaceView): ResponsesItem {
  const item = call.native?.wire === WIRE ? (call.native.value as ResponsesItem) : undefined
  const isSearch = call.name === view.loader && view.delivery === 'native'
  // Off, the host's own searches are left alone.
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

function answered(unit: AnswerUnit, toSearch: boolean, view: SurfaceView, prompts: Prompts): ResponsesItem {
  const item = own(unit)
  if (item && isSearchOutput(item) === toSearch)
    return toSearch || item.output != null ? item : { ...item, output: '' }
  // Words and what is taken: nothing is left to be described.
  if (!toSearch) return callOutput(unit.callId, unit.parts ? outputOf(unit.parts, defaultPrompts) : unit.text)
  const known = new Map([...view.tools, ...view.declaredHidden].map((tool) => [tool.name, tool as WireTool]))
  const tools = (unit.loaded ?? []).flatMap((name) => {
    const tool = known.get(name)
    return tool ? [{ ...tool, ...dropUndefined({ source: view.sources.get(name) }) }] : []
  })
  return searchOutput(unit.callId, tools, tools.length > 0 ? '' : unit.text, prompts)
}

/** A search's output holds definitions and nothing else: what there is to say is kept beside it. */
function searchOutput(
  callId: string,
  tools: readonly WireTool[],
  text: string,
  prompts: Prompts,
): WordedOutput {
  const members = tools.map((tool) => ({
    source: tool.source,
    member: { ...toFunction(tool), defer_loading: true },
  }))
  return {
    type: 'tool_search_output',
    execution: 'client',
    call_id: callId,
    status: 'completed',
    tools: bySource(members, prompts),
    ...(text === '' ? {} : { toolwell: { text } }),
  }
}

function callOutput(callId: string, output: ResponsesCallOutput['output']): ResponsesCallOutput {
  return { type: 'function_call_output', call_id: callId, output }
}

function message(role: string, text: string): ResponsesItem {
  return { type: 'message', role, content: text }
}

function withoutId({ id: _, ...rest }: ResponsesItem): ResponsesItem {
  return rest
}
