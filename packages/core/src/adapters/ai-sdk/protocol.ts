/** The wire behind each provider of the SDK, and what it demands and can do. */

import { isRecord } from '../../base/data.js'
import type { Form } from '../../base/wires.js'
import type { Unit } from '../shared/thread.js'
import type { IdRules, ThinkingTrait } from '../shared/wire.js'
import { type AiCallOptions, type AiMessage, type AiModel, type AiPart, listParts, WIRE } from './types.js'

export type Protocol = Form

/**
 * Detects the wire by the provider name: `openai.chat`, `openai.responses`, `anthropic.messages`,
 * `vertex.anthropic.messages` … Gemini on Vertex is `google.vertex.chat`. The open models there are
 * `vertex.maas.chat`, on a server of the Chat family.
 */
export function detectProtocol(provider: string): Protocol {
  if (provider.includes('anthropic')) return 'anthropic'
  if (/^(google|googleVertex|vertex)\b/.test(provider) && !/\b(maas|xai)\b/.test(provider)) return 'google'
  if (provider.endsWith('.responses')) return 'openai-responses'
  if (provider.endsWith('.chat')) return 'openai-chat'
  return 'ai-sdk'
}

/** Demands of servers on a message. */
export interface MessageRules {
  /** The content of a user message and each text in it: `something` is any text, `words` is more than spaces. */
  readonly users?: 'something' | 'words'
  /** The same for messages of the model. */
  readonly replies?: 'something' | 'words'
  /** Messages of the model must not end in thinking. */
  readonly endsInWords?: boolean
  /** Arguments of calls are objects. */
  readonly objects?: boolean
  /** The text for an answer that must not be empty. */
  readonly results?: string
}

/** Demands of servers on a history. */
export interface ProtocolRules extends Omit<MessageRules, 'results'> {
  readonly ids?: IdRules
  readonly opensWithUser?: boolean
  /** Calls come right after a user turn, and their answers in one turn. */
  readonly turns?: boolean
  /** An answer that is an error or a list must not be empty. */
  readonly answers?: boolean
  /** Calls run by a provider that may be sent: with their results, with an id of that provider, or none. */
  readonly ran?: 'paired' | 'named' | 'none'
}

const fields = { call: 'toolCallId', answer: 'toolCallId' }

/** Rules for content that the SDK passes on although servers refuse it. */
export const rules: Readonly<Record<Protocol, ProtocolRules>> = {
  anthropic: {
    ids: { legal: /^[a-zA-Z0-9_-]+$/, scope: 'history', fields },
    opensWithUser: true,
    users: 'words',
    replies: 'words',
    endsInWords: true,
    objects: true,
    answers: true,
    ran: 'paired',
  },
  google: {
    ids: { scope: 'turn', fields },
    opensWithUser: true,
    users: 'something',
    replies: 'something',
    objects: true,
    turns: true,
    ran: 'named',
  },
  'openai-chat': { ids: { max: 40, scope: 'turn', fields }, users: 'something', objects: true, ran: 'none' },
  'openai-responses': { ids: { max: 64, scope: 'history', fields }, endsInWords: true, objects: true },
  // Most of these servers belong to the Chat family.
  'ai-sdk': { users: 'something', objects: true },
}

/**
 * How a model can be shown a tool without changing the prefix. `references`: Anthropic's search answers refer to
 * declared tools. `tool-changes`: system messages also add and remove tools. `tool-search`: OpenAI's search, whose
 * answers hold the definitions.
 */
export type NativeWay = 'references' | 'tool-changes' | 'tool-search'

export interface NativeOptions {
  readonly native?: boolean
  readonly toolChanges?: boolean
}

/** Models without native deferral: before Claude 4.5, and before GPT-5.4. */
const BEFORE_CLAUDE_4 = /claude-(instant|v?[123])\b/i
/** Some names of Claude 4 end in a minor version, some in a date. */
const CLAUDE_4 = /claude-(?:(?:opus|sonnet|haiku)-)?4(?:[-.](\d{1,2}))?(?!\d)/i
const BEFORE_SEARCH = /^(ft:)?(gpt-[34]|gpt-5(\.[0-3])?(-|$)|gpt-oss|chatgpt|codex|computer-use|o[1-4]\b)/

export function chooseNativeWay(
  { provider, modelId = '' }: Pick<AiModel, 'provider' | 'modelId'>,
  { native = true, toolChanges = false }: NativeOptions,
): NativeWay | undefined {
  if (!native) return undefined
  if (provider.includes('anthropic')) {
    if (isBeforeReferences(modelId)) return undefined
    return toolChanges ? 'tool-changes' : 'references'
  }
  // Other providers use this wire too, but drop the tool that OpenAI defines.
  const isOpenai = /^(openai|azure)\b.*\.responses$/.test(provider)
  return isOpenai && !BEFORE_SEARCH.test(modelId) ? 'tool-search' : undefined
}

function isBeforeReferences(modelId: string): boolean {
  const [found, minor = 0] = CLAUDE_4.exec(modelId) ?? []
  return BEFORE_CLAUDE_4.test(modelId) || (found !== undefined && Number(minor) < 5)
}

/** Words of error messages about deferred tools, and of strict parsers about unknown types of tools. */
const NATIVE_WORDS =
  /defer_loading|tool[_ ]search|tool_reference|tool_addition|additional_tools|deferred|namespace|\b(?:unknown|unsupported|only)\b.{0,40}\btools?\b|\btools(?:\[\d+\]|\.\d+)\.type\b/i

export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { statusCode, responseBody } = error as Error & { statusCode?: unknown; responseBody?: unknown }
  const isBadRequest = statusCode === 400 || statusCode === 404 || statusCode === 422
  return isBadRequest && NATIVE_WORDS.test(`${error.message} ${String(responseBody ?? '')}`)
}

/**
 * Thinking of Anthropic's models: parts of the type `reasoning` with a signature in their options. The API refuses it
 * if the bytes before it changed (page build-with-claude/preserved-thinking).
 */
export const boundThinking: ThinkingTrait = {
  holds: (unit) =>
    unit.kind === 'assistant' &&
    unit.native?.wire === WIRE &&
    listParts(unit.native.value as AiMessage).some(isSealed),
  without: (unit) => {
    if (unit.kind !== 'assistant' || !unit.native) return unit
    const message = unit.native.value as AiMessage
    const value = { ...message, content: listParts(message).filter((part) => !isSealed(part)) }
    return { ...unit, native: { ...unit.native, value } }
  },
}

/** Finds a compaction part: text with an option of Anthropic's provider, or a part of OpenAI's. */
export function findSummary(unit: Unit): 'plain' | undefined {
  const isSummary = (part: AiPart) => part.kind === 'openai.compaction' || readSummary(part) !== undefined
  return listOwnParts(unit).some(isSummary) ? 'plain' : undefined
}

/** Reads how many tool results Anthropic's edit `clear_tool_uses` hid from the model. */
export function countCleared(metadata: unknown): number {
  const { anthropic } = isRecord(metadata) ? metadata : {}
  const { contextManagement: report } = isRecord(anthropic) ? anthropic : {}
  const edits = isRecord(report) && Array.isArray(report.appliedEdits) ? report.appliedEdits : []
  return Math.max(
    0,
    ...edits.map((edit: unknown) => (isRecord(edit) ? Number(edit.clearedToolUses ?? 0) : 0)),
  )
}

/** Anthropic takes a signed summary only first, in place of the messages that it summarises. */
export function isSignedSummary(unit: Unit): boolean {
  const [first] = listOwnParts(unit)
  return first !== undefined && typeof readSummary(first)?.signature === 'string'
}

function listOwnParts(unit: Unit): readonly AiPart[] {
  if (unit.kind !== 'assistant' || unit.native?.wire !== WIRE) return []
  return listParts(unit.native.value as AiMessage)
}

/** The options of a summary by Anthropic. */
function readSummary({ providerOptions }: AiPart): Readonly<Record<string, unknown>> | undefined {
  const { anthropic } = isRecord(providerOptions) ? providerOptions : {}
  return isRecord(anthropic) && anthropic.type === 'compaction' ? anthropic : undefined
}

function isSealed({ type, providerOptions }: AiPart): boolean {
  return type === 'reasoning' && isRecord(providerOptions) && isRecord(providerOptions.anthropic)
}

/**
 * Whether all thinking is sent: the host asked the API to drop invalid thinking, or the budget is fixed. Models with
 * a fixed budget do not check thinking, and need it in a tool loop.
 */
export function keepsThinking({ providerOptions }: AiCallOptions): boolean {
  const { anthropic } = isRecord(providerOptions) ? providerOptions : {}
  const { thinking } = isRecord(anthropic) ? anthropic : {}
  const { type, blockBinding } = isRecord(thinking) ? thinking : {}
  if (type === 'enabled') return true
  return isRecord(blockBinding) && blockBinding.prefixMismatchBehavior === 'drop_block'
}
