/**
 * Checks preserved thinking: a thinking block is bound to everything before it. Rules from the pages
 * build-with-claude/preserved-thinking and build-with-claude/thinking ("Only in the conversation that produced it") of
 * platform.claude.com:
 *
 * - The signature covers `system`, `tools` and the messages before the block, but not earlier thinking, cache marks or
 *   parameters such as `max_tokens`.
 * - The oldest thinking blocks may be omitted. If one between two others is missing, every later block is invalid.
 * - `thinking.block_binding.prefix_mismatch_behavior`: `error` (the default) refuses the request with a 400, `drop_block`
 *   drops invalid blocks and lists them in `input_transformations`.
 * - A signature of another server is always refused.
 * - The models that check have no fixed budget: `thinking: { type: 'enabled' }` is refused (models/fable-5/migration-guide).
 *   The rule that a tool loop begins with thinking belongs to such a budget, so it does not apply to them.
 *
 * Open questions are read strictly: the order of tools and of keys counts. A deferred tool counts where a reference
 * brings it in, as for the prompt cache, not in `tools` (build-with-claude/compaction-thinking-blocks).
 */
import { createHash } from 'node:crypto'
import { type Found, isObject } from '../shared/guards.js'
import {
  type AnthropicBlock,
  type AnthropicRequestBody,
  readBlocks,
  violation,
  wrongValue,
} from './request.js'
import { renderPieces, speakerLine } from './usage.js'

export interface BindingOptions {
  readonly boundThinking?: boolean
}

/** Models that the page names, and later ones. */
const BOUND = /claude-(?:(?:fable|mythos)-5-[1-9]|(?:opus|sonnet|haiku)-5-[5-9])/
const SEAL = /^scripted\.(\w+)\.(\w+)\.(\w+)$/
const BEHAVIOURS = ['error', 'drop_block']
const BINDABLE = ['adaptive', 'enabled']

/** A thinking block that the server refuses. */
interface Fault {
  readonly at: string
  readonly reason: 'unreadable' | 'prefix_binding_mismatch'
}

/** Checks the shape of `thinking`, and the older rule for a fixed thinking budget. */
export function thinkingViolation(body: AnthropicRequestBody, options: BindingOptions): Found {
  const { thinking } = body
  if (!isObject(thinking)) return undefined
  const { type, block_binding: binding } = thinking
  if (type === 'enabled' && isBound(body, options)) {
    const reason =
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and ' +
      '"output_config.effort" to control thinking behavior.'
    return violation('thinking.type', reason, 'fixed_budget')
  }
  if (binding !== undefined && binding !== null) {
    if (!BINDABLE.includes(String(type))) {
      const reason = 'Extra inputs are not permitted'
      return violation(`thinking.${String(type)}.block_binding`, reason, 'extra_forbidden')
    }
    const wanted = isObject(binding) ? (binding.prefix_mismatch_behavior ?? 'error') : undefined
    if (!BEHAVIOURS.includes(String(wanted))) {
      return wrongValue('thinking.block_binding.prefix_mismatch_behavior', BEHAVIOURS)
    }
  }
  return type === 'enabled' ? loopViolation(body) : undefined
}

/** build-with-claude/extended-thinking: in a tool loop, the last assistant turn begins with its thinking. */
function loopViolation({ messages }: AnthropicRequestBody): Found {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const answers = messages.slice(last + 1).flatMap(({ content }) => readBlocks(content))
  if (last < 0 || !answers.some(({ type }) => type === 'tool_result')) return undefined
  let first = last
  while (messages[first - 1]?.role === 'assistant') first--
  const found = readBlocks(messages[first]?.content)[0]?.type
  if (found === 'thinking' || found === 'redacted_thinking') return undefined
  const reason =
    `Expected \`thinking\` or \`redacted_thinking\`, but found \`${found}\`. When \`thinking\` is enabled, a final ` +
    '`assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).'
  return violation(`messages.${first}.content.0.type`, reason, 'loop_without_thinking')
}

export function bindingViolation(body: AnthropicRequestBody, options: BindingOptions): Found {
  const faults = faultsIn(body, options)
  const forged = faults.find(({ reason }) => reason === 'unreadable')
  const fault = forged ?? (drops(body) ? undefined : faults[0])
  if (!fault) return undefined
  const opening = 'Invalid `signature` in `thinking` block.'
  if (fault === forged) return violation(fault.at, opening, 'invalid_signature')
  const reason =
    `${opening} The block is bound to a different conversation. Remove the block, or set ` +
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
  return violation(fault.at, reason, 'prefix_binding_mismatch')
}

/** The body as the model sees it, without blocks that the server may drop. */
export function dropInvalidThinking(
  body: AnthropicRequestBody,
  options: BindingOptions,
): AnthropicRequestBody {
  const dropped = new Set(faultsIn(body, options).map(({ at }) => at))
  if (dropped.size === 0) return body
  const messages = body.messages.map((message, index) => {
    const blocks = readBlocks(message.content)
    const kept = blocks.filter((_, place) => !dropped.has(`messages.${index}.content.${place}`))
    return kept.length === blocks.length ? message : { ...message, content: kept }
  })
  return { ...body, messages }
}

/** The dropped blocks, if the request asks for the report. */
export function listTransformations(
  body: AnthropicRequestBody,
  options: BindingOptions,
): readonly object[] | undefined {
  if (!isObject(body.thinking) || !isObject(body.thinking.block_binding)) return undefined
  return faultsIn(body, options).map(({ at, reason }) => ({ type: 'thinking_dropped', path: at, reason }))
}

/** Signature of the thinking in answer to this request. */
export function seal(body: AnthropicRequestBody, thinking: string, options: BindingOptions): string {
  const seen = dropInvalidThinking(body, options)
  let text = ''
  let before = ''
  for (const piece of renderPieces(seen)) {
    if (isThought(piece.source)) before = sealOf(piece.source)
    else text += piece.text
  }
  if (seen.messages.at(-1)?.role !== 'assistant') text += speakerLine('assistant')
  return `scripted.${hash(text)}.${hash(before)}.${hash(thinking)}`
}

function isBound({ model }: AnthropicRequestBody, { boundThinking }: BindingOptions): boolean {
  return boundThinking ?? BOUND.test(model)
}

function faultsIn(body: AnthropicRequestBody, options: BindingOptions): readonly Fault[] {
  if (!isBound(body, options)) return []
  const faults: Fault[] = []
  let text = ''
  /** The last valid block. Blocks before the first one may be missing. */
  let last: string | undefined
  for (const { text: line, source, at = '' } of renderPieces(body)) {
    if (!isThought(source)) {
      text += line
      continue
    }
    const [, prefix, before, own] = SEAL.exec(sealOf(source)) ?? []
    if (prefix === undefined || (source.type === 'thinking' && own !== hash(String(source.thinking)))) {
      faults.push({ at, reason: 'unreadable' })
    } else if (prefix !== hash(text) || (last !== undefined && before !== hash(last))) {
      faults.push({ at, reason: 'prefix_binding_mismatch' })
    } else last = sealOf(source)
  }
  return faults
}

function drops({ thinking }: AnthropicRequestBody): boolean {
  const binding = isObject(thinking) ? thinking.block_binding : undefined
  return isObject(binding) && binding.prefix_mismatch_behavior === 'drop_block'
}

function isThought(block: Readonly<Record<string, unknown>>): block is AnthropicBlock {
  return block.type === 'thinking' || block.type === 'redacted_thinking'
}

function sealOf(block: AnthropicBlock): string {
  return String(block.type === 'thinking' ? block.signature : block.data)
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
