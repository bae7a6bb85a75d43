/** Writes units as Anthropic messages, and answers of calls as blocks. */

import { isRecord } from '../../base/data.js'
import type { MediaPart } from '../../result/part.js'
import { acceptsMedia } from '../../result/wire-media.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { WireTool } from '../../tool/wire-tool.js'
import { listRevealed } from '../../turn/load-found-tools.js'
import type { CallAnswer } from '../../turn/run.js'
import { writeParts } from '../shared/media.js'
import { argumentsObject, hasSameItems, type Unit, type UnitCall } from '../shared/thread.js'
import { findSource, type Source } from './read.js'
import {
  type AnthropicBlock,
  type AnthropicMediaBlock,
  type AnthropicMessage,
  type AnthropicToolResult,
  createReference,
  isCall,
  isThinking,
  textBlock,
  textBlocks,
  WIRE,
} from './types.js'

/** A message while it is written. */
interface Draft {
  readonly role: string
  source: Source | undefined
  /** The units of its source, until another unit joins. */
  units: readonly Unit[]
  /** Content that belongs to no unit. */
  readonly blocks?: readonly AnthropicBlock[]
}

/** `known`: every name that a reference may have. */
export function writeMessages(
  units: readonly Unit[],
  known: ReadonlySet<string>,
  prompts: Prompts,
): AnthropicMessage[] {
  const messages: AnthropicMessage[] = []
  for (const each of groupUnits(units, known)) {
    const message = toMessage(each, prompts)
    if (message) messages.push(message)
  }
  return messages
}

/**
 * Groups units into messages. Units of one message stay together, added results join the results next to them, and a
 * note joins the user turn before it.
 */
function groupUnits(units: readonly Unit[], known: ReadonlySet<string>): Draft[] {
  const drafts: Draft[] = []
  let changes: AnthropicBlock[] = []
  // A system message must come right before the model's next turn, or last.
  const flush = () => {
    if (changes.length > 0) drafts.push({ role: 'system', source: undefined, units: [], blocks: changes })
    changes = []
  }
  for (const unit of units) {
    if (unit.kind === 'note') {
      if (unit.text !== '') addNote(drafts, unit)
      changes.push(...writeChanges(unit, known))
      continue
    }
    if (unit.kind === 'assistant') flush()
    const role = chooseRole(unit)
    const source = findSource(unit)
    const last = drafts.at(-1)
    if (last && role === 'user' && last.role === 'user' && belongs(unit, source, last)) {
      last.source ??= source
      last.units = [...last.units, unit]
    } else drafts.push({ role, source, units: source?.units.length === 1 ? source.units : [unit] })
  }
  flush()
  return drafts
}

/** Blocks with which the API reveals or hides tools at this place. */
function writeChanges(note: Extract<Unit, { kind: 'note' }>, known: ReadonlySet<string>): AnthropicBlock[] {
  const change = (type: string) => (name: string) =>
    known.has(name) ? [{ type, tool: { type: 'tool_reference', name } }] : []
  return [
    ...(note.adds ?? []).flatMap(({ name }) => change('tool_addition')(name)),
    ...(note.removes ?? []).flatMap(change('tool_removal')),
  ]
}

/** A system message of another wire becomes user text, because few models accept a system message there. */
function chooseRole(unit: Exclude<Unit, { kind: 'note' }>): 'user' | 'assistant' | 'system' {
  if (unit.kind === 'answer') return 'user'
  return unit.kind === 'system' && unit.native?.wire !== WIRE ? 'user' : unit.kind
}

function belongs(unit: Unit, source: Source | undefined, last: Draft): boolean {
  if (source && source === last.source) return !last.units.includes(unit)
  return unit.kind === 'answer' && (!source || !last.source)
}

/** The note goes before a system message: after it, the API accepts only the model's turn or the end. */
function addNote(drafts: Draft[], note: Unit): void {
  let end = drafts.length
  while (drafts[end - 1]?.role === 'system') end--
  // Leading system messages are the system prompt.
  if (end === 0) end = drafts.length
  const before = drafts[end - 1]
  if (before?.role === 'user') before.units = [...before.units, note]
  else drafts.splice(end, 0, { role: 'user', source: undefined, units: [note] })
}

/** Undefined if the message would be empty. */
function toMessage(
  { role, source, units, blocks = [] }: Draft,
  prompts: Prompts,
): AnthropicMessage | undefined {
  if (source && (units === source.units || hasSameItems(units, source.units))) return source.message
  const content = [...blocks, ...units.flatMap((unit) => toBlocks(unit, prompts))]
  return content.length > 0 ? { ...source?.message, role, content } : undefined
}

function toBlocks(unit: Unit, prompts: Prompts): readonly AnthropicBlock[] {
  const own = unit.kind !== 'note' && unit.native?.wire === WIRE ? unit.native.value : undefined
  switch (unit.kind) {
    case 'answer': {
      const content = unit.loaded
        ? unit.loaded.map(createReference)
        : writeContent(unit.text, unit.parts, false, prompts)
      const result = { type: 'tool_result', tool_use_id: unit.callId, content }
      return [(own as AnthropicBlock | undefined) ?? result]
    }
    case 'assistant':
      return own
        ? rewriteBlocks(own as readonly AnthropicBlock[], unit)
        : [...textBlocks(unit.text), ...unit.calls.map((call) => fromCall(call))]
    default:
      return (own as readonly AnthropicBlock[] | undefined) ?? textBlocks(unit.text)
  }
}

/**
 * Rewrites the blocks of a reply with its current calls, without interrupted code. Thinking must not come last: it led
 * to nothing.
 */
function rewriteBlocks(
  blocks: readonly AnthropicBlock[],
  { calls, interrupted }: Extract<Unit, { kind: 'assistant' }>,
): readonly AnthropicBlock[] {
  const byId = new Map(calls.map((call) => [call.id, call]))
  const kept = blocks.flatMap((block) => {
    const call = isCall(block) ? byId.get(block.id) : undefined
    if (call) return [fromCall(call, block)]
    return isCall(block) || interrupted?.has(String(block.id)) ? [] : [block]
  })
  return kept.slice(0, kept.findLastIndex((block) => !isThinking(block)) + 1)
}

function fromCall({ id, name, input, native, fromCode }: UnitCall, was?: AnthropicBlock): AnthropicBlock {
  if (native?.wire === WIRE) return native.value as AnthropicBlock
  const { caller, ...rest }: Partial<AnthropicBlock> = was ?? {}
  // Code does not call the search tool that carries its call as text.
  const isLost = isRecord(caller) && caller.type !== 'direct' && fromCode === undefined
  const kept = isLost ? rest : was
  return { ...kept, type: 'tool_use', id, name, input: argumentsObject(input) }
}

const FAILED = ['error', 'timed-out', 'already-started', 'not-recorded']

export function writeAnswers(
  answers: readonly CallAnswer[],
  view: SurfaceView,
  prompts: Prompts,
): AnthropicMessage[] {
  if (answers.length === 0) return []
  const results = answers.map((answer) => writeResult(answer, view, prompts))
  // The API accepts no text next to references: the text of a search follows all results.
  const rest = answers.flatMap((answer) =>
    findReferred(answer, view).length > 0 && answer.text !== ''
      ? [textBlock(prompts.frame({ body: answer.text }))]
      : [],
  )
  return [{ role: 'user', content: [...results, ...rest] }]
}

/** The tools that an answer refers to. */
function findReferred({ outcome }: CallAnswer, view: SurfaceView): readonly WireTool[] {
  return view.delivery === 'native' && outcome.kind === 'search' ? listRevealed(outcome.result) : []
}

function writeResult(answer: CallAnswer, view: SurfaceView, prompts: Prompts): AnthropicToolResult {
  const { callId, text, outcome, parts } = answer
  const tools = findReferred(answer, view)
  const failed = FAILED.includes(outcome.kind)
  return {
    type: 'tool_result',
    tool_use_id: callId,
    content:
      tools.length > 0
        ? tools.map(({ name }) => createReference(name))
        : writeContent(text, parts, failed, prompts),
    ...(failed ? { is_error: true } : {}),
  }
}

/** The API accepts only text in an error. */
function writeContent(
  text: string,
  parts: CallAnswer['parts'],
  failed: boolean,
  prompts: Prompts,
): AnthropicToolResult['content'] {
  if (!parts || failed) return text
  const made = writeParts(parts, mediaBlock, prompts)
  if (made.every((each) => typeof each === 'string')) return made.join('\n')
  return made.map((each) => (typeof each === 'string' ? textBlock(each) : each))
}

function mediaBlock(part: MediaPart): AnthropicMediaBlock | undefined {
  if (!acceptsMedia(WIRE, part)) return undefined
  const { type, mediaType, data, name } = part
  if (type === 'image') return { type, source: { type: 'base64', media_type: mediaType as never, data } }
  const source = { type: 'base64', media_type: 'application/pdf', data } as const
  return { type: 'document', source, ...(name === undefined ? {} : { title: name }) }
}
