/** Which wire a model of the SDK really speaks: definitions, latch and limits are those of that wire. */

import { isRecord } from '../../base/guards.js'
import type { IdRules } from '../shared/repair.js'
import type { ThinkingTrait } from '../shared/thinking.js'
import { type AiCallOptions, type AiMessage, type AiModel, type AiPart, partsOf, WIRE } from './types.js'

export type Protocol = 'anthropic' | 'google' | 'openai-chat' | 'openai-responses' | 'ai-sdk'

/**
 * The SDK names its providers `openai.chat`, `openai.responses`, `anthropic.messages`, `vertex.anthropic.messages` … Gemini
 * on Vertex is `google.vertex.chat`; the open models there are `vertex.maas.chat`, behind a server of the Chat family.
 */
export function protocolOf(provider: string): Protocol {
  if (provider.includes('anthropic')) return 'anthropic'
  if (/^(google|googleVertex|vertex)\b/.test(provider) && !/\b(maas|xai)\b/.test(provider)) return 'google'
  if (provider.endsWith('.responses')) return 'openai-responses'
  if (provider.endsWith('.chat')) return 'openai-chat'
  return 'ai-sdk'
}

/** What servers demand of a message. */
export interface MessageRules {
  /** What a user's message, and each text in it, has to be: `something` is any text, `words` is more than spaces. */
  readonly users?: 'something' | 'words'
  /** The same of the model's. */
  readonly replies?: 'something' | 'words'
  /** The model's messages end in something that it said or called, and not in what it thought. */
  readonly endsInWords?: boolean
  /** Arguments of calls are objects. */
  readonly objects?: boolean
  /** What stands in an answer that must not be empty. */
  readonly results?: string
}

/** What servers demand of a history. */
export interface ProtocolRules extends Omit<MessageRules, 'results'> {
  readonly ids?: IdRules
  readonly opensWithUser?: boolean
  /** Calls stand directly behind a turn of the user, and their answers in one. */
  readonly turns?: boolean
  /** An answer that is an error or a list says something. */
  readonly answers?: boolean
  /** Which calls that a provider ran itself may be sent: those with their results, those with a name of its own, none. */
  readonly ran?: 'paired' | 'named' | 'none'
}

const fields = { call: 'toolCallId', answer: 'toolCallId' }

/** What the SDK hands on to servers as it is, although they refuse it. */
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
  // Most have a server of the Chat family behind them.
  'ai-sdk': { users: 'something', objects: true },
}

// How a model of the SDK can be shown a tool without a change of what stands before the messages.

/**
 * `references`: Anthropic's search answers refer to declared tools. `tool-changes`: its system messages bring and take
 * tools as well. `tool-search`: OpenAI's own search, whose answers hold the definitions.
 */
export type NativeWay = 'references' | 'tool-changes' | 'tool-search'

export interface NativeOptions {
  readonly native?: boolean
  readonly toolChanges?: boolean
}

/** Models of which it is known that they cannot: before Claude 4.5, and before GPT-5.4. */
const BEFORE_CLAUDE_4 = /claude-(instant|v?[123])\b/i
/** Of Claude 4 some names have a minor version and some a date behind them. */
const CLAUDE_4 = /claude-(?:(?:opus|sonnet|haiku)-)?4(?:[-.](\d{1,2}))?(?!\d)/i
const BEFORE_SEARCH = /^(ft:)?(gpt-[34]|gpt-5(\.[0-3])?(-|$)|gpt-oss|chatgpt|codex|computer-use|o[1-4]\b)/

export function nativeWay(
  { provider, modelId = '' }: Pick<AiModel, 'provider' | 'modelId'>,
  { native = true, toolChanges = false }: NativeOptions,
): NativeWay | undefined {
  if (!native) return undefined
  if (provider.includes('anthropic')) {
    if (isBeforeReferences(modelId)) return undefined
    return toolChanges ? 'tool-changes' : 'references'
  }
  // Other providers speak this wire as well, but leave out a tool that OpenAI defines.
  const isOpenai = /^(openai|azure)\b.*\.responses$/.test(provider)
  return isOpenai && !BEFORE_SEARCH.test(modelId) ? 'tool-search' : undefined
}

function isBeforeReferences(modelId: string): boolean {
  const [found, minor = 0] = CLAUDE_4.exec(modelId) ?? []
  return BEFORE_CLAUDE_4.test(modelId) || (found !== undefined && Number(minor) < 5)
}

// Whether a provider has refused how tools are deferred, by what servers and proxies say that do not know it.

/** The words of the wires for it, and what strict parsers say of a kind of tool that they do not know. */
const NATIVE_WORDS =
  /defer_loading|tool[_ ]search|tool_reference|tool_addition|additional_tools|deferred|namespace|\b(?:unknown|unsupported|only)\b.{0,40}\btools?\b|\btools(?:\[\d+\]|\.\d+)\.type\b/i

export function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { statusCode, responseBody } = error as Error & { statusCode?: unknown; responseBody?: unknown }
  const isBadRequest = statusCode === 400 || statusCode === 404 || statusCode === 422
  return isBadRequest && NATIVE_WORDS.test(`${error.message} ${String(responseBody ?? '')}`)
}

// Thinking of Anthropic's models in messages of the SDK: parts of the type `reasoning`, with a seal in their options.

/** Page build-with-claude/preserved-thinking: such thinking is refused behind other bytes than it was thought behind. */
export const boundThinking: ThinkingTrait = {
  holds: (unit) =>
    unit.kind === 'assistant' &&
    unit.native?.wire === WIRE &&
    partsOf(unit.native.value as AiMessage).some(isSealed),
  without: (unit) => {
    if (unit.kind !== 'assistant' || !unit.native) return unit
    const message = unit.native.value as AiMessage
    const value = { ...message, content: partsOf(message).filter((part) => !isSealed(part)) }
    return { ...unit, native: { ...unit.native, value } }
  },
}

function isSealed({ type, providerOptions }: AiPart): boolean {
  return type === 'reasoning' && isRecord(providerOptions) && isRecord(providerOptions.anthropic)
}

/**
 * Nothing is left out here: the host has asked the API to drop such thinking itself, or the budget is fixed. Models with a
 * fixed budget do not check what they thought, and want it in a tool loop.
 */
export function keepsThinking({ providerOptions }: AiCallOptions): boolean {
  const { anthropic } = isRecord(providerOptions) ? providerOptions : {}
  const { thinking } = isRecord(anthropic) ? anthropic : {}
  const { type, blockBinding } = isRecord(thinking) ? thinking : {}
  if (type === 'enabled') return true
  return isRecord(blockBinding) && blockBinding.prefixMismatchBehavior === 'drop_block'
}
