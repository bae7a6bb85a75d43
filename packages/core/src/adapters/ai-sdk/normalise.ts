/** Converts messages of the SDK that servers refuse to the nearest form that they accept. */

import { isRecord } from '../../base/data.js'
import { argumentsObject, hasSameItems, readArguments } from '../shared/thread.js'
import type { MessageRules, ProtocolRules } from './protocol.js'
import {
  type AiMessage,
  type AiPart,
  type AiResultPart,
  isCall,
  isResult,
  isUnspoken,
  listParts,
} from './types.js'

/** Returns the same message if nothing changed, and nothing if it is empty. */
export function normaliseMessage(message: AiMessage, rules: MessageRules): readonly AiMessage[] {
  const { role, content } = message
  const says = role === 'user' ? rules.users : role === 'assistant' ? rules.replies : undefined
  if (typeof content === 'string') return says && isSilent(content, says) ? [] : [message]
  if (!Array.isArray(content)) return [message]
  const given = listParts(message)
  const parts = given.flatMap((part): readonly AiPart[] => {
    if (says && part.type === 'text' && isSilent(textIn(part), says)) return []
    if (rules.objects && isCall(part) && !isRecord(part.input)) return [withObject(part)]
    return [rules.results && isResult(part) ? withOutput(part, rules.results) : part]
  })
  const kept = rules.endsInWords && role === 'assistant' ? removeLastThoughts(parts) : parts
  if (kept.length === 0 && (says || given.length > 0)) return []
  return hasSameItems(kept, given) ? [message] : [{ ...message, content: kept }]
}

/** Removes trailing thinking: the reply reached its limit while the model was thinking. */
function removeLastThoughts(parts: readonly AiPart[]): readonly AiPart[] {
  return parts.slice(0, parts.findLastIndex((part) => !isUnspoken(part)) + 1)
}

function isSilent(text: string, says: 'something' | 'words'): boolean {
  return (says === 'words' ? text.trim() : text) === ''
}

function textIn(part: AiPart): string {
  return String((part as { readonly text?: unknown }).text ?? '')
}

/** Arguments that are not an object: a reply that was cut off, a list. */
function withObject(part: AiPart & { readonly input: unknown }): AiPart {
  return { ...part, input: argumentsObject(readArguments(part.input)) } as AiPart
}

/** An error or a list must not be empty. */
function withOutput(part: AiResultPart, nothing: string): AiPart {
  const { type, value } = isRecord(part.output) ? part.output : {}
  if (type === 'content' && Array.isArray(value) && value.length === 0)
    return { ...part, output: { type: 'text', value: nothing } } as AiPart
  if (type === 'error-text' && value === '') return { ...part, output: { type, value: nothing } } as AiPart
  return part
}

/**
 * Joins messages for Gemini: it requires calls right after a user turn, and all their answers in the next turn. So
 * the model's text before calls joins them, and answers are joined.
 */
export function joinTurns(messages: readonly AiMessage[]): AiMessage[] {
  const output: AiMessage[] = []
  for (const message of messages) {
    const { role } = message
    const joins = role === 'tool' || (role === 'assistant' && listParts(message).some(isCall))
    const start = joins ? output.findLastIndex((each) => each.role !== role) + 1 : output.length
    const before = output.splice(start)
    const content = [...before, message].flatMap(wholeContent)
    output.push(before.length > 0 ? { ...message, content } : message)
  }
  return output
}

function wholeContent(message: AiMessage): readonly AiPart[] {
  const { content } = message
  return typeof content === 'string' ? [{ type: 'text', text: content } as AiPart] : listParts(message)
}

/**
 * Removes calls that a provider ran itself and that the next provider refuses. The SDK sends them to any provider,
 * some as undeclared calls, and sends one half if the other was cut off.
 */
export function removeProviderCalls(messages: readonly AiMessage[], rules: ProtocolRules): AiMessage[] {
  const { ran } = rules
  if (!ran) return [...messages]
  const lost = ran === 'paired' ? findUnpaired(messages) : findForeign(messages, ran)
  return messages.flatMap((message): readonly AiMessage[] => {
    const given = listParts(message)
    const kept = given.filter((part) => !lost.has(part))
    if (kept.length === given.length) return [message]
    const content = rules.endsInWords ? removeLastThoughts(kept) : kept
    return content.length > 0 ? [{ ...message, content }] : []
  })
}

interface RunPart extends AiPart {
  readonly toolCallId: string
}

/** The calls and results of a provider, in order. */
function listProviderParts(message: AiMessage): readonly RunPart[] {
  if (message.role !== 'assistant') return []
  return listParts(message).filter(
    (part): part is RunPart => isResult(part) || (part.type === 'tool-call' && !isCall(part)),
  )
}

/** An open call may wait for its result while the host answers other calls, or if it is the last content. */
function findUnpaired(messages: readonly AiMessage[]): ReadonlySet<AiPart> {
  const open = new Map<string, AiPart>()
  const lost = new Set<AiPart>()
  const giveUp = (ids: Iterable<string>) => {
    for (const id of ids) {
      const part = open.get(id)
      if (part && open.delete(id)) lost.add(part)
    }
  }
  for (const message of messages) {
    if (message.role === 'user') giveUp([...open.keys()])
    for (const part of listProviderParts(message)) {
      const { toolCallId: id } = part
      if (!isResult(part)) {
        giveUp([id])
        open.set(id, part)
      } else if (!open.delete(id)) lost.add(part)
    }
  }
  return lost
}

/** The calls of other providers. A provider recognises its own by an id in the options, if it uses one. */
function findForeign(messages: readonly AiMessage[], ran: 'none' | 'named'): ReadonlySet<AiPart> {
  const isOwn = ({ providerOptions }: AiPart) =>
    ran === 'named' &&
    isRecord(providerOptions) &&
    Object.values(providerOptions).some((options) => isRecord(options) && 'serverToolCallId' in options)
  return new Set(messages.flatMap(listProviderParts).filter((part) => !isOwn(part)))
}
