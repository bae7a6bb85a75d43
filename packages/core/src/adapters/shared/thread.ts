/**
 * A history as a list of units, in the same form for all wires. Each unit keeps its native piece, so its own wire
 * loses nothing.
 */

import { isRecord, toPlainJson } from '../../base/data.js'
import type { ResultPart } from '../../result/part.js'
import type { WireTool } from '../../tool/wire-tool.js'
import type { ModelCall } from '../../turn/verdict.js'

/** The native piece of a unit. Its own wire sends it again unchanged, unless the unit was repaired. */
export interface Native {
  readonly wire: string
  readonly value: unknown
  /**
   * `text`: the content was a string, not a list of parts. `rest`: the piece follows the piece of the previous unit
   * in the same message.
   */
  readonly form?: 'text' | 'rest'
}

export interface UnitCall {
  readonly id: string
  readonly name: string
  readonly input: ModelCall['input']
  /** The arguments as the model wrote them, if the wire carries text. */
  readonly text?: string
  /** Code that the provider runs made the call: the id of that code. */
  readonly fromCode?: string
  readonly native?: Native
}

/** The id of code that has none. */
export const CODE = 'code'

export type Unit =
  | { readonly kind: 'system' | 'user'; readonly text: string; readonly native?: Native }
  | {
      readonly kind: 'assistant'
      readonly text: string
      readonly calls: readonly UnitCall[]
      readonly native?: Native
      /** The native piece has more than text, calls and thinking. */
      readonly more?: true
      /** Ids of interrupted code, which is not sent again. */
      readonly interrupted?: ReadonlySet<string>
      /** The calls differ from those in the native piece. */
      readonly repaired?: true
    }
  /** The answer to one call. `loaded` names the tools if the answer is a reference instead of text. */
  | {
      readonly kind: 'answer'
      readonly callId: string
      readonly text: string
      readonly loaded?: readonly string[]
      /** Text and media, if the answer comes from another wire and this wire accepts the media. */
      readonly parts?: readonly ResultPart[]
      readonly native?: Native
    }
  /**
   * Text that Toolwell adds at this place. `adds` and `removes`: tools that the provider itself reveals or hides
   * there.
   */
  | {
      readonly kind: 'note'
      readonly text: string
      readonly adds?: readonly WireTool[]
      readonly removes?: readonly string[]
    }

/** A unit with its anchor in the ledger. */
export interface Placed {
  readonly unit: Unit
  readonly anchor: string
  /** The anchors of its calls. */
  readonly calls: readonly string[]
  /** The anchors of units that the repair removed. Their updates follow this unit. */
  readonly also?: readonly string[]
}

/** Describes loaded tools for a wire that has no references. */
export function describeReferences(names: readonly string[]): string {
  return names.length === 0 ? '' : `Loaded: ${names.join(', ')}.`
}

/** Reads arguments that came as text. Empty text means no arguments: some servers send it. */
export function readArguments(text: unknown): ModelCall['input'] {
  if (typeof text === 'object' && text !== null) return { value: text }
  if (typeof text !== 'string' || text.trim() === '') return { value: {} }
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { unparsable: text, problem: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Marks arguments as incomplete because the reply ended inside the call. They may parse, but are not what the model
 * meant.
 */
export function cutOff(text: string): ModelCall['input'] {
  return { unparsable: text, problem: 'the reply was cut off' }
}

/**
 * Whether the arguments are an object or empty. Servers that parse arguments for their chat template refuse anything
 * else.
 */
export function hasObjectArguments({ input }: Pick<UnitCall, 'input'>): boolean {
  return 'value' in input && isRecord(input.value)
}

/** Whether the arguments are not JSON: in a reply, or inside the object that `argumentsObject` makes. */
export function hasUnreadableArguments({ input }: Pick<UnitCall, 'input'>): boolean {
  if (!('value' in input)) return true
  const { value } = input
  return isRecord(value) && typeof value.unparsable === 'string' && Object.keys(value).length === 1
}

/**
 * Arguments as text: the model's own text if it is an object. Text that is not JSON is put inside an object, so that
 * every server accepts the history. Empty text becomes an empty object.
 */
export function argumentsText(call: Pick<UnitCall, 'text' | 'input'>): string {
  const { text, input } = call
  if (text?.trim() && hasObjectArguments(call)) return text
  try {
    return JSON.stringify(argumentsObject(input))
  } catch {
    // Nested too deep to write. A valid history matters more than this value.
    return '{}'
  }
}

/** Arguments as an object. */
export function argumentsObject(input: ModelCall['input']): Record<string, unknown> {
  const value = toPlainJson('value' in input ? input.value : { unparsable: input.unparsable })
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : { value }
}

/** The text of content in any usual form: a string, or a list of parts. */
export function readText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: unknown) => (isText(part) ? part.text : '')).join('')
}

function isText(part: unknown): part is { text: string } {
  return typeof part === 'object' && part !== null && typeof (part as { text?: unknown }).text === 'string'
}

/** Converts any value to text: empty for nothing, JSON for anything that is not text. Never throws. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  try {
    return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? ''
  } catch {
    // Circular or not JSON: such a value cannot be sent.
    return ''
  }
}

/** Converts a value to text. An empty object gives empty text. */
export function textUnlessEmpty(value: unknown): string {
  const text = plainText(value)
  return text === '{}' && typeof value === 'object' ? '' : text
}

/**
 * Whether two lists hold the same objects in the same order. Compares identity, to distinguish the host's objects
 * from copies.
 */
export function hasSameItems(one: readonly unknown[], two: readonly unknown[]): boolean {
  return one.length === two.length && one.every((item, index) => item === two[index])
}

/**
 * Matches answers to calls. Servers reuse ids, even within one reply: the latest reply comes first, then the order of
 * its calls.
 */
export interface OpenCalls<Call> {
  /** Adds the calls of one reply, by id. */
  add(calls: readonly (readonly [id: string, call: Call])[]): void
  /** Returns the call that an answer with this id belongs to, and closes it. */
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
