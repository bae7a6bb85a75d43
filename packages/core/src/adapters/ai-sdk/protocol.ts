/** Which wire a model of the SDK really speaks: definitions, latch and limits are those of that wire. */
import type { IdRules } from '../shared/repair.js'

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
