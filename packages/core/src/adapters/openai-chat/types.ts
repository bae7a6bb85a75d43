/** The parts of Chat Completions that this adapter reads or writes. Everything else passes through unchanged. */
import type { IdRules } from '../shared/wire.js'

export interface ChatToolCall {
  readonly id: string
  readonly type?: string
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface ChatMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly ChatToolCall[] | null
  readonly tool_call_id?: string
}

/**
 * A completion, a choice of it, or the message in a choice. Only a completion has the usage, and only a completion or
 * a choice has the finish reason.
 */
export type ChatReply = ChatCompletion | ChatChoice | ChatReplyMessage

export interface ChatCompletion {
  readonly choices: readonly ChatChoice[]
  readonly usage?: unknown
}

export interface ChatChoice {
  readonly message: ChatReplyMessage
  readonly finish_reason?: string | null
}

/** The assistant message of a reply, as any client types it. */
export interface ChatReplyMessage {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly object[] | null | undefined
}

export interface ChatToolMessage extends ChatMessage {
  readonly role: 'tool'
  readonly tool_call_id: string
  readonly content: string | readonly ChatResultPart[]
}

/** A part of a tool result, for servers that accept images there. */
export type ChatResultPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

/** Typed so that the arrays of an SDK fit without a cast. */
export interface ChatTool {
  type: 'function'
  function: {
    name: string
    description?: string
    parameters?: Record<string, unknown>
    strict?: boolean | null
  }
}

export const WIRE = 'openai-chat'

/** A later reply may reuse an id: some servers number the calls of each reply from the start. */
export const ID_RULES: IdRules = {
  max: 40,
  scope: 'turn',
  fields: { call: 'id', answer: 'tool_call_id' },
}
