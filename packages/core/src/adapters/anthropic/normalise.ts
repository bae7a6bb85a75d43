/** Converts messages that the API refuses to the nearest form that it accepts, without losing content. */

import { isRecord } from '../../base/data.js'
import type { Prompts } from '../../surface/prompts.js'
import { hasSameItems, plainText, textUnlessEmpty } from '../shared/thread.js'
import {
  type AnthropicBlock,
  type AnthropicCall,
  type AnthropicMessage,
  isBlank,
  isCall,
  isThinking,
  textBlocks,
} from './types.js'

const ROLES = ['user', 'assistant', 'system']
const IN_RESULT = ['text', 'image', 'search_result', 'document', 'tool_reference', 'browser_state']

/**
 * Returns the same message if nothing changed, nothing if it is empty, and several if it mixes content of different
 * roles.
 */
export function normaliseMessage(message: AnthropicMessage, prompts: Prompts): readonly AnthropicMessage[] {
  const { role, content } = message
  const speaker = ROLES.includes(role) ? role : 'user'
  const given = Array.isArray(content) ? content : undefined
  const blocks = given
    ? given.flatMap((block) => normaliseBlock(block, speaker, prompts))
    : textBlocks(plainText(content))
  const turns = bySpeaker(blocks, speaker)
  const [first = { role: speaker, blocks: [] }, ...others] = turns
  const same = given ? hasSameItems(blocks, given) : typeof content === 'string'
  // Leave an empty message of the model to the writer: it is allowed at the end.
  if (first.blocks.length === 0 && speaker !== 'assistant') return role === 'system' ? [message] : []
  if (others.length === 0 && same && first.role === role) return [message]
  return turns.length === 0
    ? [{ ...message, role: speaker, content: [] }]
    : turns.map((turn) => ({ ...message, role: turn.role, content: turn.blocks }))
}

interface Turn {
  readonly role: string
  readonly blocks: AnthropicBlock[]
}

/** Only the model calls tools and only the user answers, whatever the role is. */
function bySpeaker(blocks: readonly AnthropicBlock[], role: string): readonly Turn[] {
  const turns: Turn[] = []
  for (const block of blocks) {
    const speaker = block.type === 'tool_use' ? 'assistant' : block.type === 'tool_result' ? 'user' : role
    const last = turns.at(-1)
    if (last?.role === speaker) last.blocks.push(block)
    else turns.push({ role: speaker, blocks: [block] })
  }
  return turns
}

function normaliseBlock(block: unknown, role: string, prompts: Prompts): readonly AnthropicBlock[] {
  if (!isRecord(block)) return writeAsText(block)
  const { type, text } = block
  if (typeof type !== 'string') return typeof text === 'string' ? textBlocks(text) : writeAsText(block)
  if (type === 'text' && typeof text !== 'string') return textBlocks(plainText(text))
  const normal = block as AnthropicBlock
  if (type === 'tool_use') return [normaliseCall(normal)]
  if (type === 'tool_result') return normaliseResult(normal, prompts)
  // Thinking of another library, or of a reply that was cut. The API accepts thinking only with its signature.
  if (role !== 'user' && isThinking(normal) && !isSealed(normal)) return []
  if (role !== 'user') return [normal]
  // A user message may keep only the text of the model's own blocks.
  if (isThinking(normal)) return textBlocks(plainText(normal.thinking))
  return isBlank(normal) ? [] : [normal]
}

function isSealed({ type, thinking, signature, data }: AnthropicBlock): boolean {
  return type === 'thinking'
    ? typeof thinking === 'string' && typeof signature === 'string'
    : typeof data === 'string'
}

/** Converts a value that is not a block. */
function writeAsText(value: unknown): readonly AnthropicBlock[] {
  return textBlocks(textUnlessEmpty(value))
}

/** Leaves an empty id or name for the repair of the history. */
export function normaliseCall(block: AnthropicBlock): AnthropicCall {
  if (isCall(block)) return block
  const { id, name } = block
  return { ...block, id: plainText(id), name: plainText(name) }
}

/** References must be alone in their result: text follows the result. */
function normaliseResult(block: AnthropicBlock, prompts: Prompts): readonly AnthropicBlock[] {
  const { tool_use_id: id, content, is_error: failed, ...others } = block
  const parts = Array.isArray(content) ? content.flatMap(resultParts) : undefined
  const references = parts?.filter(({ type }) => type === 'tool_reference') ?? []
  const words = references.length > 0 ? (parts ?? []).filter((part) => !references.includes(part)) : []
  const kept = words.length > 0 ? references : parts
  const same =
    typeof id === 'string' &&
    (failed === undefined || typeof failed === 'boolean') &&
    (kept
      ? kept.length > 0 && hasSameItems(kept, content as unknown[])
      : content === undefined || typeof content === 'string') &&
    !(failed && (content === undefined || content === ''))
  if (same) return [block]
  const whole = kept ? (kept.length > 0 ? kept : '') : plainText(content)
  const shown = whole === '' && failed ? prompts.noOutput() : whole
  const result = {
    ...others,
    tool_use_id: plainText(id),
    ...(shown === '' ? {} : { content: shown }),
    ...(failed ? { is_error: true } : {}),
  }
  return [result as AnthropicBlock, ...words]
}

/** Unknown types pass, unless they are plain text in another provider's form. */
function resultParts(part: unknown): readonly AnthropicBlock[] {
  if (!isRecord(part)) return writeAsText(part)
  const { type, text } = part
  if (typeof type === 'string' && IN_RESULT.includes(type) && (type !== 'text' || typeof text === 'string'))
    return isBlank(part as AnthropicBlock) ? [] : [part as AnthropicBlock]
  if (typeof text === 'string') return textBlocks(text)
  return typeof type === 'string' && type !== 'text' ? [part as AnthropicBlock] : writeAsText(text ?? part)
}
