/** The parts of the Responses API that this adapter reads or writes. Everything else passes through untouched. */

/** An item of `input` or `output`. One without a type is a message. */
export interface ResponsesItem {
  readonly type?: string
  readonly id?: string | null
  readonly status?: string | null
  readonly role?: string | null
  readonly content?: unknown
  readonly call_id?: string | null
  readonly name?: string | null
  readonly namespace?: string | null
  readonly arguments?: unknown
  readonly output?: unknown
  readonly execution?: string
  readonly encrypted_content?: string | null
}

export interface ResponsesCall extends ResponsesItem {
  readonly type: 'function_call'
  readonly call_id: string
  readonly name: string
  readonly arguments: string
}

export interface ResponsesCallOutput extends ResponsesItem {
  readonly type: 'function_call_output'
  readonly call_id: string
  readonly output: string
}

/** The response object, as far as it is read. */
export interface ResponsesReply {
  readonly output: readonly ResponsesItem[]
}

export interface ResponsesTool {
  readonly type: 'function'
  readonly name: string
  readonly description?: string | null
  readonly parameters?: { readonly [keyword: string]: unknown } | null
  readonly strict?: boolean | null
}

export const WIRE = 'openai-responses'

/** A call that has what a call needs. */
export function isCall(item: ResponsesItem): item is ResponsesCall {
  return item.type === 'function_call' && typeof item.call_id === 'string' && typeof item.name === 'string'
}

export function isMessage(item: ResponsesItem): boolean {
  return item.type === 'message' || (item.type === undefined && typeof item.role === 'string')
}

/** Written by the model or by the provider on its behalf. Types that are not known here are told by their form. */
export function isOfModel(item: ResponsesItem): boolean {
  const { type = '', role, execution } = item
  if (isMessage(item) || typeof role === 'string') return role === 'assistant'
  return OF_MODEL.has(type) || type.endsWith('_call') || execution === 'server'
}

const OF_MODEL = new Set(['reasoning', 'mcp_list_tools', 'mcp_approval_request', 'program', 'program_output'])
