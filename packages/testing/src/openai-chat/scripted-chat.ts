/** The scripted endpoint on the Chat Completions wire. */

import {
  type RecordedRequest as AnyRecordedRequest,
  type ScriptedModel as AnyScriptedModel,
  type ScriptedEndpoint,
  type ScriptedReply,
  startScriptedEndpoint,
} from '../scripted-endpoint.js'
import { chatProtocol } from './protocol.js'
import type { ChatRequestBody } from './request.js'
import type { ChatRuleOptions } from './rules.js'

export type { ScriptedCut, ScriptedFailure, ScriptedReply } from '../scripted-endpoint.js'
export type { ScriptedAnswer, ScriptedCall } from '../shared/protocol.js'
export { commonPrefix } from '../shared/usage.js'
export type { ChatMessage, ChatRequestBody, ChatTool, ChatToolCall } from './request.js'
export type { ChatViolation } from './rules.js'

/** Without a type of body: on this wire. */
export type RecordedRequest<Body extends object = ChatRequestBody> = AnyRecordedRequest<Body>
export type ScriptedModel<Body extends object = ChatRequestBody> = AnyScriptedModel<Body>

/** The rule options tighten the gate to one server's limits. */
export interface ScriptedChatOptions extends ChatRuleOptions {
  /** A list answers the i-th accepted request with its i-th reply, and with status 500 once it is used up. */
  readonly model: ScriptedModel | readonly ScriptedReply[]
  /** When given, requests need `authorization: Bearer <apiKey>`. */
  readonly apiKey?: string
}

/** `url` ends in `/v1`. */
export type ScriptedChat = ScriptedEndpoint<ChatRequestBody>

/** Every request is judged by `violationOf` of the protocol first; one that breaks a rule gets a 400 and the script does not advance. */
export function startScriptedChat(options: ScriptedChatOptions): Promise<ScriptedChat> {
  return startScriptedEndpoint(chatProtocol(options), { ...options, emptyBody: { model: '', messages: [] } })
}
