/** The parts of Chat Completions that this adapter reads or writes. Everything else passes through untouched. */

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

export interface ChatToolMessage extends ChatMessage {
  readonly role: 'tool'
  readonly tool_call_id: string
  readonly content: string
}

export interface ChatTool {
  readonly type: 'function'
  readonly function: {
    readonly name: string
    readonly description?: string
    readonly parameters?: { readonly [keyword: string]: unknown }
    readonly strict?: boolean | null
  }
}

export const WIRE = 'openai-chat'

/** The calls of an assistant message that have the shape of a call. */
export function callsOf(message: ChatMessage): readonly ChatToolCall[] {
  if (message.role !== 'assistant' || !Array.isArray(message.tool_calls)) return []
  return message.tool_calls.filter((call: unknown): call is ChatToolCall => {
    const { id, function: target } = (call ?? {}) as Partial<ChatToolCall>
    return typeof id === 'string' && typeof target?.name === 'string'
  })
}
