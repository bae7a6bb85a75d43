/** Which wire a model of the SDK really speaks: definitions, latch and limits are those of that wire. */
import type { IdRules } from '../shared/settle-ids.js'

export type Protocol = 'anthropic' | 'google' | 'openai-chat' | 'openai-responses' | 'ai-sdk'

/** The SDK names its providers `openai.chat`, `openai.responses`, `anthropic.messages`, `vertex.anthropic.messages` … */
export function protocolOf(provider: string): Protocol {
  if (provider.includes('anthropic')) return 'anthropic'
  if (provider.endsWith('.responses')) return 'openai-responses'
  if (provider.endsWith('.chat')) return 'openai-chat'
  if (/^(google|vertex)\b/.test(provider)) return 'google'
  return 'ai-sdk'
}

export interface ProtocolRules {
  /** Keywords that servers refuse at the top of a schema, and nowhere else. */
  readonly notAtTop: readonly string[]
  readonly ids?: IdRules
  readonly opensWithUser?: boolean
}

const COMPOSED = ['oneOf', 'anyOf', 'allOf']
const fields = { call: 'toolCallId', answer: 'toolCallId' }

/** What the SDK hands on to servers as it is, although they refuse it. An unknown server gets what all of them take. */
export const rules: Readonly<Record<Protocol, ProtocolRules>> = {
  anthropic: {
    notAtTop: COMPOSED,
    ids: { legal: /^[a-zA-Z0-9_-]+$/, scope: 'history', fields },
    opensWithUser: true,
  },
  google: { notAtTop: [] },
  'openai-chat': { notAtTop: [...COMPOSED, 'enum', 'const', 'not'], ids: { max: 40, scope: 'turn', fields } },
  'openai-responses': {
    notAtTop: [...COMPOSED, 'enum', 'not'],
    ids: { max: 64, scope: 'history', fields },
  },
  'ai-sdk': { notAtTop: [...COMPOSED, 'enum', 'const', 'not'] },
}
