/** The nouns of the Anthropic Messages wire, with the guards and wordings that its rules share. */

import { type Fields, type Found, firstOf, isObject } from '../shared/guards.js'
import type { Violation } from '../shared/protocol.js'

export interface AnthropicBlock {
  readonly type: string
  readonly [field: string]: unknown
}

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant' | 'system'
  /** Only a system message that carries `output_config` may do without. */
  readonly content?: string | readonly AnthropicBlock[]
  readonly [field: string]: unknown
}

export interface AnthropicTool {
  /** Absent and `custom` mean a tool of the host; anything else one of Anthropic's, and a toolset has no name. */
  readonly type?: string | null
  readonly name?: string
  readonly description?: string
  readonly input_schema?: { readonly [keyword: string]: unknown }
  readonly defer_loading?: boolean
  readonly cache_control?: unknown
  readonly [field: string]: unknown
}

/** The shape of a body without violations. */
export interface AnthropicRequestBody {
  readonly model: string
  readonly max_tokens: number
  readonly messages: readonly AnthropicMessage[]
  readonly system?: string | readonly AnthropicBlock[]
  readonly tools?: readonly AnthropicTool[]
  readonly tool_choice?: unknown
  readonly stream?: boolean
  readonly [field: string]: unknown
}

/** A string stands for one text block. */
export function blocksOf(content: AnthropicMessage['content']): readonly AnthropicBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
}

/** The names that a block's `tool_reference`s bring in: from a host's own search tool or from Anthropic's. */
export function referencesIn(block: AnthropicBlock): readonly string[] {
  if (block.type !== 'tool_result' && block.type !== 'tool_search_tool_result') return []
  const content = isObject(block.content) ? block.content.tool_references : block.content
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.flatMap((part) =>
    isObject(part) && part.type === 'tool_reference' ? [String(part.tool_name)] : [],
  )
}

/** The cache marks on a block, or on a tool, and on what is nested in it. */
export function marksOn(block: Fields): readonly Fields[] {
  const nested = block.type === 'tool_result' && Array.isArray(block.content) ? block.content : []
  const { definition } = isObject(block.tool) ? block.tool : {}
  return [...nested, definition, block].flatMap((entry) =>
    isObject(entry) && isObject(entry.cache_control) ? [entry.cache_control] : [],
  )
}

export function eachOf(
  list: unknown,
  at: string,
  check: (entry: unknown, at: string, index: number) => Found,
): Found {
  if (!Array.isArray(list)) return undefined
  return firstOf(list.entries(), ([index, entry]) => check(entry, `${at}.${index}`, index))
}

/** Anthropic puts the place in front of the message, unless the fault is the whole request's. */
export function violation(at: string | null, message: string, code: string): Violation {
  return { message: at === null ? message : `${at}: ${message}`, param: at, code }
}

export function missing(at: string): Violation {
  return violation(at, 'Field required', 'missing_required_parameter')
}

/** `expected` is worded as in "a valid string". */
export function wrongType(at: string, expected: string): Violation {
  return violation(at, `Input should be ${expected}`, 'invalid_type')
}

export function wrongValue(at: string, allowed: readonly string[]): Violation {
  const list = allowed.map((entry) => `'${entry}'`).join(', ')
  return violation(at, `Input should be ${list}`, 'invalid_value')
}
