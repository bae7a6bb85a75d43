/** Types of the Chat Completions wire. */

export type ChatRole = 'system' | 'developer' | 'user' | 'assistant' | 'tool'

export interface ChatToolCall {
  readonly id: string
  /** A call of type `custom` has `custom` instead of `function`. */
  readonly type: 'function' | 'custom'
  /** `arguments` is the text the model wrote, which may not be JSON. */
  readonly function: { readonly name: string; readonly arguments: string }
}

export interface ChatMessage {
  readonly role: ChatRole
  readonly content?: unknown
  readonly tool_calls?: readonly ChatToolCall[]
  readonly tool_call_id?: string
  readonly [field: string]: unknown
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

/** Shape of a body without violations. */
export interface ChatRequestBody {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools?: readonly ChatTool[]
  readonly tool_choice?: unknown
  readonly stream?: boolean
  readonly stream_options?: unknown
  readonly [field: string]: unknown
}
