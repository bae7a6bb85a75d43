/** How a model of the SDK can be shown a tool without a change of what stands before the messages. */
import type { AiModel } from './wire.js'

/**
 * `references`: Anthropic's search answers refer to declared tools. `tool-changes`: its system messages bring and take
 * tools as well. `tool-search`: OpenAI's own search, whose answers hold the definitions.
 */
export type NativeWay = 'references' | 'tool-changes' | 'tool-search'

export interface NativeOptions {
  readonly native?: boolean
  readonly toolChanges?: boolean
}

/** Models of which it is known that they cannot: before Claude 4, and before GPT-5.4. */
const BEFORE_REFERENCES = /claude-(instant|[123])\b/
const BEFORE_SEARCH = /^(ft:)?(gpt-[34]|gpt-5(\.[0-3])?(-|$)|gpt-oss|chatgpt|codex|computer-use|o[1-4]\b)/

export function nativeWay(
  { provider, modelId = '' }: Pick<AiModel, 'provider' | 'modelId'>,
  { native = true, toolChanges = false }: NativeOptions,
): NativeWay | undefined {
  if (!native) return undefined
  if (provider.includes('anthropic')) {
    if (BEFORE_REFERENCES.test(modelId)) return undefined
    return toolChanges ? 'tool-changes' : 'references'
  }
  // Other providers speak this wire as well, but leave out a tool that OpenAI defines.
  const isOpenai = /^(openai|azure)\b.*\.responses$/.test(provider)
  return isOpenai && !BEFORE_SEARCH.test(modelId) ? 'tool-search' : undefined
}
