/** Chat Completions for the scripted endpoint: path, key, answers and errors. */
import {
  type RecordedRequest as AnyRecordedRequest,
  type ScriptedModel as AnyScriptedModel,
  type ScriptedEndpoint,
  type ScriptedReply,
  startScriptedEndpoint,
} from '../scripted-endpoint.js'
import type { AnswerContext, Protocol, ScriptedAnswer } from '../shared/protocol.js'
import {
  type ChatCompletion,
  chatRenderOrder,
  completionObject,
  computeUsage,
  deltaChunks,
  endingChunks,
} from './answer.js'
import type { ChatRequestBody } from './request.js'
import { type ChatRuleOptions, findChatViolation } from './rules.js'

export function chatProtocol(options: ChatRuleOptions = {}): Protocol<ChatRequestBody> {
  return {
    name: 'openai-chat',
    basePath: '/v1',
    match: (path) => (path === '/v1/chat/completions' ? {} : undefined),
    authorised: (headers, apiKey) => headers.authorization === `Bearer ${apiKey}`,
    violationOf: (body) => findChatViolation(body, options),
    wantsStream: (body) => body.stream === true,
    renderOrder: (body) => chatRenderOrder(body, options.family),
    answer(answer, body, context) {
      const completion = complete(answer, body, context, options)
      const streamOptions = body.stream_options as { include_usage?: unknown } | null | undefined
      return {
        object: completionObject(completion),
        stream: () => streamOf(completion, streamOptions?.include_usage === true),
      }
    },
    errorObject(status, message, code, param) {
      const type = status >= 500 ? 'server_error' : 'invalid_request_error'
      return { error: { message, type, param, code } }
    },
  }
}

function complete(
  answer: ScriptedAnswer,
  body: ChatRequestBody,
  context: AnswerContext,
  { nineCharacterIds }: ChatRuleOptions,
): ChatCompletion {
  const nextId = () =>
    nineCharacterIds
      ? context
          .nextCallId('')
          .replace(/[^a-zA-Z0-9]/g, 'x')
          .padStart(9, '0')
      : context.nextCallId('call_')
  const { text, calls: scripted = [], finish } = answer
  const calls = scripted.map(({ name, arguments: input, id }) => ({
    id: id ?? nextId(),
    type: 'function' as const,
    function: { name, arguments: typeof input === 'string' ? input : JSON.stringify(input ?? {}) },
  }))
  const written = [text ?? '', ...calls.flatMap((call) => [call.function.name, call.function.arguments])]
  return {
    id: `chatcmpl-${context.index + 1}`,
    model: body.model,
    content: text ?? (calls.length > 0 ? null : ''),
    calls,
    finish: finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: computeUsage(context.rendered, context.earlier, written.join('')),
  }
}

function* streamOf(completion: ChatCompletion, includeUsage: boolean): Generator<string> {
  for (const chunk of deltaChunks(completion, includeUsage)) yield event(chunk)
  const ending = [...endingChunks(completion, includeUsage)].map(event).join('')
  yield `${ending}data: [DONE]\n\n`
}

function event(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

export type { ScriptedCut, ScriptedFailure, ScriptedReply } from '../scripted-endpoint.js'
export type { ScriptedAnswer, ScriptedCall } from '../shared/protocol.js'
export { commonPrefix } from '../shared/usage.js'
export type { ChatMessage, ChatRequestBody, ChatTool, ChatToolCall } from './request.js'
export type { ChatViolation } from './rules.js'

/** Body type defaults to that of this wire. */
export type RecordedRequest<Body extends object = ChatRequestBody> = AnyRecordedRequest<Body>
export type ScriptedModel<Body extends object = ChatRequestBody> = AnyScriptedModel<Body>

/** The options apply the limits of one server. */
export interface ScriptedChatOptions extends ChatRuleOptions {
  /** A list answers accepted requests in order, and with status 500 after its last reply. */
  readonly model: ScriptedModel | readonly ScriptedReply[]
  /** If set, requests need `authorization: Bearer <apiKey>`. */
  readonly apiKey?: string
}

/** `url` ends in `/v1`. */
export type ScriptedChat = ScriptedEndpoint<ChatRequestBody>

/** Checks every request against the rules first. A violation gets a 400 and does not advance the script. */
export function startScriptedChat(options: ScriptedChatOptions): Promise<ScriptedChat> {
  return startScriptedEndpoint(chatProtocol(options), { ...options, emptyBody: { model: '', messages: [] } })
}
