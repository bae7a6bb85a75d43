/**
 * Prepares units for another wire. Images, files and items that only their provider reads are replaced by a note, so
 * that the model knows that something was there.
 */

import { isRecord } from '../../base/data.js'
import { isMedia, type ResultPart } from '../../result/part.js'
import { acceptsMedia } from '../../result/wire-media.js'
import type { Prompts } from '../../surface/prompts.js'
import { describePart } from '../../turn/describe-part.js'
import { readMedia } from './media.js'
import type { Unit } from './thread.js'
import type { Wire } from './wire.js'

/** The target wire. */
type Target = Pick<Wire<never, never, never, never>, 'name' | 'traits'>

/** Converts a unit for another wire. A note is a separate unit, so that the message keeps its anchor. */
export function convertUnit(unit: Unit, wire: Target, prompts: Prompts): readonly Unit[] {
  if (unit.kind === 'note' || unit.native === undefined || unit.native.wire === wire.name) return [unit]
  // Nothing may come between calls and their answers.
  if (unit.kind === 'system' || (unit.kind === 'assistant' && unit.calls.length > 0)) return [unit]
  const { value } = unit.native
  if (unit.kind === 'answer' && unit.loaded === undefined) {
    const parts = partsOf(value).flatMap((piece) => convertPart(piece, wire, prompts))
    if (parts.some(isMedia)) return [withParts(unit, parts)]
  }
  const opaque = unit.kind === 'user' ? opaqueKind(value) : undefined
  const kindsOf = unit.kind === 'assistant' ? outputKind : describeKind
  const kinds = opaque === undefined ? partsOf(value).flatMap(kindsOf) : [opaque]
  if (kinds.length === 0) return [unit]
  const text = prompts.movedContent({ kinds })
  if (unit.kind === 'answer') return [{ ...unit, text: unit.text === '' ? text : `${unit.text}\n${text}` }]
  const word: Unit = { kind: 'user', text }
  return opaque !== undefined || unit.text === '' ? [word] : [unit, word]
}

/** Converts a part of a result. A note replaces unreadable parts. */
function convertPart(piece: unknown, { name, traits }: Target, prompts: Prompts): readonly ResultPart[] {
  const media = readMedia(piece)
  const isWelcome = media && !traits?.textResults && (traits?.keepsMedia || acceptsMedia(name, media))
  if (media) return [isWelcome ? media : { type: 'text', text: describePart(media, prompts) }]
  if (isRecord(piece) && typeof piece.text === 'string') return [{ type: 'text', text: piece.text }]
  return describeKind(piece).map((kind) => ({ type: 'text', text: prompts.movedContent({ kinds: [kind] }) }))
}

/** Gemini keeps the text apart from the media: it comes first. */
function withParts(unit: Extract<Unit, { kind: 'answer' }>, parts: readonly ResultPart[]): Unit {
  const { native: _, ...rest } = unit
  const isSaid = parts.some(
    (part) => part.type === 'text' && part.text !== '' && unit.text.includes(part.text),
  )
  const first: readonly ResultPart[] = isSaid || unit.text === '' ? [] : [{ type: 'text', text: unit.text }]
  return { ...rest, parts: [...first, ...parts] }
}

/** The type of an item that is not a message. Its text is its JSON, which other providers cannot use. */
function opaqueKind(value: unknown): string | undefined {
  if (!isRecord(value) || 'parts' in value || 'role' in value || typeof value.type !== 'string')
    return undefined
  return value.type
}

function partsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (!isRecord(value)) return []
  // A piece of Gemini names the call it answers. Media are nested deeper.
  const { part } = value
  // A result of the AI SDK, with the message that contains it.
  const output = isRecord(part) && isRecord(part.output) ? part.output.value : undefined
  if (Array.isArray(output)) return output
  const inner = Array.isArray(value.parts) ? value.parts : (value.content ?? value.output)
  return Array.isArray(inner) ? inner.flatMap((part: unknown) => unpackParts(part)) : []
}

function unpackParts(part: unknown): readonly unknown[] {
  const response = isRecord(part) ? part.functionResponse : undefined
  if (!isRecord(response)) return [part]
  return Array.isArray(response.parts) ? response.parts : []
}

/** Only tool output among the model's own items needs a note. The rest is how the model reached its answer. */
function outputKind(part: unknown): readonly string[] {
  const type = isRecord(part) && typeof part.type === 'string' ? part.type : ''
  return type.endsWith('_call_output') ? [type] : []
}

function describeKind(part: unknown): readonly string[] {
  if (!isRecord(part) || typeof part.text === 'string') return []
  if (part.type === 'tool_reference' || part.type === 'refusal' || part.thought === true) return []
  const data = isRecord(part.inlineData) ? part.inlineData : isRecord(part.fileData) ? part.fileData : {}
  const said = `${part.type ?? ''} ${data.mimeType ?? ''}`
  return [/image|audio|video|document|pdf/.exec(said)?.[0] ?? 'file']
}
