/** A history as all wires see it: a list of units, each with the native piece it was read from, so that nothing is lost on its own wire. */

import { isRecord } from '../../base/guards.js'
import { plainJson } from '../../base/plain-json.js'
import type { ResultPart } from '../../result/part.js'
import type { WireTool } from '../../tool/wire-tool.js'
import type { ModelCall } from '../../turn/model-call.js'

/** What a unit was read from. It is sent again as it is, to the wire it came from, unless the unit was repaired. */
export interface Native {
  readonly wire: string
  readonly value: unknown
  /** How it stood in its message: as text and not as a list of parts, or behind what the unit before it was read from. */
  readonly form?: 'text' | 'rest'
}

export interface UnitCall {
  readonly id: string
  readonly name: string
  readonly input: ModelCall['input']
  /** The arguments as the model wrote them, where the wire carries text. */
  readonly text?: string
  readonly native?: Native
}

export type Unit =
  | { readonly kind: 'system' | 'user'; readonly text: string; readonly native?: Native }
  | {
      readonly kind: 'assistant'
      readonly text: string
      readonly calls: readonly UnitCall[]
      readonly native?: Native
      /** The native piece holds more than text, calls and thoughts. */
      readonly more?: true
      /** Its calls are not those of the native piece any more. */
      readonly repaired?: true
    }
  /** The answer to one call. `loaded` names tools where the answer is a reference instead of text. */
  | {
      readonly kind: 'answer'
      readonly callId: string
      readonly text: string
      readonly loaded?: readonly string[]
      /** Where it comes from another wire with media that this one takes: words and media, and nothing else. */
      readonly parts?: readonly ResultPart[]
      readonly native?: Native
    }
  /** Something of Toolwell's, at its place. `adds` and `removes`: what the provider itself puts before the model there. */
  | {
      readonly kind: 'note'
      readonly text: string
      readonly adds?: readonly WireTool[]
      readonly removes?: readonly string[]
    }

/** A unit with its name in the ledger. */
export interface Placed {
  readonly unit: Unit
  readonly anchor: string
  /** The names of the calls it makes. */
  readonly calls: readonly string[]
}

/** What an answer that only refers to tools says on a wire that has no references. */
export function referencesText(names: readonly string[]): string {
  return names.length === 0 ? '' : `Loaded: ${names.join(', ')}.`
}

/** Reads arguments that came as text. Nothing at all counts as no arguments: some servers send that. */
export function readArguments(text: unknown): ModelCall['input'] {
  if (typeof text === 'object' && text !== null) return { value: text }
  if (typeof text !== 'string' || text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { unparsable: text, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Arguments of a call within which the reply ended. What there is of them may even parse, and is not what was meant. */
export function cutOff(text: string): ModelCall['input'] {
  return { unparsable: text, problem: 'the reply was cut off' }
}

/** The model wrote an object, or nothing. Other texts are refused by servers that parse them for their chat template. */
export function hasObjectArguments({ input }: Pick<UnitCall, 'input'>): boolean {
  return 'value' in input && isRecord(input.value)
}

/** The model wrote what is no JSON: as it stands in a reply, or told inside an object, as `argumentsObject` makes it. */
export function hasUnreadableArguments({ input }: Pick<UnitCall, 'input'>): boolean {
  if (!('value' in input)) return true
  const { value } = input
  return isRecord(value) && typeof value.unparsable === 'string' && Object.keys(value).length === 1
}

/**
 * Arguments as text, for wires that carry text: as the model wrote them where that is known and an object. What is no JSON
 * is told inside an object, so that every server takes the history.
 */
export function argumentsText(call: Pick<UnitCall, 'text' | 'input'>): string {
  const { text, input } = call
  if (text !== undefined && hasObjectArguments(call)) return text
  try {
    return JSON.stringify(argumentsObject(input))
  } catch {
    // Nested deeper than can be written: what it was matters less than that the history stays legal.
    return '{}'
  }
}

/** Arguments as an object, for wires that carry objects. */
export function argumentsObject(input: ModelCall['input']): Record<string, unknown> {
  const value = plainJson('value' in input ? input.value : { unparsable: input.unparsable })
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : { value }
}

/** The text of content in any of the usual forms: a string, or a list of parts of which some have text. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => (isText(part) ? part.text : '')).join('')
}

function isText(part: unknown): part is { text: string } {
  return typeof part === 'object' && part !== null && typeof (part as { text?: unknown }).text === 'string'
}

/** What stands where text should, as text: nothing for nothing, JSON for what is no text. Never throws. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  try {
    return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? ''
  } catch {
    // In a circle, or no JSON at all: such a value cannot be sent in any form.
    return ''
  }
}

/** The same, but an object without anything in it says nothing. */
export function wordsOf(value: unknown): string {
  const text = plainText(value)
  return text === '{}' && typeof value === 'object' ? '' : text
}

/** Whether two lists hold the same things in the same order: by identity, which is what tells a host's own objects from copies. */
export function sameItems(one: readonly unknown[], two: readonly unknown[]): boolean {
  return one.length === two.length && one.every((item, index) => item === two[index])
}

// Which call an answer belongs to. Ids return, in later replies and even within one: the latest reply comes first, and in it the order of its calls.

export interface OpenCalls<Call> {
  /** The calls of one reply, by the ids they came with. */
  add(calls: readonly (readonly [id: string, call: Call])[]): void
  /** The call that an answer with this id belongs to. It is open no more. */
  take(id: string): Call | undefined
  /** The number of calls without an answer. */
  readonly size: number
}

export function createOpenCalls<Call>(): OpenCalls<Call> {
  const open = new Map<string, Call[][]>()
  let size = 0
  return {
    get size() {
      return size
    },
    add(calls) {
      size += calls.length
      const reply = new Map<string, Call[]>()
      for (const [id, call] of calls) {
        const same = reply.get(id)
        if (same) same.push(call)
        else reply.set(id, [call])
      }
      for (const [id, same] of reply) {
        const replies = open.get(id)
        if (replies) replies.push(same)
        else open.set(id, [same])
      }
    },
    take(id) {
      const replies = open.get(id)
      const last = replies?.at(-1)
      const call = last?.shift()
      if (last) size--
      if (last?.length === 0) replies?.pop()
      return call
    },
  }
}

/** Whether a call of this history has no answer. */
export function hasOpenCalls(units: readonly Unit[]): boolean {
  const open = createOpenCalls<true>()
  for (const unit of units) {
    if (unit.kind === 'assistant') open.add(unit.calls.map(({ id }) => [id, true]))
    if (unit.kind === 'answer') open.take(unit.callId)
  }
  return open.size > 0
}
