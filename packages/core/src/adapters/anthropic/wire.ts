/** The parts of Anthropic Messages that this adapter reads or writes. Everything else passes through untouched. */
import { isRecord } from '../shared/thread.js'

export interface AnthropicMessage {
  readonly role: string
  readonly content?: unknown
}

/** The API's answer, or any object with its role and content. */
export interface AnthropicReply {
  readonly role: string
  readonly content: unknown
}

export interface AnthropicCacheControl {
  type: 'ephemeral'
  ttl?: '5m' | '1h'
}

export interface AnthropicTextBlock {
  type: 'text'
  text: string
  cache_control?: AnthropicCacheControl | null
}

/** A tool of the host's. Tools that Anthropic defines have other shapes; send those beside the ones given here. */
export interface AnthropicTool {
  type?: 'custom' | null
  name: string
  description?: string
  input_schema: { type: 'object'; [keyword: string]: unknown }
  cache_control?: AnthropicCacheControl | null
}

/** The content of the message that `run` gives. */
export interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  content: string
  is_error?: boolean
}

export const WIRE = 'anthropic'

export type AnthropicBlock = Readonly<Record<string, unknown>> & { readonly type: string }
export type AnthropicCall = AnthropicBlock & { readonly id: string; readonly name: string }

/** A string stands for one text block. What has not the shape of a block is left out. */
export function blocksOf(content: unknown): readonly AnthropicBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [textBlock(content)]
  if (!Array.isArray(content)) return []
  return content.filter(
    (block: unknown): block is AnthropicBlock => isRecord(block) && typeof block.type === 'string',
  )
}

export function textBlock(text: string): AnthropicBlock & AnthropicTextBlock {
  return { type: 'text', text }
}

export function isCall(block: AnthropicBlock): block is AnthropicCall {
  return block.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string'
}

export function isThinking({ type }: AnthropicBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** A text that was begun and never filled. The API sends such blocks, and does not take them back. */
export function isBlank({ type, text }: AnthropicBlock): boolean {
  return type === 'text' && typeof text === 'string' && text.trim() === ''
}
