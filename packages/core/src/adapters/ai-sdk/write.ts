/** Writes units as messages of the SDK. An unchanged message is the same object. */

import { isRecord } from '../../base/data.js'
import type { Prompts } from '../../surface/prompts.js'
import { argumentsObject, type Unit, type UnitCall } from '../shared/thread.js'
import { type Known, writeKnownReferences, writeReferences } from './found.js'
import type { Protocol } from './protocol.js'
import type { AnswerSource } from './read.js'
import { writeContentOutput } from './results.js'
import {
  type AiCallPart,
  type AiMessage,
  type AiPart,
  type AiResultPart,
  isCall,
  isResult,
  isUnspoken,
  listParts,
  readOutputText,
  removeItem,
  WIRE,
} from './types.js'

type Answer = Extract<Unit, { kind: 'answer' }>
type Assistant = Extract<Unit, { kind: 'assistant' }>

export interface WriteOptions {
  readonly protocol: Protocol
  /** The provider's search, whose results hold no text. */
  readonly wordless?: string | undefined
  readonly section: string
  readonly prompts: Prompts
  /** Names that a result may refer to. Absent: references stay unchanged. */
  readonly known?: Known | undefined
}

export function writeMessages(
  units: readonly Unit[],
  { protocol, section, prompts, known, wordless }: WriteOptions,
): AiMessage[] {
  const output: AiMessage[] = []
  // These providers join results and the text after them into one turn; other servers require a reply of the model
  // next.
  const inTurn = protocol === 'anthropic' || protocol === 'google'
  const words = createWords(output, { wordless, besideResults: inTurn })
  /** The written name of each call: its result has the same name. */
  const names = new Map<string, string>()
  let answers: Answer[] = []
  const flush = () => {
    for (const message of toolMessages(answers, names, known)) words.push(message)
    // The additional text of a search follows all results.
    if (known) for (const answer of answers) words.say(readAddedText(answer, prompts))
    answers = []
  }
  for (const unit of units) {
    if (unit.kind === 'answer') {
      answers.push(unit)
      continue
    }
    flush()
    if (unit.kind === 'note') words.say(unit.text)
    else if (unit.kind === 'assistant') {
      for (const { id, name } of unit.calls) names.set(id, name)
      words.push(assistantMessage(unit))
    } else words.push(own(unit) ?? plain(unit.kind, unit.text))
  }
  flush()
  return section === '' ? output : addSection(output, section, protocol)
}

function own({ native }: Exclude<Unit, { kind: 'note' }>): AiMessage | undefined {
  return native?.wire === WIRE ? (native.value as AiMessage) : undefined
}

function plain(role: string, text: string): AiMessage {
  return { role, content: role === 'system' ? text : [{ type: 'text', text }] }
}

function assistantMessage(unit: Assistant): AiMessage {
  const message = own(unit)
  if (message && !unit.repaired) return message
  if (!message)
    return { role: 'assistant', content: [...words(unit.text), ...unit.calls.map((call) => toPart(call))] }
  const left = new Set(unit.calls)
  const kept = listParts(message).flatMap((part): AiPart[] => {
    if (!isCall(part)) return [part]
    const call = unit.calls.find(({ id, native }) => native?.value === part || id === part.toolCallId)
    if (!call || !left.delete(call)) return []
    return [toPart(call, part)]
  })
  kept.push(...[...left].map((call) => toPart(call)))
  const silent = kept.every(isUnspoken)
  return { ...message, content: silent ? [...kept, ...words(unit.text)] : kept }
}

function words(text: string): AiPart[] {
  return text === '' ? [] : [{ type: 'text', text } as AiPart]
}

function toPart({ id, name, input, native }: UnitCall, was?: AiPart): AiCallPart {
  const part = native?.wire === WIRE ? (native.value as AiCallPart) : undefined
  if (part) return part.toolCallId === id ? part : { ...part, toolCallId: id }
  return {
    ...(was && removeItem(was)),
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: argumentsObject(input),
  }
}

/** Answers of one message stay in one message. */
function toolMessages(
  answers: readonly Answer[],
  names: ReadonlyMap<string, string>,
  known: Known | undefined,
): AiMessage[] {
  const groups: { source: AnswerSource | undefined; answers: Answer[] }[] = []
  for (const answer of answers) {
    const source = sourceOf(answer)
    const last = groups.at(-1)
    if (last && last.source?.message === source?.message) last.answers.push(answer)
    else groups.push({ source, answers: [answer] })
  }
  return groups.map(({ source, answers: some }) => {
    const parts = some.map((answer) => resultPart(answer, names, known))
    const whole = source?.siblings === some.length
    if (source && whole && parts.every((part, index) => part === sourceOf(some[index])?.part))
      return source.message
    return { ...source?.message, role: 'tool', content: parts }
  })
}

function sourceOf(answer: Answer | undefined): AnswerSource | undefined {
  return answer?.native?.wire === WIRE ? (answer.native.value as AnswerSource) : undefined
}

function resultPart(
  { callId, text, loaded, parts, native }: Answer,
  names: ReadonlyMap<string, string>,
  known: Known | undefined,
): AiPart {
  const part = native?.wire === WIRE ? (native.value as AnswerSource).part : undefined
  const toolName = names.get(callId) ?? part?.toolName ?? 'unknown'
  const kept =
    !loaded || !known || (readOutputText(part?.output) === '' && loaded.every((name) => known.has(name)))
  if (kept && part?.toolName === toolName && part.toolCallId === callId) return part
  const own =
    part?.output ??
    (loaded
      ? writeReferences(loaded.map((name) => [name]))
      : parts
        ? writeContentOutput(parts)
        : { type: 'text', value: text })
  const output = kept ? own : writeKnownReferences(loaded, known)
  return { ...part, type: 'tool-result', toolCallId: callId, toolName, output } as AiResultPart
}

function readAddedText(answer: Answer, prompts: Prompts): string {
  const part = sourceOf(answer)?.part
  const text = answer.loaded && part ? readOutputText(part.output) : ''
  return text === '' ? '' : prompts.frame({ body: text })
}

/**
 * Adds the section to your system prompt, because many servers accept only one system message. For Anthropic it is a
 * separate message, so that your cache marks keep their place.
 */
function addSection(messages: AiMessage[], section: string, protocol: Protocol): AiMessage[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  const end = first < 0 ? messages.length : first
  const last = messages[end - 1]
  const made: AiMessage =
    last && protocol !== 'anthropic'
      ? { ...last, content: `${String(last.content)}\n\n${section}` }
      : { role: 'system', content: section }
  const kept = last && protocol !== 'anthropic' ? end - 1 : end
  return [...messages.slice(0, kept), made, ...messages.slice(end)]
}

/**
 * Adds text that has no message: to the user message before it, or to the output of the last result. If no result
 * takes text, it waits for the next result or user message.
 */
export interface Words {
  /** Adds a message, and the waiting text if the message takes it. */
  push(message: AiMessage): void
  /** Adds text after the last message. */
  say(text: string): void
}

export interface WordsOptions {
  /** The tool whose results hold no text. */
  readonly wordless?: string | undefined
  /** The provider joins results and the user message after them, so the text may be a message there. */
  readonly besideResults?: boolean
}

/** Writes into `output`. */
export function createWords(
  output: AiMessage[],
  { wordless, besideResults = false }: WordsOptions = {},
): Words {
  let waiting = ''
  return {
    push(message) {
      const taken = waiting === '' ? undefined : addText(message, waiting, wordless)
      if (taken) waiting = ''
      output.push(taken ?? message)
    },
    say(text) {
      if (text === '') return
      const start = besideResults ? output.length - 1 : output.findLastIndex(({ role }) => role !== 'tool')
      // From the last message with results back to the message before them.
      for (let index = output.length - 1; index >= Math.max(0, start); index--) {
        const made = addText(output[index] as AiMessage, text, wordless, besideResults)
        if (!made) continue
        output[index] = made
        return
      }
      if (!besideResults && output.at(-1)?.role === 'tool') waiting = joined(waiting, text)
      else output.push({ role: 'user', content: [{ type: 'text', text }] })
    },
  }
}

/** The message with the text at its end; undefined if it takes none. */
function addText(
  message: AiMessage,
  text: string,
  wordless: string | undefined,
  besideResults = false,
): AiMessage | undefined {
  const { role, content } = message
  if (role === 'user') {
    const before = typeof content === 'string' ? [{ type: 'text', text: content }] : listParts(message)
    return { ...message, content: [...before, { type: 'text', text }] }
  }
  if (role !== 'tool' || besideResults) return undefined
  const parts = listParts(message)
  const last = parts.findLastIndex((part) => isResult(part) && part.toolName !== wordless)
  const part = parts[last]
  if (!part || !isResult(part)) return undefined
  const made: AiPart[] = [...parts]
  made[last] = { ...part, output: extendOutput(part.output, text) } as AiResultPart
  return { ...message, content: made }
}

/** Extends an output as the providers write it: text, JSON as text, or a list of parts. */
function extendOutput(output: unknown, text: string): object {
  const { type, value, ...others } = isRecord(output) ? output : { type: 'text', value: output }
  if (type === 'content' && Array.isArray(value))
    return { ...others, type, value: [...value, { type: 'text', text }] }
  if (type === 'execution-denied') {
    const { reason } = others as { readonly reason?: unknown }
    return { ...others, type, reason: joined(String(reason ?? 'Tool execution denied.'), text) }
  }
  const isError = type === 'error-text' || type === 'error-json'
  return {
    ...others,
    type: isError ? 'error-text' : 'text',
    value: joined(readOutputText(output), text),
  }
}

function joined(before: string, text: string): string {
  return before === '' ? text : `${before}\n\n${text}`
}
