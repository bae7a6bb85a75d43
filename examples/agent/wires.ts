/**
 * The four providers of the agent and their differences: the place of the system prompt, how to send a request, and how to read
 * its stream.
 */
import type { Conversation } from '@toolwell/core'
import type { Adapter, Turn as AdapterTurn } from '@toolwell/core/adapter'
import {
  type AnthropicMessage,
  type AnthropicReply,
  anthropic,
  assemble as assembleMessage,
} from '@toolwell/core/anthropic'
import { assemble as assembleContent, type GoogleContent, google } from '@toolwell/core/google'
import {
  assemble as assembleCompletion,
  type ChatMessage,
  type ChatReply,
  openaiChat,
  type StreamedReply,
} from '@toolwell/core/openai-chat'
import {
  assemble as assembleResponse,
  openaiResponses,
  type ResponsesItem,
  type ResponsesReply,
} from '@toolwell/core/openai-responses'

export type WireName = 'openai-chat' | 'openai-responses' | 'anthropic' | 'google'

export interface Server {
  /** Base URL as the provider's client expects it. */
  readonly url: string
  readonly model: string
  readonly apiKey?: string
}

/** An adapter with the system prompt, which only needs the history. */
export interface Line<Message extends object = object, Reply extends object = object>
  extends Pick<Adapter<Message, Reply, object>, 'compact' | 'fork' | 'thread' | 'adopt'> {
  begin(messages: readonly Message[]): Promise<AdapterTurn<Message, Reply, object>>
}

export type Turn = AdapterTurn<object, object, object>

/** One answer, read to its end. */
export type Answer<Message extends object = object, Reply extends object = object> = StreamedReply<
  Reply,
  Message
>

export interface Wire<Message extends object = object, Reply extends object = object> {
  readonly name: WireName
  /** Request field with the history. */
  readonly field: 'messages' | 'input' | 'contents'
  open(conversation: Conversation, system: string): Line<Message, Reply>
  user(text: string): Message
  request(
    server: Server,
    parts: object,
  ): { readonly url: string; readonly headers: Record<string, string>; readonly body: object }
  read(events: AsyncIterable<unknown>): Promise<Answer<Message, Reply>>
}

const openaiChatWire: Wire<ChatMessage, ChatReply> = {
  name: 'openai-chat',
  field: 'messages',
  open(conversation, system) {
    const adapter = openaiChat(conversation)
    // Only on this wire, the system prompt is a message. It is not part of the stored history.
    const first: ChatMessage = { role: 'system', content: system }
    return {
      ...adapter,
      begin: (messages) => adapter.begin([first, ...messages]),
      compact: (before, after) => adapter.compact([first, ...before], [first, ...after]),
      fork: (messages, options) => adapter.fork([first, ...messages], options),
    }
  },
  user: (text) => ({ role: 'user', content: text }),
  request: ({ url, model, apiKey }, parts) => ({
    url: `${url}/chat/completions`,
    headers: bearer(apiKey),
    body: { model, stream: true, stream_options: { include_usage: true }, ...parts },
  }),
  read: assembleCompletion,
}

const openaiResponsesWire: Wire<ResponsesItem, ResponsesReply> = {
  name: 'openai-responses',
  field: 'input',
  open(conversation, instructions) {
    const adapter = openaiResponses(conversation)
    return { ...adapter, begin: (items) => adapter.begin(items, { instructions }) }
  },
  user: (text) => ({ type: 'message', role: 'user', content: text }),
  request: ({ url, model, apiKey }, parts) => ({
    url: `${url}/responses`,
    headers: bearer(apiKey),
    // The history is stored here, so the provider stores nothing and returns its reasoning for the next request.
    body: { model, stream: true, store: false, include: ['reasoning.encrypted_content'], ...parts },
  }),
  read: assembleResponse,
}

const anthropicWire: Wire<AnthropicMessage, AnthropicReply> = {
  name: 'anthropic',
  field: 'messages',
  open(conversation, system) {
    const adapter = anthropic(conversation)
    return { ...adapter, begin: (messages) => adapter.begin(messages, { system }) }
  },
  user: (text) => ({ role: 'user', content: text }),
  request: ({ url, model, apiKey = '' }, parts) => ({
    url: `${url}/v1/messages`,
    headers: { 'anthropic-version': '2023-06-01', 'x-api-key': apiKey },
    body: { model, max_tokens: 8192, stream: true, ...parts },
  }),
  read: assembleMessage,
}

const googleWire: Wire<GoogleContent, GoogleContent> = {
  name: 'google',
  field: 'contents',
  open(conversation, systemInstruction) {
    const adapter = google(conversation)
    return { ...adapter, begin: (contents) => adapter.begin(contents, { systemInstruction }) }
  },
  user: (text) => ({ role: 'user', parts: [{ text }] }),
  request: ({ url, model, apiKey = '' }, parts) => ({
    url: `${url}/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    headers: { 'x-goog-api-key': apiKey },
    body: parts,
  }),
  read: assembleContent,
}

export const wires: Readonly<Record<WireName, Wire>> = {
  'openai-chat': openaiChatWire,
  'openai-responses': openaiResponsesWire,
  anthropic: anthropicWire,
  google: googleWire,
}

function bearer(apiKey: string | undefined): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
}
