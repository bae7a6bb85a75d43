/** `@toolwell/core/openai-responses`: the Responses API as plain JSON, for OpenAI and compatible servers. */
import { adapterPort, type Conversation } from '../../conversation.js'
import { type Adapter, createAdapter, type Turn } from '../shared/adapter.js'
import type { ResponsesFunction, ResponsesItem, ResponsesReply, ResponsesSearchTool } from './types.js'
import { type ResponsesOptions, type ResponsesParts, type ResponsesPrompt, responsesWire } from './wire.js'

export type { ProviderCall, Thread } from '../shared/adapter.js'
export type { StreamedReply } from '../shared/stream.js'
export type { Described } from '../shared/tools.js'
export type { Warning, WarningCode } from '../shared/wire.js'
export { assemble, readEvents, readUsage } from './stream.js'
export { importTools } from './tools.js'
export type {
  ResponsesCall,
  ResponsesCallOutput,
  ResponsesFunction,
  ResponsesFunctionTool,
  ResponsesItem,
  ResponsesOutputPart,
  ResponsesReply,
  ResponsesSearchTool,
  ResponsesTool,
} from './types.js'
export type { ResponsesOptions, ResponsesParts, ResponsesPrompt, ResponsesProviderTool } from './wire.js'

/** The request in a client's types. Do not change its arrays: they are sent again, and may be yours. */
export interface ResponsesRequest<Item = ResponsesItem> extends Omit<ResponsesParts, 'input' | 'tools'> {
  readonly input: Item[]
  /** Absent if there are none. */
  readonly tools?: (ResponsesFunction | ResponsesSearchTool)[]
}

export type ResponsesTurn<Item extends ResponsesItem = ResponsesItem> = Turn<
  Item,
  ResponsesReply,
  ResponsesRequest<Item>
>

type Reading = Adapter<ResponsesItem, ResponsesReply, ResponsesParts, ResponsesPrompt>

/** Reads histories of any items, because an SDK has different types for input and output items. Writes `Item`. */
export interface OpenAIResponses<Item extends ResponsesItem = ResponsesItem>
  extends Omit<Reading, 'begin' | 'adopt'> {
  begin(...request: Parameters<Reading['begin']>): Promise<ResponsesTurn<Item>>
  adopt(...thread: Parameters<Reading['adopt']>): Item[]
}

/** With an SDK, pass its type of an input item: `openaiResponses<ResponseInputItem>(conversation)`. */
export function openaiResponses<Item extends ResponsesItem = ResponsesItem>(
  conversation: Conversation,
  options: ResponsesOptions = {},
): OpenAIResponses<Item> {
  // The wire reads and writes any item of this protocol, which fits any client's type.
  const { prompts } = adapterPort(conversation)
  return createAdapter(
    conversation,
    responsesWire(conversation.loader, prompts, options),
  ) as unknown as OpenAIResponses<Item>
}
