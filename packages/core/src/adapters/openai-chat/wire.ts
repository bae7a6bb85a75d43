/** The wire of Chat Completions. */
import { isRecord } from '../../base/data.js'
import { assertKnownKeys, assertOneOf } from '../../base/options.js'
import type { ResultPart } from '../../result/part.js'
import { canSendMedia } from '../../result/wire-media.js'
import type { Prompts } from '../../surface/prompts.js'
import { MISTRAL_IDS } from '../shared/inserts.js'
import { writeDataUrl, writeParts } from '../shared/media.js'
import { addOwnTools, type ProviderForm, readProviderTools } from '../shared/tools.js'
import type { Wire } from '../shared/wire.js'
import { isCustomCall, readMessages, readReplyCalls } from './read.js'
import { readUsage } from './stream.js'
import { writeTools } from './tools.js'
import {
  type ChatMessage,
  type ChatReply,
  type ChatResultPart,
  type ChatTool,
  type ChatToolMessage,
  ID_RULES,
  WIRE,
} from './types.js'
import { fillEmptyReplies, writeMessages } from './write.js'

export interface ChatParts<Message = ChatMessage> {
  messages: Message[]
  /** Absent if there are none: servers refuse an empty array. */
  tools?: ChatTool[]
}

export interface ChatOptions {
  /** Whether the server accepts images in a tool message. Default false: OpenAI accepts only text. */
  readonly imageResults?: boolean
  /**
   * The family of the server. Default `openai`. With `mistral`, call ids have nine letters and digits, a reply of the
   * model comes between a result and a user message, and an empty reply is sent as `(no reply)`.
   */
  readonly family?: 'openai' | 'mistral'
  /**
   * Tools that the server defines or runs, and `custom` tools. They come first in every request. `run` returns calls of
   * them as `providerCalls`.
   */
  readonly providerTools?: readonly ChatProviderTool[]
}

/** A tool of the server, for example `{ type: 'web_search' }`. Its other fields pass unchanged. */
export interface ChatProviderTool {
  readonly type: string
}

const PROVIDER_FORM: ProviderForm = {
  names: ({ function: named, custom }) =>
    [named, custom].flatMap((each) => (isRecord(each) ? [each.name] : [])),
  isFunction: ({ type }) => type === 'function' || typeof type !== 'string',
}

/** `prompts`: the texts that Toolwell adds to a history. */
export function chatWire(
  prompts: Prompts,
  options: ChatOptions = {},
): Wire<ChatMessage, ChatReply, ChatParts> {
  assertKnownKeys(options, ['imageResults', 'family', 'providerTools'], 'openaiChat')
  const { imageResults = false, family = 'openai' } = options
  assertOneOf('family', family, ['openai', 'mistral'])
  const isMistral = family === 'mistral'
  const provider = readProviderTools(options.providerTools, PROVIDER_FORM)
  return {
    name: WIRE,
    provider,
    traits: {
      form: WIRE,
      systemInMessages: true,
      ids: isMistral ? { ...ID_RULES, ...MISTRAL_IDS } : ID_RULES,
      notesJoinAnswers: true,
      modelSpeaksBetween: isMistral,
    },
    read: readMessages,
    write(units, { section }, warn = () => undefined) {
      const messages = writeMessages(units, section, warn)
      return isMistral ? fillEmptyReplies(messages, prompts.noReply()) : messages
    },
    ofHost: (units) =>
      units.flatMap((unit) =>
        (unit.kind === 'assistant' ? unit.calls.filter(isCustomCall) : []).map(({ name }) => name),
      ),
    parts(messages, view) {
      const tools = addOwnTools(provider, writeTools(view))
      // Not changed here; typed as clients expect.
      return {
        messages: messages as ChatMessage[],
        ...(tools.length > 0 ? { tools: tools as ChatTool[] } : {}),
      }
    },
    usage: (reply) => (isRecord(reply) && 'usage' in reply ? readUsage(reply.usage) : undefined),
    calls: readReplyCalls,
    answer: (answers) =>
      answers.map(
        ({ callId, text, parts }): ChatToolMessage => ({
          role: 'tool',
          tool_call_id: callId,
          content: parts && imageResults ? writeImages(parts, prompts) : text,
        }),
      ),
  }
}

function writeImages(parts: readonly ResultPart[], prompts: Prompts): ChatToolMessage['content'] {
  const made = writeParts<ChatResultPart>(
    parts,
    (part) =>
      part.type === 'image' && canSendMedia(WIRE, part)
        ? { type: 'image_url', image_url: { url: writeDataUrl(part) } }
        : undefined,
    prompts,
  )
  if (made.every((each) => typeof each === 'string')) return made.join('\n')
  return made.map((each) => (typeof each === 'string' ? { type: 'text', text: each } : each))
}
