/**
 * What no other wire can be given: images, files, items that only their provider reads. A word stands in its place, so
 * that the model knows that there was something. On its own wire it is all still there.
 */

import { isRecord } from '../../base/data.js'
import { isMedia, type ResultPart } from '../../result/part.js'
import { isTaken } from '../../result/taken.js'
import type { Prompts } from '../../surface/prompts.js'
import { describePart } from '../../turn/describe-part.js'
import { mediaOf } from './media-of.js'
import type { Unit } from './thread.js'
import type { Wire } from './wire.js'

/** The wire that a thread moves to. */
type Target = Pick<Wire<never, never, never, never>, 'name' | 'traits'>

/** The unit as another wire can write it. The word is a unit of its own: what the message is called stays the same. */
export function leaveBehind(unit: Unit, wire: Target, prompts: Prompts): readonly Unit[] {
  if (unit.kind === 'note' || unit.native === undefined || unit.native.wire === wire.name) return [unit]
  // Nothing may stand between calls and their answers.
  if (unit.kind === 'system' || (unit.kind === 'assistant' && unit.calls.length > 0)) return [unit]
  const { value } = unit.native
  if (unit.kind === 'answer' && unit.loaded === undefined) {
    const parts = partsOf(value).flatMap((piece) => carried(piece, wire, prompts))
    if (parts.some(isMedia)) return [withParts(unit, parts)]
  }
  const opaque = unit.kind === 'user' ? opaqueKind(value) : undefined
  const kindsOf = unit.kind === 'assistant' ? outputKind : kindOf
  const kinds = opaque === undefined ? partsOf(value).flatMap(kindsOf) : [opaque]
  if (kinds.length === 0) return [unit]
  const text = prompts.leftBehind({ kinds })
  if (unit.kind === 'answer') return [{ ...unit, text: unit.text === '' ? text : `${unit.text}\n${text}` }]
  const word: Unit = { kind: 'user', text }
  return opaque !== undefined || unit.text === '' ? [word] : [unit, word]
}

/** A piece of a result as another wire can write it. What no wire reads stays behind. */
function carried(piece: unknown, { name, traits }: Target, prompts: Prompts): readonly ResultPart[] {
  const media = mediaOf(piece)
  // A history of the AI SDK is of no provider: what the one it is sent to does not take is told then.
  const isWelcome = media && !traits?.textResults && (name === 'ai-sdk' || isTaken(name, media))
  if (media) return [isWelcome ? media : { type: 'text', text: describePart(media, prompts) }]
  if (isRecord(piece) && typeof piece.text === 'string') return [{ type: 'text', text: piece.text }]
  return kindOf(piece).map((kind) => ({ type: 'text', text: prompts.leftBehind({ kinds: [kind] }) }))
}

/** Gemini has the words apart from the media: they come first. */
function withParts(unit: Extract<Unit, { kind: 'answer' }>, parts: readonly ResultPart[]): Unit {
  const { native: _, ...rest } = unit
  const isSaid = parts.some(
    (part) => part.type === 'text' && part.text !== '' && unit.text.includes(part.text),
  )
  const first: readonly ResultPart[] = isSaid || unit.text === '' ? [] : [{ type: 'text', text: unit.text }]
  return { ...rest, parts: [...first, ...parts] }
}

/** An item that is no message: its text is its JSON, which means nothing elsewhere. */
function opaqueKind(value: unknown): string | undefined {
  if (!isRecord(value) || 'parts' in value || 'role' in value || typeof value.type !== 'string')
    return undefined
  return value.type
}

function partsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isRecord(value)) return []
  // A piece of Gemini's names the call it answers; what a tool gave beside its response lies deeper.
  const { part } = value
  // Of the AI SDK: the result with the message it stands in.
  const output = isRecord(part) && isRecord(part.output) ? part.output.value : undefined
  if (Array.isArray(output)) return output
  const inner = Array.isArray(value.parts) ? value.parts : (value.content ?? value.output)
  return Array.isArray(inner) ? inner.flatMap((part: unknown) => withNested(part)) : []
}

function withNested(part: unknown): readonly unknown[] {
  const response = isRecord(part) ? part.functionResponse : undefined
  if (!isRecord(response)) return [part]
  return Array.isArray(response.parts) ? response.parts : []
}

/** Of the model's own items only what a tool gave counts: the rest is how it came to say what it said. */
function outputKind(part: unknown): readonly string[] {
  const type = isRecord(part) && typeof part.type === 'string' ? part.type : ''
  return type.endsWith('_call_output') ? [type] : []
}

function kindOf(part: unknown): readonly string[] {
  if (!isRecord(part) || typeof part.text === 'string') return []
  if (part.type === 'tool_reference' || part.type === 'refusal' || part.thought === true) return []
  const data = isRecord(part.inlineData) ? part.inlineData : isRecord(part.fileData) ? part.fileData : {}
  const said = `${part.type ?? ''} ${data.mimeType ?? ''}`
  return [/image|audio|video|document|pdf/.exec(said)?.[0] ?? 'file']
}
