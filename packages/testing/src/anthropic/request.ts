/** Types of the Anthropic Messages wire, with guards and error texts that its rules share. */
import { type Fields, type Found, firstOf, isObject } from '../shared/guards.js'
import type { Violation } from '../shared/protocol.js'

export interface AnthropicBlock {
  readonly type: string
  readonly [field: string]: unknown
}

export interface AnthropicMessage {
  readonly role: 'user' | 'assistant' | 'system'
  /** Optional only in a system message with `output_config`. */
  readonly content?: string | readonly AnthropicBlock[]
  readonly [field: string]: unknown
}

export interface AnthropicTool {
  /** Absent or `custom`: a tool of the host. Otherwise a tool of Anthropic; a toolset has no name. */
  readonly type?: string | null
  readonly name?: string
  readonly description?: string
  readonly input_schema?: { readonly [keyword: string]: unknown }
  readonly defer_loading?: boolean
  readonly cache_control?: unknown
  readonly [field: string]: unknown
}

/** Shape of a body without violations. */
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

/** A string is one text block. */
export function readBlocks(content: AnthropicMessage['content']): readonly AnthropicBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
}

/** Tool names in the `tool_reference`s of a block, from the host's search tool or from Anthropic's. */
export function listReferences(block: AnthropicBlock): readonly string[] {
  if (block.type !== 'tool_result' && block.type !== 'tool_search_tool_result') return []
  const content = isObject(block.content) ? block.content.tool_references : block.content
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.flatMap((part) =>
    isObject(part) && part.type === 'tool_reference' ? [String(part.tool_name)] : [],
  )
}

/** A summary that replaces everything before it. Without content, the compaction failed and the block does nothing. */
export function isCompaction({ type, content }: AnthropicBlock): boolean {
  return type === 'compaction' && typeof content === 'string'
}

/** Cache marks on a block or a tool, including nested ones. */
export function listMarks(block: Fields): readonly Fields[] {
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

/** Anthropic puts the place before the message, unless the fault concerns the whole request. */
export function violation(at: string | null, message: string, code: string): Violation {
  return { message: at === null ? message : `${at}: ${message}`, param: at, code }
}

export function missing(at: string): Violation {
  return violation(at, 'Field required', 'missing_required_parameter')
}

/** `expected` reads like "a valid string". */
export function wrongType(at: string, expected: string): Violation {
  return violation(at, `Input should be ${expected}`, 'invalid_type')
}

export function wrongValue(at: string, allowed: readonly string[]): Violation {
  const list = allowed.map((entry) => `'${entry}'`).join(', ')
  return violation(at, `Input should be ${list}`, 'invalid_value')
}
