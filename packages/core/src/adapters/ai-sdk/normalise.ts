/** Messages that the SDK hands on and servers refuse, in the nearest form that they take. */

import { isRecord } from '../../base/guards.js'
import { argumentsObject, readArguments, sameItems } from '../shared/thread.js'
import type { MessageRules } from './protocol.js'
import { type AiMessage, type AiPart, type AiResultPart, isCall, isResult, partsOf } from './types.js'

/** The message itself where it needs no change; none where it says nothing. */
export function normaliseMessage(message: AiMessage, rules: MessageRules): readonly AiMessage[] {
  const { role, content } = message
  const says = role === 'user' ? rules.users : role === 'assistant' ? rules.replies : undefined
  if (typeof content === 'string') return says && isSilent(content, says) ? [] : [message]
  if (!Array.isArray(content)) return [message]
  const given = partsOf(message)
  const parts = given.flatMap((part): readonly AiPart[] => {
    if (says && part.type === 'text' && isSilent(textIn(part), says)) return []
    if (rules.objects && isCall(part) && !isRecord(part.input)) return [withObject(part)]
    return [rules.results && isResult(part) ? withOutput(part, rules.results) : part]
  })
  const kept = rules.endsInWords && role === 'assistant' ? withoutLastThoughts(parts) : parts
  if (kept.length === 0 && (says || given.length > 0)) return []
  return sameItems(kept, given) ? [message] : [{ ...message, content: kept }]
}

/** A reply that ran into its limit while the model was thinking. */
export function withoutLastThoughts(parts: readonly AiPart[]): readonly AiPart[] {
  return parts.slice(0, parts.findLastIndex(({ type }) => type !== 'reasoning') + 1)
}

function isSilent(text: string, says: 'something' | 'words'): boolean {
  return (says === 'words' ? text.trim() : text) === ''
}

function textIn(part: AiPart): string {
  return String((part as { readonly text?: unknown }).text ?? '')
}

/** Arguments that were never an object: a reply that was cut off, a list. */
function withObject(part: AiPart & { readonly input: unknown }): AiPart {
  return { ...part, input: argumentsObject(readArguments(part.input)) } as AiPart
}

/** An error, and a list, have to say something. */
function withOutput(part: AiResultPart, nothing: string): AiPart {
  const { type, value } = isRecord(part.output) ? part.output : {}
  if (type === 'content' && Array.isArray(value) && value.length === 0)
    return { ...part, output: { type: 'text', value: nothing } } as AiPart
  if (type === 'error-text' && value === '') return { ...part, output: { type, value: nothing } } as AiPart
  return part
}

/**
 * Gemini wants calls directly behind a turn of the user, and all their answers in the turn behind them: what the model said
 * right before them is one message with them, and so are their answers.
 */
export function inTurns(messages: readonly AiMessage[]): AiMessage[] {
  const output: AiMessage[] = []
  for (const message of messages) {
    const { role } = message
    const joins = role === 'tool' || (role === 'assistant' && partsOf(message).some(isCall))
    const start = joins ? output.findLastIndex((each) => each.role !== role) + 1 : output.length
    const before = output.splice(start)
    const content = [...before, message].flatMap(wholeContent)
    output.push(before.length > 0 ? { ...message, content } : message)
  }
  return output
}

function wholeContent(message: AiMessage): readonly AiPart[] {
  const { content } = message
  return typeof content === 'string' ? [{ type: 'text', text: content } as AiPart] : partsOf(message)
}
