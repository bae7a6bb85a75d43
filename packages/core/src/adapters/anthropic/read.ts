/** Reads Anthropic messages as units, and the calls of a reply. */

import { isRecord } from '../../base/data.js'
import { invalid } from '../../base/options.js'
import {
  CODE,
  cutOff,
  describeReferences,
  type Native,
  plainText,
  readArguments,
  readText,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import type { OwnUnit } from '../shared/wire.js'
import { normaliseCall } from './normalise.js'
import {
  type AnthropicBlock,
  type AnthropicCall,
  type AnthropicMessage,
  type AnthropicReply,
  isCall,
  isResult,
  isThinking,
  readBlocks,
  readReferences,
  WIRE,
} from './types.js'

/** A message and its units. */
export interface Source {
  readonly message: AnthropicMessage
  readonly units: readonly Unit[]
}

/** The stop reasons of a reply that reached a limit. */
const CUT_SHORT = ['max_tokens', 'model_context_window_exceeded']

const origins = new WeakMap<Unit, Source>()

/** The message of a unit that was read in this process. */
export function findSource(unit: Unit): Source | undefined {
  return origins.get(unit)
}

export function readMessage(message: AnthropicMessage): readonly Unit[] {
  const source = { message, units: readUnits(message) }
  for (const unit of source.units) origins.set(unit, source)
  return source.units
}

function readUnits({ role, content }: AnthropicMessage): Unit[] {
  const blocks = readBlocks(content)
  const native = (value: unknown, isRest = false): Native => ({
    wire: WIRE,
    value,
    ...(isRest ? { form: 'rest' } : typeof content === 'string' ? { form: 'text' } : {}),
  })
  if (role === 'assistant') {
    const calls = blocks.filter(isCall).map(toCall)
    const more = blocks.some((block) => block.type !== 'text' && !isCall(block) && !isThinking(block))
    return [
      {
        kind: 'assistant',
        text: blocks.map(readBlockText).join(''),
        calls,
        native: native(blocks),
        ...(more ? { more: true as const } : {}),
      },
    ]
  }
  if (role === 'system') return [{ kind: 'system', text: readText(blocks), native: native(blocks) }]
  const units = blocks.filter(isResult).map((block, index): Unit => {
    const loaded = readReferences(block.content)
    return {
      kind: 'answer',
      callId: String(block.tool_use_id),
      text: loaded.length > 0 ? describeReferences(loaded) : readText(block.content),
      ...(loaded.length > 0 ? { loaded } : {}),
      native: native(block, index > 0),
    }
  })
  const others = blocks.filter((block) => !isResult(block))
  if (others.length > 0 || units.length === 0)
    units.push({ kind: 'user', text: readText(others), native: native(others, units.length > 0) })
  return units
}

/** A summary of the API is a paragraph for other providers. */
function readBlockText(block: AnthropicBlock, index: number, { length }: readonly AnthropicBlock[]): string {
  if (!isSummary(block)) return readText([block])
  return `${String(block.content)}${index < length - 1 ? '\n\n' : ''}`
}

/** Without content, the compaction failed, and the API ignores the block (SDK type `BetaCompactionBlock`). */
function isSummary({ type, content }: AnthropicBlock): boolean {
  return type === 'compaction' && typeof content === 'string'
}

/** Finds a compaction block. With `tool_changes`, the API restores the tools of the compacted range. */
export function findSummary(unit: Unit): 'plain' | 'tools' | undefined {
  if (unit.kind !== 'assistant' || unit.native?.wire !== WIRE) return undefined
  const summary = (unit.native.value as readonly AnthropicBlock[]).findLast(isSummary)
  return summary && (Array.isArray(summary.tool_changes) ? 'tools' : 'plain')
}

/** The API takes a signed block only first, in place of the messages that it summarises (SDK type `BetaCompactionConfig`). */
export function isSignedSummary(unit: Unit): boolean {
  if (unit.kind !== 'assistant' || unit.native?.wire !== WIRE) return false
  const [first] = unit.native.value as readonly AnthropicBlock[]
  return first !== undefined && isSummary(first) && typeof first.signature === 'string'
}

/** Reads how many tool results the edit `clear_tool_uses` hid from the model. */
export function countCleared({ context_management: report }: AnthropicReply): number {
  const edits = isRecord(report) && Array.isArray(report.applied_edits) ? report.applied_edits : []
  const counts = edits.map((edit: unknown) => (isRecord(edit) ? Number(edit.cleared_tool_uses ?? 0) : 0))
  return Math.max(0, ...counts)
}

export function restoreMessages(units: readonly OwnUnit[]): readonly AnthropicMessage[] {
  const messages: AnthropicMessage[] = []
  let open: AnthropicBlock[] = []
  for (const unit of units) {
    const { kind, text, native } = unit
    const known = origins.get(unit)
    const blocks = [native.value as AnthropicBlock | readonly AnthropicBlock[]].flat()
    if (native.form === 'rest') {
      if (!known) open.push(...blocks)
      continue
    }
    open = blocks
    const role = kind === 'answer' ? 'user' : kind
    messages.push(known?.message ?? { role, content: native.form === 'text' ? text : open })
  }
  return messages
}

/**
 * Reads the calls of a reply in the same form as the history: a call without an id gets an answer too. A call that
 * was cut off does not run.
 */
export function readCalls(reply: AnthropicReply): readonly UnitCall[] {
  if (!isRecord(reply) || !('content' in reply))
    throw invalid('reply', 'run takes the message of the API, or any object with its role and content.')
  const { content, stop_reason: reason } = reply
  const blocks = readBlocks(content)
  const cut = CUT_SHORT.includes(reason ?? '') ? blocks.at(-1) : undefined
  return blocks.flatMap((block) => {
    if (block.type !== 'tool_use' || typeof block.name !== 'string') return []
    const call = toCall(normaliseCall(block))
    return block === cut ? [{ ...call, input: cutOff(plainText(block.input)) }] : [call]
  })
}

function toCall(block: AnthropicCall): UnitCall {
  const { id, name, input, caller } = block
  return {
    ...(isRecord(caller) && caller.type !== 'direct' ? { fromCode: plainText(caller.tool_id) || CODE } : {}),
    id,
    name,
    input: typeof input === 'string' ? readArguments(input) : { value: input ?? {} },
    native: { wire: WIRE, value: block },
  }
}
