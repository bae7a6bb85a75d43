/** How Anthropic Messages writes a history down, and how it is read. */

import { assertKnownKeys, assertOneOf, invalid } from '../../base/options.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { WireTool } from '../../tool/wire-tool.js'
import type { CallAnswer } from '../../turn/run.js'
import { revealed } from '../../turn/search-call/render.js'
import type { OwnUnit, Wire } from '../shared/adapter.js'
import { plainText } from '../shared/plain-text.js'
import { createReadings } from '../shared/readings.js'
import { sameItems } from '../shared/same-items.js'
import {
  argumentsObject,
  cutOff,
  isRecord,
  type Native,
  readArguments,
  referencesText,
  textOf,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import { withMarks } from './cache-marks.js'
import { normaliseCall, normaliseMessage } from './normalise.js'
import { sendable, splitSystem } from './sendable.js'
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
  ID_RULES,
  isBlank,
  isCall,
  isResult,
  isThinking,
  reference,
  referencesIn,
  said,
  textBlock,
  WIRE,
} from './types.js'

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
  readonly units: readonly Unit[]
}

/** A message that is being written. */
interface Draft {
  readonly role: string
  source: Source | undefined
  readonly units: Unit[]
  /** What it says, where no unit says it. */
  readonly blocks?: readonly AnthropicBlock[]
}

const FAILED = ['error', 'not-recorded']
/** What the API says of a reply that ran into a limit. */
const CUT_SHORT = ['max_tokens', 'model_context_window_exceeded']

const sources = createReadings<Source>()
const origins = new WeakMap<Unit, Source>()

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
}

/** `prompts`: what has to be said in a history, in the host's words. */
export function anthropicWire(
  prompts: Prompts,
  options: AnthropicOptions = {},
): Wire<AnthropicMessage, AnthropicReply, AnthropicParts, AnthropicPrompt> {
  assertKnownKeys(options, ['native', 'toolChanges', 'cache'], 'the options of anthropic')
  const { native = true, toolChanges = false, cache } = options
  if (cache !== undefined) assertOneOf('cache', cache, ['5m', '1h'])
  return {
    name: WIRE,
    systemInMessages: false,
    prompt: ['system'],
    native: native ? (toolChanges ? 'changes' : 'references') : undefined,
    ids: ID_RULES,
    opensWithUser: true,
    normalise: (message) => normaliseMessage(message, prompts),
    parse: (messages) => messages.flatMap((message) => sourceOf(message).units),
    messagesOf,
    write: (units, view) => draft(units, namesIn(view)).flatMap((each) => toMessage(each, prompts)),
    parts(given, view, { system }, warn) {
      const tools = anthropicTools(view)
      const [leading, messages] = splitSystem(given)
      if (leading.length > 0)
        warn('system-message-moved', 'moved a system message that came first into the system prompt')
      const prompt = withSection(withLeading(system, leading), view.section)
      const limits = { known: namesIn(view), systemBetween: toolChanges, prompts }
      const parts: AnthropicParts = {
        messages: sendable(messages, limits, warn) as AnthropicMessage[],
        ...(tools.length > 0 ? { tools: tools as AnthropicTool[] } : {}),
        ...(prompt === undefined ? {} : { system: prompt as string | AnthropicTextBlock[] }),
      }
      return cache === undefined ? parts : withMarks(parts, cache)
    },
    calls: callsOf,
    answer(answers, view) {
      if (answers.length === 0) return []
      const results = answers.map((answer) => resultOf(answer, view))
      // The API takes no text beside references: what else a search has to say follows all results.
      const rest = answers.flatMap((answer) =>
        referred(answer, view).length > 0 && answer.text !== ''
          ? [textBlock(prompts.frame({ body: answer.text }))]
          : [],
      )
      return [{ role: 'user', content: [...results, ...rest] }]
    },
  }
}

/** Every name that a reference may have. */
function namesIn(view: SurfaceView): ReadonlySet<string> {
  return new Set([...view.tools, ...view.declaredHidden].map(({ name }) => name))
}

/** The tools that an answer refers to instead of describing them. */
function referred({ outcome }: CallAnswer, view: SurfaceView): readonly WireTool[] {
  return view.delivery === 'native' && outcome.kind === 'search' ? revealed(outcome.result) : []
}

function resultOf(answer: CallAnswer, view: SurfaceView): AnthropicToolResult {
  const { callId, text, outcome } = answer
  const tools = referred(answer, view)
  return {
    type: 'tool_result',
    tool_use_id: callId,
    content: tools.length > 0 ? tools.map(({ name }) => reference(name)) : text,
    ...(FAILED.includes(outcome.kind) ? { is_error: true } : {}),
  }
}

/** In the form in which the history will be read: a call without an id is answered too. One that was cut short does not run. */
function callsOf(reply: AnthropicReply): readonly UnitCall[] {
  if (!isRecord(reply) || !('content' in reply))
    throw invalid(
      'reply',
      'run wants the message that the API gave, or any object with its role and content.',
    )
  const { content, stop_reason: reason } = reply
  const blocks = blocksOf(content)
  const cut = CUT_SHORT.includes(reason ?? '') ? blocks.at(-1) : undefined
  return blocks.flatMap((block) => {
    if (block.type !== 'tool_use' || typeof block.name !== 'string') return []
    const call = toCall(normaliseCall(block))
    return block === cut ? [{ ...call, input: cutOff(plainText(block.input)) }] : [call]
  })
}

/** Hosts move cache marks about in messages they have sent: those are not read. */
function sourceOf(message: AnthropicMessage): Source {
  const { role, content } = message
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  const seen = blocks.flatMap((block) => {
    if (!isRecord(block)) return [block]
    const { type, text, id, name, input, tool_use_id: of, content: result } = block
    return [block, type, text, id, name, input, of, result]
  })
  return sources(message, [role, content, ...seen], () => {
    const source = { message, units: unitsOf(message) }
    for (const unit of source.units) origins.set(unit, source)
    return source
  })
}

function unitsOf({ role, content }: AnthropicMessage): Unit[] {
  const blocks = blocksOf(content)
  const native = (value: unknown, isRest = false): Native => ({
    wire: WIRE,
    value,
    ...(isRest ? { form: 'rest' } : typeof content === 'string' ? { form: 'text' } : {}),
  })
  if (role === 'assistant') {
    const calls = blocks.filter(isCall).map(toCall)
    return [{ kind: 'assistant', text: textOf(blocks), calls, native: native(blocks) }]
  }
  if (role === 'system') return [{ kind: 'system', text: textOf(blocks), native: native(blocks) }]
  const units = blocks.filter(isResult).map((block, index): Unit => {
    const loaded = referencesIn(block.content)
    return {
      kind: 'answer',
      callId: String(block.tool_use_id),
      text: loaded.length > 0 ? referencesText(loaded) : textOf(block.content),
      ...(loaded.length > 0 ? { loaded } : {}),
      native: native(block, index > 0),
    }
  })
  const others = blocks.filter((block) => !isResult(block))
  if (others.length > 0 || units.length === 0)
    units.push({ kind: 'user', text: textOf(others), native: native(others, units.length > 0) })
  return units
}

function messagesOf(units: readonly OwnUnit[]): readonly AnthropicMessage[] {
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
function draft(units: readonly Unit[], known: ReadonlySet<string>): Draft[] {
  const drafts: Draft[] = []
  let changes: AnthropicBlock[] = []
  // A system message stands right before the model's next turn, or last.
  const flush = () => {
    if (changes.length > 0) drafts.push({ role: 'system', source: undefined, units: [], blocks: changes })
    changes = []
  }
  for (const unit of units) {
    if (unit.kind === 'note') {
      if (unit.text !== '') addNote(drafts, unit)
      changes.push(...changesIn(unit, known))
      continue
    }
    if (unit.kind === 'assistant') flush()
    const role = roleOf(unit)
    const source = origins.get(unit)
    const last = drafts.at(-1)
    if (last && role === 'user' && last.role === 'user' && belongs(unit, source, last)) {
      last.source ??= source
      last.units.push(unit)
    } else drafts.push({ role, source, units: [unit] })
  }
  flush()
  return drafts
}

/** Tools that the API itself puts before the model, or takes away, at this place. */
function changesIn(note: Extract<Unit, { kind: 'note' }>, known: ReadonlySet<string>): AnthropicBlock[] {
  const change = (type: string) => (name: string) =>
    known.has(name) ? [{ type, tool: { type: 'tool_reference', name } }] : []
  return [
    ...(note.adds ?? []).flatMap(({ name }) => change('tool_addition')(name)),
    ...(note.removes ?? []).flatMap(change('tool_removal')),
  ]
}

/** What another wire said to the model in between is the user's here: few models take a system message there. */
function roleOf(unit: Exclude<Unit, { kind: 'note' }>): 'user' | 'assistant' | 'system' {
  if (unit.kind === 'answer') return 'user'
  return unit.kind === 'system' && unit.native?.wire !== WIRE ? 'user' : unit.kind
}

function belongs(unit: Unit, source: Source | undefined, last: Draft): boolean {
  if (source && source === last.source) return !last.units.includes(unit)
  return unit.kind === 'answer' && (!source || !last.source)
}

/** Before a system message, not behind it: the API wants an assistant's turn there, or the end. */
function addNote(drafts: Draft[], note: Unit): void {
  let end = drafts.length
  while (drafts[end - 1]?.role === 'system') end--
  // Those that come first are the system prompt.
  if (end === 0) end = drafts.length
  const before = drafts[end - 1]
  if (before?.role === 'user') before.units.push(note)
  else drafts.splice(end, 0, { role: 'user', source: undefined, units: [note] })
}

function toMessage({ role, source, units, blocks = [] }: Draft, prompts: Prompts): AnthropicMessage[] {
  if (source && sameItems(units, source.units)) return [source.message]
  const content = [...blocks, ...units.flatMap((unit) => toBlocks(unit, prompts))]
  return content.length > 0 ? [{ ...source?.message, role, content }] : []
}

function toBlocks(unit: Unit, prompts: Prompts): readonly AnthropicBlock[] {
  const own = unit.kind !== 'note' && unit.native?.wire === WIRE ? unit.native.value : undefined
  switch (unit.kind) {
    case 'answer': {
      const content = unit.loaded ? unit.loaded.map(reference) : unit.text
      const result = { type: 'tool_result', tool_use_id: unit.callId, content }
      return [(own as AnthropicBlock | undefined) ?? result]
    }
    case 'assistant':
      return own
        ? rewritten(own as readonly AnthropicBlock[], unit.calls, unit.text, prompts)
        : [...said(unit.text), ...unit.calls.map((call) => fromCall(call))]
    default:
      return (own as readonly AnthropicBlock[] | undefined) ?? said(unit.text)
  }
}

/** The blocks of an assistant's message with its calls as they are now. Thinking stays where it is; it may not come last. */
function rewritten(
  blocks: readonly AnthropicBlock[],
  calls: readonly UnitCall[],
  text: string,
  prompts: Prompts,
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
  return [...kept, textBlock(textOf(kept) === '' ? text : prompts.calledSomething())]
}

function fromCall({ id, name, input, native }: UnitCall, was?: AnthropicBlock): AnthropicBlock {
  if (native?.wire === WIRE) return native.value as AnthropicBlock
  return { ...was, type: 'tool_use', id, name, input: argumentsObject(input) }
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
