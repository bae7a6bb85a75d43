/**
 * Preserved thinking, as the strict endpoint checks it: a thinking block is bound to what stood before it when it was
 * made. From the pages build-with-claude/preserved-thinking and build-with-claude/thinking ("Only in the conversation
 * that produced it") of platform.claude.com:
 *
 * - The signature covers `system`, `tools` and the messages before the block. Earlier thinking is not part of that.
 *   Cache marks are not either, nor parameters such as `max_tokens`.
 * - Thinking may be left out from the oldest on. Left out between two others, it makes every later block invalid.
 * - `thinking.block_binding.prefix_mismatch_behavior`: `error` (the default) refuses the request with a 400, `drop_block`
 *   drops what is invalid and says so in `input_transformations`.
 * - A seal that is not the server's own is refused whatever the request asks for.
 * - The models that check have no fixed budget: `thinking: { type: 'enabled' }` is refused (models/fable-5/migration-guide).
 *   So the rule that a tool loop begins with thinking, which goes with such a budget, is none of theirs.
 *
 * What the pages leave open is read strictly: tools count in the order in which they are sent, and keys in theirs. A
 * deferred tool counts where a reference brings it in, as it does for the prompt cache; in `tools` it does not count
 * (build-with-claude/compaction-thinking-blocks).
 */

import { createHash } from 'node:crypto'
import { type Found, isObject } from '../shared/guards.js'
import { type AnthropicBlock, type AnthropicRequestBody, blocksOf, violation, wrongValue } from './request.js'
import { piecesOf, speakerLine } from './usage.js'

export interface BindingOptions {
  readonly boundThinking?: boolean
}

/** The models that the page names, and what follows them. */
const BOUND = /claude-(?:(?:fable|mythos)-5-[1-9]|(?:opus|sonnet|haiku)-5-[5-9])/
const SEAL = /^scripted\.(\w+)\.(\w+)\.(\w+)$/
const BEHAVIOURS = ['error', 'drop_block']
const BINDABLE = ['adaptive', 'enabled']

/** A block that the server does not take back as it is. */
interface Fault {
  readonly at: string
  readonly reason: 'unreadable' | 'prefix_binding_mismatch'
}

/** What the request asks for: its shape, and the oldest rule about thinking, for a fixed budget of it. */
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

/** build-with-claude/extended-thinking: within a tool loop, the model's last turn begins with what it thought. */
function loopViolation({ messages }: AnthropicRequestBody): Found {
  const last = messages.findLastIndex(({ role }) => role === 'assistant')
  const answers = messages.slice(last + 1).flatMap(({ content }) => blocksOf(content))
  if (last < 0 || !answers.some(({ type }) => type === 'tool_result')) return undefined
  let first = last
  while (messages[first - 1]?.role === 'assistant') first--
  const found = blocksOf(messages[first]?.content)[0]?.type
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

/** The body as the model gets it: without what the request lets the server drop. */
export function asSeen(body: AnthropicRequestBody, options: BindingOptions): AnthropicRequestBody {
  const dropped = new Set(faultsIn(body, options).map(({ at }) => at))
  if (dropped.size === 0) return body
  const messages = body.messages.map((message, index) => {
    const blocks = blocksOf(message.content)
    const kept = blocks.filter((_, place) => !dropped.has(`messages.${index}.content.${place}`))
    return kept.length === blocks.length ? message : { ...message, content: kept }
  })
  return { ...body, messages }
}

/** What was dropped, where the request asks for the report. */
export function transformationsOf(
  body: AnthropicRequestBody,
  options: BindingOptions,
): readonly object[] | undefined {
  if (!isObject(body.thinking) || !isObject(body.thinking.block_binding)) return undefined
  return faultsIn(body, options).map(({ at, reason }) => ({ type: 'thinking_dropped', path: at, reason }))
}

/** The signature of what the model thinks in answer to this request. */
export function seal(body: AnthropicRequestBody, thinking: string, options: BindingOptions): string {
  const seen = asSeen(body, options)
  let text = ''
  let before = ''
  for (const piece of piecesOf(seen)) {
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
  /** The last block that is valid. The first one may have lost those before it. */
  let last: string | undefined
  for (const { text: line, source, at = '' } of piecesOf(body)) {
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
