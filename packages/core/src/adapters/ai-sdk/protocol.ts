/** Which wire a model of the SDK really speaks: definitions, latch and limits are those of that wire. */
import type { IdRules } from '../shared/settle-ids.js'

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

/** What servers demand of a history. */
export interface ProtocolRules {
  readonly ids?: IdRules
  readonly opensWithUser?: boolean
}

const fields = { call: 'toolCallId', answer: 'toolCallId' }

/** What the SDK hands on to servers as it is, although they refuse it. */
export const rules: Readonly<Record<Protocol, ProtocolRules>> = {
  anthropic: { ids: { legal: /^[a-zA-Z0-9_-]+$/, scope: 'history', fields }, opensWithUser: true },
  google: {},
  'openai-chat': { ids: { max: 40, scope: 'turn', fields } },
  'openai-responses': { ids: { max: 64, scope: 'history', fields } },
  'ai-sdk': {},
}
