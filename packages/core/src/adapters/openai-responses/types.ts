/** The parts of the Responses API that this adapter reads or writes. Everything else passes through unchanged. */
import { isRecord } from '../../base/data.js'
import type { IdRules } from '../shared/wire.js'

/** An item of `input` or `output`. Without a type it is a message. */
export interface ResponsesItem {
  readonly type?: string | null
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
  /** The caller of a tool: the model, or one of its programs. */
  readonly caller?: unknown
  readonly encrypted_content?: string | null
  readonly tools?: unknown
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
  readonly output: string | readonly ResponsesOutputPart[]
}

/** A part of a function's output. */
export type ResponsesOutputPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string }

/** The fields of the response that are read. */
export interface ResponsesReply {
  readonly output: readonly ResponsesItem[]
  readonly usage?: unknown
  /** The tools of the request, as the server understood them. */
  readonly tools?: unknown
}

export type ResponsesTool = ResponsesFunctionTool | ResponsesSearchTool

/** The API's search, run by the client. */
export interface ResponsesSearchTool {
  readonly type: 'tool_search'
  readonly execution: 'client'
  readonly description: string
  readonly parameters: { readonly [keyword: string]: unknown }
}

export interface ResponsesFunctionTool {
  readonly type: 'function'
  readonly name: string
  readonly description?: string | null
  readonly parameters?: { readonly [keyword: string]: unknown } | null
  readonly strict?: boolean | null
  /** `direct` and `programmatic`. */
  readonly allowed_callers?: readonly string[] | null
}

/** A function as it is written. The SDK's types require `parameters` and `strict`. */
export interface ResponsesFunction {
  type: 'function'
  name: string
  description?: string | null
  parameters: { [keyword: string]: unknown } | null
  strict: boolean | null
}

export const WIRE = 'openai-responses'

export const ID_RULES: IdRules = {
  max: 64,
  scope: 'history',
  fields: { call: 'call_id', answer: 'call_id' },
}

/** Whether a call has an id and a name. */
export function isCall(item: ResponsesItem): item is ResponsesCall {
  return item.type === 'function_call' && typeof item.call_id === 'string' && typeof item.name === 'string'
}

/** Whether this is a search that the client runs. */
export function isSearchCall(item: ResponsesItem): item is ResponsesItem & { readonly call_id: string } {
  return item.type === 'tool_search_call' && item.execution !== 'server' && typeof item.call_id === 'string'
}

export function isSearchOutput(item: ResponsesItem): item is ResponsesItem & { readonly call_id: string } {
  return item.type === 'tool_search_output' && item.execution !== 'server' && typeof item.call_id === 'string'
}

/** The id of the call in this item; undefined if it is not a call. */
export function readCallId(item: ResponsesItem): string | undefined {
  return isCall(item) || isSearchCall(item) ? item.call_id : undefined
}

/** Removes the id that the API gave a call or a message. Other items need theirs (SDK type `ResponseInputItem`). */
export function removeId(item: ResponsesItem): ResponsesItem {
  if (!isMessage(item) && readCallId(item) === undefined) return item
  const { id, ...rest } = item
  return id === undefined ? item : rest
}

/** Whether a program of the provider made the call, or waits for the output. */
export function isOfProgram({ caller }: ResponsesItem): boolean {
  return isRecord(caller) && caller.type === 'program'
}

export function isMessage(item: ResponsesItem): boolean {
  return item.type === 'message' || (item.type == null && typeof item.role === 'string')
}

/** Whether the model, or the provider for it, wrote the item. Unknown types are recognised by their form. */
export function isOfModel(item: ResponsesItem): boolean {
  const { role, execution } = item
  const type = item.type ?? ''
  if (isMessage(item) || typeof role === 'string') return role === 'assistant'
  return OF_MODEL.has(type) || type.endsWith('_call') || execution === 'server'
}

/**
 * Whether this is the host's answer to a call that is not a function call, for example of a shell. It belongs to the
 * reply.
 */
export function isOfHostTool({ type }: ResponsesItem): boolean {
  return type !== 'function_call_output' && (type ?? '').endsWith('_call_output')
}

const OF_MODEL = new Set(['reasoning', 'mcp_list_tools', 'mcp_approval_request', 'program', 'program_output'])

/** An output of a search with additional text. The field is kept in histories and never sent. */
export interface WordedOutput extends ResponsesItem {
  readonly toolwell?: { readonly text: string }
}

/** The additional text of a search. */
export function readAddedText(item: ResponsesItem): string {
  const { toolwell } = item as { readonly toolwell?: unknown }
  return isRecord(toolwell) && typeof toolwell.text === 'string' ? toolwell.text : ''
}
