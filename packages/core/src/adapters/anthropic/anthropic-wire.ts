/** How Anthropic Messages writes a history down, and how it is read. */
import { defaultPrompts } from '../../prompts.js'
import type { SurfaceView } from '../../surface.js'
import type { Wire } from '../shared/adapter.js'
import {
  argumentsObject,
  isRecord,
  readArguments,
  textOf,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import { anthropicTools } from './tools.js'
import {
  type AnthropicBlock,
  type AnthropicCall,
  type AnthropicMessage,
  type AnthropicReply,
  type AnthropicTextBlock,
  type AnthropicTool,
  type AnthropicToolResult,
  blocksOf,
  isBlank,
  isCall,
  isThinking,
  textBlock,
  WIRE,
} from './wire.js'

export interface AnthropicPrompt {
  /** Your system prompt. It is no message on this wire, so it is given beside them. */
  readonly system?: string | readonly AnthropicTextBlock[] | undefined
}

/** Its arrays are yours to read: they are sent again, and may be the ones you gave. */
export interface AnthropicParts<Message extends AnthropicMessage = AnthropicMessage> {
  readonly messages: Message[]
  /** Absent where there are none. */
  readonly tools?: AnthropicTool[]
  /** Yours, and the section behind it. Absent where there is neither. */
  readonly system?: string | AnthropicTextBlock[]
}

/** A message and the units it was read as. */
interface Source {
  readonly message: AnthropicMessage
  readonly content: unknown
  readonly blocks: readonly AnthropicBlock[]
  readonly units: readonly Unit[]
}

/** A message that is being written. */
interface Draft {
  readonly role: string
  source: Source | undefined
  readonly units: Unit[]
}

const FAILED = ['error', 'not-recorded']

const sources = new WeakMap<AnthropicMessage, Source>()
const origins = new WeakMap<Unit, Source>()

export const anthropicWire: Wire<AnthropicMessage, AnthropicReply, AnthropicParts, AnthropicPrompt> = {
  name: WIRE,
  parse: (messages) => messages.flatMap((message) => sourceOf(message).units),
  write: (units) => draft(units).flatMap(toMessage),
  callable: () => [],
  parts(messages, view, { system }) {
    const tools = anthropicTools(view)
    const prompt = withSection(system, view.section)
    return {
      messages: sendable(messages) as AnthropicMessage[],
      ...(tools.length > 0 ? { tools: tools as AnthropicTool[] } : {}),
      ...(prompt === undefined ? {} : { system: prompt as string | AnthropicTextBlock[] }),
    }
  },
  calls: ({ content }) => blocksOf(content).filter(isCall).map(toCall),
  answer(answers) {
    if (answers.length === 0) return []
    const content = answers.map(
      ({ callId, text, outcome }): AnthropicToolResult => ({
        type: 'tool_result',
        tool_use_id: callId,
        content: text,
        ...(FAILED.includes(outcome.kind) ? { is_error: true } : {}),
      }),
    )
    return [{ role: 'user', content }]
  },
}

/** Hosts move cache marks about in messages they have sent: a message whose blocks are not the same is read again. */
function sourceOf(message: AnthropicMessage): Source {
  const { content } = message
  const blocks = blocksOf(content)
  const known = sources.get(message)
  if (known && isUnchanged(known, content, blocks)) return known
  const source: Source = {
    message,
    content,
    blocks,
    units: unitsOf(message, blocks),
  }
  sources.set(message, source)
  for (const unit of source.units) origins.set(unit, source)
  return source
}

function isUnchanged(known: Source, content: unknown, blocks: readonly AnthropicBlock[]): boolean {
  return known.content === content && (typeof content === 'string' || sameItems(known.blocks, blocks))
}

function unitsOf({ role }: AnthropicMessage, blocks: readonly AnthropicBlock[]): Unit[] {
  const native = (value: unknown) => ({ wire: WIRE, value })
  if (role === 'assistant') {
    const calls = blocks.filter(isCall).map(toCall)
    return [{ kind: 'assistant', text: textOf(blocks), calls, native: native(blocks) }]
  }
  if (role === 'system') return [{ kind: 'system', text: textOf(blocks), native: native(blocks) }]
  const units = blocks.filter(isResult).map(
    (block): Unit => ({
      kind: 'answer',
      callId: String(block.tool_use_id),
      text: textOf(block.content),
      native: native(block),
    }),
  )
  const others = blocks.filter((block) => !isResult(block))
  if (others.length > 0 || units.length === 0)
    units.push({ kind: 'user', text: textOf(others), native: native(others) })
  return units
}

function isResult({ type, tool_use_id: id }: AnthropicBlock): boolean {
  return type === 'tool_result' && typeof id === 'string'
}

/** Whether all results stand before everything else, as the API wants. */
function isOrdered(blocks: readonly AnthropicBlock[]): boolean {
  const other = blocks.findIndex((block) => !isResult(block))
  return other < 0 || blocks.findLastIndex(isResult) < other
}

function toCall(block: AnthropicCall): UnitCall {
  const { id, name, input } = block
  return {
    id,
    name,
    input: typeof input === 'string' ? readArguments(input) : { value: input ?? {} },
    native: { wire: WIRE, value: block },
  }
}

/** Units to messages. What was one message stays one; results that were made up join those beside them; a note joins the user's turn it follows. */
function draft(units: readonly Unit[]): Draft[] {
  const drafts: Draft[] = []
  for (const unit of units) {
    if (unit.kind === 'note') {
      addNote(drafts, unit)
      continue
    }
    const role = unit.kind === 'answer' ? 'user' : unit.kind
    const source = origins.get(unit)
    const last = drafts.at(-1)
    if (last && role === 'user' && last.role === 'user' && belongs(unit, source, last)) {
      last.source ??= source
      last.units.push(unit)
    } else drafts.push({ role, source, units: [unit] })
  }
  return drafts
}

function belongs(unit: Unit, source: Source | undefined, last: Draft): boolean {
  if (source && source === last.source) return !last.units.includes(unit)
  return unit.kind === 'answer' && (!source || !last.source)
}

/** Before a system message, not behind it: the API wants an assistant's turn there, or the end. */
function addNote(drafts: Draft[], note: Unit): void {
  let end = drafts.length
  while (drafts[end - 1]?.role === 'system') end--
  const before = drafts[end - 1]
  if (before?.role === 'user') before.units.push(note)
  else drafts.splice(end, 0, { role: 'user', source: undefined, units: [note] })
}

function toMessage({ role, source, units }: Draft): AnthropicMessage[] {
  if (source && sameItems(units, source.units)) return [source.message]
  const content = units.flatMap(toBlocks)
  return content.length > 0 ? [{ ...source?.message, role, content }] : []
}

function toBlocks(unit: Unit): readonly AnthropicBlock[] {
  const own = unit.kind !== 'note' && unit.native?.wire === WIRE ? unit.native.value : undefined
  switch (unit.kind) {
    case 'answer':
      return [
        (own as AnthropicBlock | undefined) ?? {
          type: 'tool_result',
          tool_use_id: unit.callId,
          content: unit.text,
        },
      ]
    case 'assistant':
      return own
        ? mended(own as readonly AnthropicBlock[], unit.calls, unit.text)
        : [...said(unit.text), ...unit.calls.map((call) => fromCall(call))]
    default:
      return (own as readonly AnthropicBlock[] | undefined) ?? said(unit.text)
  }
}

function said(text: string): readonly AnthropicBlock[] {
  return text.trim() === '' ? [] : [textBlock(text)]
}

/** The blocks of an assistant's message with its calls as they are now. Thinking stays where it is; it may not come last. */
function mended(
  blocks: readonly AnthropicBlock[],
  calls: readonly UnitCall[],
  text: string,
): readonly AnthropicBlock[] {
  const byId = new Map(calls.map((call) => [call.id, call]))
  const kept = blocks.flatMap((block) => {
    const call = isCall(block) ? byId.get(block.id) : undefined
    if (call) return [fromCall(call, block)]
    return isCall(block) ? [] : [block]
  })
  const last = kept.at(-1)
  if (last && !isThinking(last)) return kept
  // Where it said nothing else, the repair has put words for what it did into its text.
  return [...kept, textBlock(textOf(kept) === '' ? text : defaultPrompts.calledSomething())]
}

function fromCall({ id, name, input, native }: UnitCall, was?: AnthropicBlock): AnthropicBlock {
  if (native?.wire === WIRE) return native.value as AnthropicBlock
  return { ...was, type: 'tool_use', id, name, input: argumentsObject(input) }
}

/**
 * What the API has answered is not always what it takes: a whole answer has fields that a message may not have, a text
 * may be blank, an input that was cut short is no object, and a reply may say nothing at all. What a host wrote may have
 * words before the results. Runs when deferral is off, too.
 */
function sendable(messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
  const made = messages.flatMap((message, index) => {
    const { role, content } = message
    const blocks = blocksOf(content)
    if (role === 'user' && !isOrdered(blocks))
      return [{ role, content: [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))] }]
    if (role !== 'assistant') return [message]
    const kept = blocks.flatMap(sendableBlock)
    if (kept.length === 0 && index < messages.length - 1) return []
    const same = !Array.isArray(content) || sameItems(kept, content)
    return same && !('type' in message) ? [message] : [{ role, content: same ? content : kept }]
  })
  return sameItems(made, messages) ? messages : made
}

function sendableBlock(block: AnthropicBlock): readonly AnthropicBlock[] {
  if (isBlank(block)) return []
  if (!isCall(block) || isRecord(block.input)) return [block]
  return [{ ...block, input: argumentsObject(toCall(block).input) }]
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

function sameItems(one: readonly unknown[], two: readonly unknown[]): boolean {
  return one.length === two.length && one.every((item, index) => item === two[index])
}
