/** Reads messages of the SDK as units. */

import { isRecord } from '../../base/data.js'
import {
  argumentsObject,
  CODE,
  describeReferences,
  readArguments,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import type { OwnUnit } from '../shared/wire.js'
import { readFound } from './found.js'
import {
  type AiCallPart,
  type AiMessage,
  type AiPart,
  type AiResultPart,
  isCall,
  isFromCode,
  isResult,
  isUnspoken,
  listParts,
  readOutputText,
  readSpoken,
  WIRE,
} from './types.js'

/** The part of an answer, and the message that contains it. */
export interface AnswerSource {
  readonly part: AiResultPart
  readonly message: AiMessage
  /** The number of answers in the message; undefined if it contains anything else. */
  readonly siblings: number | undefined
}

export function readMessages(messages: readonly AiMessage[]): readonly Unit[] {
  return restoreWritten(messages).flatMap(readUnits)
}

function readUnits(message: AiMessage): readonly Unit[] {
  const native = { wire: WIRE, value: message }
  const text = readSpoken(message)
  if (message.role === 'system') return [{ kind: 'system', text, native }]
  if (message.role === 'assistant') {
    const calls = listParts(message).filter(isCall).map(toCall)
    const more = listParts(message).some(
      (part) => !isUnspoken(part) && !['text', 'tool-call'].includes(part.type),
    )
    return [{ kind: 'assistant', text, calls, native, ...(more ? { more: true as const } : {}) }]
  }
  if (message.role !== 'tool') return [{ kind: 'user', text, native }]
  const parts = listParts(message)
  const results = parts.filter(isResult)
  const others = parts.filter((part) => !isResult(part) && isForProvider(part))
  const siblings = results.length === parts.length ? results.length : undefined
  const answers = results.map((part, index): Unit => {
    const value: AnswerSource = { part, message, siblings }
    const loaded = readFound(part.output).map(([name]) => name)
    return {
      kind: 'answer',
      callId: part.toolCallId,
      text: loaded.length > 0 ? describeReferences(loaded) : readOutputText(part.output),
      ...(loaded.length > 0 ? { loaded } : {}),
      native: { wire: WIRE, value, ...(index > 0 ? { form: 'rest' } : {}) },
    }
  })
  if (others.length === 0) return answers
  // An approval for the provider is not an answer and not text, but must be sent.
  const rest: Unit = {
    kind: 'user',
    text: '',
    native: {
      wire: WIRE,
      value: { ...message, content: others },
      ...(answers.length > 0 ? { form: 'rest' } : {}),
    },
  }
  return [...answers, rest]
}

/** Rebuilds the messages of a thread. */
export function restoreMessages(units: readonly OwnUnit[]): readonly AiMessage[] {
  return units.flatMap(({ kind, native: { value, form } }) => {
    if (form === 'rest') return []
    return [kind === 'answer' ? (value as AnswerSource).message : (value as AiMessage)]
  })
}

function isForProvider(part: object): boolean {
  return (part as { providerExecuted?: unknown }).providerExecuted === true
}

function toCall(part: AiCallPart): UnitCall {
  return {
    id: part.toolCallId,
    name: part.toolName,
    input: { value: part.input ?? {} },
    ...(isFromCode(part.providerOptions) ? { fromCode: CODE } : {}),
    native: { wire: WIRE, value: part },
  }
}

const KEY = 'toolwell'

interface Written {
  readonly name: string
  /** The arguments as text. */
  readonly arguments: string
}

/**
 * Adds the call as the model wrote it to its metadata. The SDK, its hooks and its approvals see the target tool; the
 * model is shown its own call. The SDK keeps provider options in every history.
 */
export function addMark(
  metadata: Readonly<Record<string, unknown>> | undefined,
  written: Written,
): Record<string, unknown> {
  return { ...metadata, [KEY]: { ...written } }
}

/** Restores a history as the model wrote it. Returns the same array if nothing differs. */
export function restoreWritten<Message extends AiMessage>(messages: readonly Message[]): readonly Message[] {
  const names = new Map<string, string>()
  const made = messages.map((message) => {
    const parts = listParts(message)
    const next = parts.map((part) => restorePart(part, names))
    return next.every((part, index) => part === parts[index]) ? message : { ...message, content: next }
  })
  return made.every((message, index) => message === messages[index]) ? messages : made
}

function restorePart(part: AiPart, names: Map<string, string>): AiPart {
  const written = readMark(part)
  if (isCall(part)) {
    names.delete(part.toolCallId)
    if (!written) return part
    names.set(part.toolCallId, written.name)
    const input = argumentsObject(readArguments(written.arguments))
    return { ...removeMark(part), toolName: written.name, input } as AiCallPart
  }
  if (!isResult(part)) return part
  const toolName = names.get(part.toolCallId) ?? written?.name ?? part.toolName
  if (toolName === part.toolName && !written) return part
  return { ...removeMark(part), toolName } as AiPart
}

function readMark({ providerOptions }: AiPart): Written | undefined {
  const mark = isRecord(providerOptions) ? providerOptions[KEY] : undefined
  return isRecord(mark) && typeof mark.name === 'string' && typeof mark.arguments === 'string'
    ? { name: mark.name, arguments: mark.arguments }
    : undefined
}

function removeMark<Part extends AiPart>(part: Part): Part {
  const { providerOptions, ...rest } = part
  if (!isRecord(providerOptions)) return part
  const { [KEY]: _, ...others } = providerOptions
  return (Object.keys(others).length > 0 ? { ...rest, providerOptions: others } : rest) as Part
}
