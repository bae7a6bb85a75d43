/** The parts of Anthropic Messages that this adapter reads or writes. Everything else passes through unchanged. */

import { isRecord } from '../../base/data.js'
import type { IdRules } from '../shared/wire.js'

export interface AnthropicMessage {
  readonly role: string
  readonly content?: unknown
}

/** The reply of the API, or any object with its role and content. */
export interface AnthropicReply {
  readonly role: string
  readonly content: unknown
  /** Identifies a call that was cut off: its input may still be an object. */
  readonly stop_reason?: string | null
  readonly usage?: unknown
  /** Lists the context edits of the API, for example cleared tool results. */
  readonly context_management?: unknown
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

/** A tool of the host. Tools that Anthropic defines have other forms: see `providerTools`. */
export interface AnthropicTool {
  type?: 'custom' | null
  name: string
  description?: string
  input_schema: { type: 'object'; [keyword: string]: unknown }
  /** Declared, but hidden from the model until a reference to it. */
  defer_loading?: boolean
  strict?: boolean
  input_examples?: Record<string, unknown>[]
  /** `direct`, or types of code execution tools: later ones too, but older clients do not know them. */
  allowed_callers?: ('direct' | 'code_execution_20250825' | 'code_execution_20260120')[]
  eager_input_streaming?: boolean | null
  cache_control?: AnthropicCacheControl | null
}

/** A tool that Anthropic defines, for example `bash_20250124`. Its other fields pass unchanged. */
export interface AnthropicProviderTool {
  readonly type: string
}

/** The content of the message that `run` returns. */
export interface AnthropicToolResult {
  type: 'tool_result'
  tool_use_id: string
  content: string | (AnthropicToolReference | AnthropicTextBlock | AnthropicMediaBlock)[]
  is_error?: boolean
}

/** An image or a PDF in a result. */
export type AnthropicMediaBlock =
  | {
      type: 'image'
      source: {
        type: 'base64'
        media_type: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
        data: string
      }
    }
  | {
      type: 'document'
      source: { type: 'base64'; media_type: 'application/pdf'; data: string }
      title?: string
    }

/** The place where the API shows the definition of a deferred tool to the model. */
export interface AnthropicToolReference {
  type: 'tool_reference'
  tool_name: string
}

export const WIRE = 'anthropic'

/** From the API's own error message. An id must be unique in the conversation. */
export const ID_RULES: IdRules = {
  legal: /^[a-zA-Z0-9_-]+$/,
  scope: 'history',
  fields: { call: 'id', answer: 'tool_use_id' },
}

export type AnthropicBlock = Readonly<Record<string, unknown>> & { readonly type: string }
export type AnthropicCall = AnthropicBlock & { readonly id: string; readonly name: string }

/** The blocks of a content. A string is one text block. Values that are not blocks are skipped. */
export function readBlocks(content: unknown): readonly AnthropicBlock[] {
  if (typeof content === 'string') return content === '' ? [] : [textBlock(content)]
  if (!Array.isArray(content)) return []
  return content.filter(
    (block: unknown): block is AnthropicBlock => isRecord(block) && typeof block.type === 'string',
  )
}

export function textBlock(text: string): AnthropicBlock & AnthropicTextBlock {
  return { type: 'text', text }
}

/** A text as blocks: none if it is blank. */
export function textBlocks(text: string): readonly AnthropicBlock[] {
  return text.trim() === '' ? [] : [textBlock(text)]
}

export function isCall(block: AnthropicBlock): block is AnthropicCall {
  return block.type === 'tool_use' && typeof block.id === 'string' && typeof block.name === 'string'
}

export function isResult({ type, tool_use_id: id }: AnthropicBlock): boolean {
  return type === 'tool_result' && typeof id === 'string'
}

export function createReference(name: string): AnthropicToolReference {
  return { type: 'tool_reference', tool_name: name }
}

export function isThinking({ type }: AnthropicBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** Whether a text block is empty. The API sends such blocks, but does not accept them. */
export function isBlank({ type, text }: AnthropicBlock): boolean {
  return type === 'text' && typeof text === 'string' && text.trim() === ''
}

/** The tools that a search result refers to. */
export function readReferences(content: unknown): string[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((part: unknown) =>
    isRecord(part) && part.type === 'tool_reference' && typeof part.tool_name === 'string'
      ? [part.tool_name]
      : [],
  )
}

export interface AnthropicPrompt {
  /** Your system prompt. On this wire it is not a message. */
  readonly system?: string | readonly AnthropicTextBlock[] | undefined
}

/** Do not change its arrays: they are sent again, and may be yours. */
export interface AnthropicParts<Message extends AnthropicMessage = AnthropicMessage> {
  readonly messages: Message[]
  /** Absent if there are none. */
  readonly tools?: AnthropicTool[]
  /** Your system prompt, followed by the section. Absent if both are empty. */
  readonly system?: string | AnthropicTextBlock[]
}
