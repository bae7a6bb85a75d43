/** Anthropic Messages as a wire: what it can do, and its parts put together. */

import { isRecord } from '../../base/guards.js'
import { assertKnownKeys, assertOneOf } from '../../base/options.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { ThinkingTrait } from '../shared/thinking.js'
import type { Wire } from '../shared/wire.js'
import { withMarks } from './cache-marks.js'
import { sendable, splitSystem } from './last-checks.js'
import { normaliseMessage } from './normalise.js'
import { callsOf, messagesOf, readMessage } from './read.js'
import { readUsage } from './stream.js'
import { anthropicTools } from './tools.js'
import {
  type AnthropicBlock,
  type AnthropicMessage,
  type AnthropicParts,
  type AnthropicPrompt,
  type AnthropicReply,
  type AnthropicTextBlock,
  type AnthropicTool,
  blocksOf,
  ID_RULES,
  isBlank,
  isThinking,
  textBlock,
  WIRE,
} from './types.js'
import { writeAnswers, writeMessages } from './write.js'

export interface AnthropicOptions {
  /** Whether the server defers tools natively (`defer_loading`, `tool_reference`). Default true; false for servers and models that do not. */
  readonly native?: boolean
  /**
   * Whether tools may be added and removed by system messages between the others. Default false: it is a beta, for which
   * the request needs the header `anthropic-beta: mid-conversation-tool-changes-2026-07-01`. Without it, a system message
   * of yours between the others is sent as the user's words.
   */
  readonly toolChanges?: boolean
  /** Marks the tools, the system prompt and the last message for the prompt cache, besides your own marks. Default: none. */
  readonly cache?: '5m' | '1h'
  /**
   * What becomes of thinking behind bytes that have changed (a compaction, another provider in between). Default `strip`: it
   * is left out for good. `keep`: all of it is sent. For models with a fixed budget (`thinking: { type: 'enabled' }`), which
   * do not check it and want it in a tool loop; and where your requests ask the API to drop it, by
   * `thinking.block_binding.prefix_mismatch_behavior: 'drop_block'` and the header
   * `anthropic-beta: thinking-binding-controls-2026-08-01`.
   */
  readonly thinking?: 'strip' | 'keep'
}

/** `prompts`: what has to be said in a history, in the host's words. */
export function anthropicWire(
  prompts: Prompts,
  options: AnthropicOptions = {},
): Wire<AnthropicMessage, AnthropicReply, AnthropicParts, AnthropicPrompt> {
  assertKnownKeys(options, ['native', 'toolChanges', 'cache', 'thinking'], 'anthropic')
  const { native = true, toolChanges = false, cache, thinking = 'strip' } = options
  assertOneOf('thinking', thinking, ['strip', 'keep'])
  if (cache !== undefined) assertOneOf('cache', cache, ['5m', '1h'])
  return {
    name: WIRE,
    traits: {
      form: WIRE,
      prompt: ['system'],
      native: native ? (toolChanges ? 'changes' : 'references') : undefined,
      ids: ID_RULES,
      opensWithUser: true,
      thinking: thinking === 'strip' ? boundThinking : undefined,
    },
    normalise: (message) => normaliseMessage(message, prompts),
    read: (messages) => messages.flatMap(readMessage),
    restore: messagesOf,
    write: (units, view) => writeMessages(units, namesIn(view), prompts),
    parts(given, view, { system }, warn) {
      const tools = anthropicTools(view)
      const [leading, messages] = splitSystem(given)
      if (leading.length > 0)
        warn('system-message-moved', 'moved a system message that came first into the system prompt')
      const prompt = systemOf(system, leading, view.section)
      const limits = { known: namesIn(view), systemBetween: toolChanges }
      const parts: AnthropicParts = {
        messages: sendable(messages, limits, warn) as AnthropicMessage[],
        ...(tools.length > 0 ? { tools: tools as AnthropicTool[] } : {}),
        ...(prompt === undefined ? {} : { system: prompt as string | AnthropicTextBlock[] }),
      }
      return cache === undefined ? parts : withMarks(parts, cache)
    },
    usage: (reply) => (isRecord(reply) ? readUsage(reply.usage) : undefined),
    calls: callsOf,
    answer: (answers, view) => writeAnswers(answers, view, prompts),
  }
}

/** Every name that a reference may have. */
function namesIn(view: SurfaceView): ReadonlySet<string> {
  return new Set([...view.tools, ...view.declaredHidden].map(({ name }) => name))
}

// The system prompt, which is no message on this wire: the host's own, what came as messages, and the section.

/** The prompt as it is sent. */
function systemOf(
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

// Thinking blocks in units of this wire.

/**
 * From Claude Fable 5.1 on, the API refuses a thinking block when `system`, `tools` or an earlier message is not what it
 * was when the block was made; blocks may be left out from the oldest on (page build-with-claude/preserved-thinking).
 */
const boundThinking: ThinkingTrait = {
  holds: (unit) =>
    unit.kind === 'assistant' &&
    unit.native?.wire === WIRE &&
    (unit.native.value as readonly AnthropicBlock[]).some(isThinking),
  without: (unit) => {
    if (unit.kind !== 'assistant' || !unit.native) return unit
    const blocks = unit.native.value as readonly AnthropicBlock[]
    return { ...unit, native: { ...unit.native, value: blocks.filter((block) => !isThinking(block)) } }
  },
}
