/** The parts of the Responses API that this adapter reads or writes. Everything else passes through untouched. */
import { isRecord } from '../../base/guards.js'
import type { IdRules } from '../shared/repair.js'

/** An item of `input` or `output`. One without a type is a message. */
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

/** A piece of what a function gave. */
export type ResponsesOutputPart =
  | { readonly type: 'input_text'; readonly text: string }
  | { readonly type: 'input_image'; readonly image_url: string; readonly detail: 'auto' }
  | { readonly type: 'input_file'; readonly filename: string; readonly file_data: string }

/** The response object, as far as it is read. */
export interface ResponsesReply {
  readonly output: readonly ResponsesItem[]
  readonly usage?: unknown
}

export type ResponsesTool = ResponsesFunctionTool | ResponsesSearchTool

/** The API's own search, left to the client. */
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
}

/** A function as it is written, in the words of the SDK's types: it wants `parameters` and `strict` said. */
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

/** A call that has what a call needs. */
export function isCall(item: ResponsesItem): item is ResponsesCall {
  return item.type === 'function_call' && typeof item.call_id === 'string' && typeof item.name === 'string'
}

/** A search that the model has left to the client. */
export function isSearchCall(item: ResponsesItem): item is ResponsesItem & { readonly call_id: string } {
  return item.type === 'tool_search_call' && item.execution !== 'server' && typeof item.call_id === 'string'
}

export function isSearchOutput(item: ResponsesItem): item is ResponsesItem & { readonly call_id: string } {
  return item.type === 'tool_search_output' && item.execution !== 'server' && typeof item.call_id === 'string'
}

/** The id by which an item's call is answered; undefined where it is no call. */
export function callIdOf(item: ResponsesItem): string | undefined {
  return isCall(item) || isSearchCall(item) ? item.call_id : undefined
}

export function isMessage(item: ResponsesItem): boolean {
  return item.type === 'message' || (item.type == null && typeof item.role === 'string')
}

/** Written by the model or by the provider on its behalf. Types that are not known here are told by their form. */
export function isOfModel(item: ResponsesItem): boolean {
  const { role, execution } = item
  const type = item.type ?? ''
  if (isMessage(item) || typeof role === 'string') return role === 'assistant'
  return OF_MODEL.has(type) || type.endsWith('_call') || execution === 'server'
}

/** What the host answered to a call that is no function's, like that of a shell: it goes with the model's own items. */
export function isOfHostTool({ type }: ResponsesItem): boolean {
  return type !== 'function_call_output' && (type ?? '').endsWith('_call_output')
}

const OF_MODEL = new Set(['reasoning', 'mcp_list_tools', 'mcp_approval_request', 'program', 'program_output'])

/** An output of a search with what else there is to say. The API does not know the field: it is in histories, never sent. */
export interface WordedOutput extends ResponsesItem {
  readonly toolwell?: { readonly text: string }
}

/** What else the search had to say. */
export function textBeside(item: ResponsesItem): string {
  const { toolwell } = item as { readonly toolwell?: unknown }
  return isRecord(toolwell) && typeof toolwell.text === 'string' ? toolwell.text : ''
}
