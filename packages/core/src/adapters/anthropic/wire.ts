/** The wire of Anthropic Messages. */

import { isRecord } from '../../base/data.js'
import { assertKnownKeys, assertOneOf } from '../../base/options.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import { addOwnTools, type ProviderForm, readProviderTools } from '../shared/tools.js'
import type { ThinkingTrait, Wire } from '../shared/wire.js'
import { addCacheMarks } from './cache-marks.js'
import { checkMessages, splitSystem } from './last-checks.js'
import { normaliseMessage } from './normalise.js'
import {
  countCleared,
  findSummary,
  isSignedSummary,
  readCalls,
  readMessage,
  restoreMessages,
} from './read.js'
import { readUsage } from './stream.js'
import { writeTools } from './tools.js'
import {
  type AnthropicBlock,
  type AnthropicMessage,
  type AnthropicParts,
  type AnthropicPrompt,
  type AnthropicProviderTool,
  type AnthropicReply,
  type AnthropicTextBlock,
  type AnthropicTool,
  ID_RULES,
  isBlank,
  isThinking,
  readBlocks,
  textBlock,
  WIRE,
} from './types.js'
import { writeAnswers, writeMessages } from './write.js'

export interface AnthropicOptions {
  /**
   * Whether the server defers tools natively (`defer_loading`, `tool_reference`). Default true. Set it to false for
   * servers and models that do not.
   */
  readonly native?: boolean
  /**
   * Whether system messages between the others may add and remove tools. Default false: it is a beta that needs the
   * header `anthropic-beta: mid-conversation-tool-changes-2026-07-01`. Without it, your system messages between the
   * others are sent as user text.
   */
  readonly toolChanges?: boolean
  /** Adds cache marks to the tools, the system prompt and the last message, in addition to your own. Default: none. */
  readonly cache?: '5m' | '1h'
  /**
   * What to do with thinking after bytes that changed (a compaction, or a reply of another provider). Default
   * `strip`: it is removed permanently. `keep`: it is sent. Use `keep` for models with a fixed budget (`thinking: {
   * type: 'enabled' }`), which do not check thinking and need it in a tool loop. Also use it if your requests ask the
   * API to drop invalid thinking, with `thinking.block_binding.prefix_mismatch_behavior: 'drop_block'` and the header
   * `anthropic-beta: thinking-binding-controls-2026-08-01`.
   */
  readonly thinking?: 'strip' | 'keep'
  /**
   * Tools that Anthropic defines or runs: bash, text editor, memory, computer, web search, code execution, MCP toolsets.
   * They come first in every request. You run the calls of bash and similar tools: `run` returns them as `providerCalls`.
   */
  readonly providerTools?: readonly AnthropicProviderTool[]
}

const PROVIDER_FORM: ProviderForm = {
  names: ({ name }) => [name],
  isFunction: ({ type, input_schema: schema }) => (type ?? 'custom') === 'custom' || schema !== undefined,
  // Members of a toolset are called by their own names.
  owns: ({ native }) => native?.wire === WIRE && (native.value as AnthropicBlock).toolset_name != null,
}

/** `prompts`: the texts that Toolwell adds to a history. */
export function anthropicWire(
  prompts: Prompts,
  options: AnthropicOptions = {},
): Wire<AnthropicMessage, AnthropicReply, AnthropicParts, AnthropicPrompt> {
  assertKnownKeys(options, ['native', 'toolChanges', 'cache', 'thinking', 'providerTools'], 'anthropic')
  const { native = true, toolChanges = false, cache, thinking = 'strip' } = options
  assertOneOf('thinking', thinking, ['strip', 'keep'])
  if (cache !== undefined) assertOneOf('cache', cache, ['5m', '1h'])
  const provider = readProviderTools(options.providerTools, PROVIDER_FORM)
  const code = provider?.tools.find(({ type }) => type.startsWith('code_execution_'))?.type
  const hasSearch = provider?.tools.some(({ type }) => /^(tool_search_tool_|mcp_toolset)/.test(type)) ?? false
  const listNames = (view: SurfaceView) =>
    new Set([...[...view.tools, ...view.declaredHidden].map(({ name }) => name), ...(provider?.names ?? [])])
  return {
    name: WIRE,
    provider,
    traits: {
      form: WIRE,
      prompt: ['system'],
      native: native ? (toolChanges ? 'changes' : 'references') : undefined,
      ids: ID_RULES,
      opensWithUser: true,
      thinking: thinking === 'strip' ? boundThinking : undefined,
      findSummary,
      replacesHistory: isSignedSummary,
      runsCode: code !== undefined,
      codeReadsAlone: true,
    },
    normalise: (message) => normaliseMessage(message, prompts),
    read: (messages) => messages.flatMap(readMessage),
    restore: restoreMessages,
    write: (units, view) => writeMessages(units, listNames(view), prompts),
    parts(given, view, { system }, warn) {
      const tools = addOwnTools(provider, writeTools(view, code))
      const [leading, messages] = splitSystem(given)
      if (leading.length > 0)
        warn('system-message-moved', 'moved a leading system message into the system prompt')
      const prompt = writeSystem(system, leading, view.section)
      const limits = { known: listNames(view), systemBetween: toolChanges, keepsSearches: hasSearch }
      const parts: AnthropicParts = {
        messages: checkMessages(messages, limits, warn) as AnthropicMessage[],
        ...(tools.length > 0 ? { tools: tools as AnthropicTool[] } : {}),
        ...(prompt === undefined ? {} : { system: prompt as string | AnthropicTextBlock[] }),
      }
      return cache === undefined ? parts : addCacheMarks(parts, cache)
    },
    usage: (reply) => (isRecord(reply) ? readUsage(reply.usage) : undefined),
    countCleared,
    calls: readCalls,
    answer: (answers, view) => writeAnswers(answers, view, prompts),
  }
}

/** Builds the system prompt: the host's own, leading system messages, and the section. */
function writeSystem(
  system: AnthropicPrompt['system'],
  leading: readonly AnthropicMessage[],
  section: SurfaceView['section'],
): AnthropicPrompt['system'] {
  return withSection(withLeading(system, leading), section)
}

/** Adds the section last, so that your blocks and their cache marks keep their place. */
function withSection(
  system: AnthropicPrompt['system'],
  section: SurfaceView['section'],
): AnthropicPrompt['system'] {
  if (section === '') return system
  if (system === undefined || system === '') return section
  return typeof system === 'string' ? `${system}\n\n${section}` : [...system, textBlock(section)]
}

/** Adds leading system messages to the host's system prompt. */
function withLeading(
  system: AnthropicPrompt['system'],
  leading: readonly AnthropicMessage[],
): AnthropicPrompt['system'] {
  const texts = leading
    .flatMap(({ content }) => readBlocks(content))
    .filter((block): block is ReturnType<typeof textBlock> => block.type === 'text' && !isBlank(block))
  if (texts.length === 0) return system
  if (typeof system === 'object') return [...system, ...texts]
  const isPlain = leading.every(({ content }) => typeof content === 'string')
  const own = system === undefined || system === '' ? [] : [textBlock(system)]
  const blocks = [...own, ...texts]
  return isPlain ? blocks.map(({ text }) => text).join('\n\n') : blocks
}

/**
 * From Claude Fable 5.1 on, the API refuses a thinking block if `system`, `tools` or an earlier message changed after
 * the block was made. Blocks may be removed, oldest first (page build-with-claude/preserved-thinking).
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
