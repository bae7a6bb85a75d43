/** The system prompt, which is no message on this wire: the host's own, what came as messages, and the section. */
import type { SurfaceView } from '../../surface/project.js'
import { type AnthropicMessage, type AnthropicPrompt, blocksOf, isBlank, textBlock } from './types.js'

/** The prompt as it is sent. */
export function systemOf(
  system: AnthropicPrompt['system'],
  leading: readonly AnthropicMessage[],
  section: SurfaceView['section'],
): AnthropicPrompt['system'] {
  return withSection(withLeading(system, leading), section)
}

/** The section comes last, so that your blocks and their cache marks stay where they are. */
function withSection(
  system: AnthropicPrompt['system'],
  section: SurfaceView['section'],
): AnthropicPrompt['system'] {
  if (section === '') return system
  if (system === undefined || system === '') return section
  return typeof system === 'string' ? `${system}\n\n${section}` : [...system, textBlock(section)]
}

/** The host's system prompt, and what of it came as messages. */
function withLeading(
  system: AnthropicPrompt['system'],
  leading: readonly AnthropicMessage[],
): AnthropicPrompt['system'] {
  const texts = leading
    .flatMap(({ content }) => blocksOf(content))
    .filter((block): block is ReturnType<typeof textBlock> => block.type === 'text' && !isBlank(block))
  if (texts.length === 0) return system
  if (typeof system === 'object') return [...system, ...texts]
  const isPlain = leading.every(({ content }) => typeof content === 'string')
  const own = system === undefined || system === '' ? [] : [textBlock(system)]
  const blocks = [...own, ...texts]
  return isPlain ? blocks.map(({ text }) => text).join('\n\n') : blocks
}
