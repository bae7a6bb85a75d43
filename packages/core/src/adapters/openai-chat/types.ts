/** The parts of Chat Completions that this adapter reads or writes. Everything else passes through untouched. */
import type { IdRules } from '../shared/repair.js'

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

/** The completion, a choice of it, or the message in that. Only the first says what it cost, and only the first two whether it ran into a limit. */
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

/** A piece of what a tool gave, for servers that take images there. */
export type ChatResultPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

/** Written so that the arrays of an SDK fit in and out without a cast. */
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

/** An id may return in a later reply: some servers count theirs anew in each. */
export const ID_RULES: IdRules = {
  max: 40,
  scope: 'turn',
  fields: { call: 'id', answer: 'tool_call_id' },
}
