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

/** The assistant message of a reply, as any client types it. */
export interface ChatReply {
  readonly role: string
  readonly content?: unknown
  readonly tool_calls?: readonly object[] | null | undefined
}

export interface ChatToolMessage extends ChatMessage {
  readonly role: 'tool'
  readonly tool_call_id: string
  readonly content: string
}

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

/** The calls of an assistant message that have the shape of a call. */
export function callsOf(message: ChatMessage | ChatReply): readonly ChatToolCall[] {
  if (message.role !== 'assistant' || !Array.isArray(message.tool_calls)) return []
  return message.tool_calls.filter((call: unknown): call is ChatToolCall => {
    const { id, function: target } = (call ?? {}) as Partial<ChatToolCall>
    return typeof id === 'string' && typeof target?.name === 'string'
  })
}
