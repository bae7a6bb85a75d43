/** How a model of the SDK can be shown a tool without a change of what stands before the messages. */
import type { AiModel } from './types.js'

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
