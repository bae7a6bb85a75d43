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

/** The calls of an assistant message that have the shape of a call. Ids that are missing or repeated get one of their own. */
export function callsOf(message: ChatMessage | ChatReply): readonly ChatToolCall[] {
  if (message.role !== 'assistant' || !Array.isArray(message.tool_calls)) return []
  const seen = new Set<string>()
  return message.tool_calls.flatMap((call: unknown) => {
    const { id, function: target } = (call ?? {}) as Partial<ChatToolCall>
    if (typeof target?.name !== 'string') return []
    const base = typeof id === 'string' && id !== '' ? id : 'call'
    let own = base
    for (let count = 2; seen.has(own); count++) own = `${base}~${count}`
    seen.add(own)
    return [own === id ? (call as ChatToolCall) : { ...(call as ChatToolCall), id: own }]
  })
}

/** An assistant message that a server refuses: an empty or null list of calls, ids that had to be made, or nothing in it at all. */
export function isOdd(message: ChatMessage): boolean {
  if (message.role !== 'assistant') return false
  const calls = callsOf(message)
  const { content, tool_calls: given } = message
  if (calls.length === 0)
    return given !== undefined || content == null || (Array.isArray(content) && content.length === 0)
  return calls.length !== given?.length || calls.some((call, index) => call !== given?.[index])
}
