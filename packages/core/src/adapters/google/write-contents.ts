/**
 * Units to contents. A server takes each content for a turn of its own and wants all responses of a batch in the one
 * directly behind the calls, before its other parts. A content in which nothing changed is the host's own object.
 */
import { argumentsObject, type Unit, type UnitCall } from '../shared/thread.js'
import { callsOf, type Piece, spokenText } from './read-contents.js'
import {
  type GoogleContent,
  type GoogleFunctionCall,
  type GoogleFunctionResponse,
  type GooglePart,
  partsOf,
  WIRE,
} from './wire.js'

interface Draft {
  readonly role: 'user' | 'model'
  readonly source: GoogleContent | undefined
  readonly parts: readonly GooglePart[]
}

/** Calls as they were written, by the ids of their units: a response has to name the same. */
type Written = ReadonlyMap<string, GoogleFunctionCall>

export function writeContents(units: readonly Unit[]): GoogleContent[] {
  const drafts: Draft[] = []
  let written: Written = new Map()
  for (const unit of units) {
    const piece = pieceOf(unit)
    let draft: Draft = { role: 'user', source: piece?.content, parts: piece?.parts ?? [] }
    let joins = true
    if (unit.kind === 'assistant') {
      const turn = modelTurn(unit, piece)
      written = turn.written
      draft = { ...draft, role: 'model', parts: turn.parts }
    } else if (unit.kind === 'answer') {
      draft = { ...draft, parts: [responsePart(unit, piece?.parts[0], written.get(unit.callId))] }
    } else if (!piece) {
      draft = { ...draft, parts: unit.text === '' ? [] : [{ text: unit.text }] }
      joins = unit.kind === 'note'
    } else {
      // The rest of a content whose responses were just written; other contents of a user stay apart.
      joins = piece.parts.length < partsOf(piece.content).length && drafts.at(-1)?.source === piece.content
    }
    // A reply that broke off has no parts at all, and no server takes it back.
    if (draft.parts.length === 0) continue
    const last = drafts.at(-1)
    if (!last || last.role !== draft.role || !joins) drafts.push(draft)
    else
      drafts[drafts.length - 1] = {
        role: last.role,
        source: last.source ?? draft.source,
        parts: [...last.parts, ...draft.parts],
      }
  }
  return drafts.map(toContent)
}

/** `call` as it stands, or will stand, in the history. */
export function toResponse(
  { id, name = '' }: GoogleFunctionCall,
  response: GoogleFunctionResponse['response'] = {},
): GoogleFunctionResponse {
  return { ...(id ? { id } : {}), name, response }
}

function toContent({ role, source, parts }: Draft): GoogleContent {
  const own = source ? partsOf(source) : []
  if (source && own.length === parts.length && own.every((part, index) => part === parts[index]))
    return source
  return { ...source, role, parts }
}

function modelTurn(
  unit: Extract<Unit, { kind: 'assistant' }>,
  piece: Piece | undefined,
): { readonly parts: readonly GooglePart[]; readonly written: Written } {
  const written = new Map<string, GoogleFunctionCall>()
  if (piece && !unit.mended) {
    for (const { id, native } of unit.calls) written.set(id, callIn(native?.value))
    return { parts: piece.parts, written }
  }
  if (!piece) {
    const parts: GooglePart[] = unit.text === '' ? [] : [{ text: unit.text }]
    for (const call of unit.calls) {
      const functionCall = { id: call.id, name: call.name, args: argumentsObject(call.input) }
      written.set(call.id, functionCall)
      parts.push({ functionCall })
    }
    return { parts, written }
  }
  return mendedTurn(unit.text, unit.calls, piece, written)
}

/** Everything but the calls stays as it was. The signature of a call that is gone passes to the next: the first needs one. */
function mendedTurn(
  text: string,
  calls: readonly UnitCall[],
  { content, parts: original }: Piece,
  written: Map<string, GoogleFunctionCall>,
): { readonly parts: readonly GooglePart[]; readonly written: Written } {
  const kept = new Map(calls.map((call) => [call.id, call]))
  const ids = new Map(callsOf(content).map(({ id, native }) => [native?.value, id]))
  let signature: string | undefined
  const parts = original.flatMap((part): GooglePart[] => {
    const id = ids.get(part)
    if (id === undefined) return [part]
    const call = kept.get(id)
    if (!call) {
      signature ??= part.thoughtSignature
      return []
    }
    const carried = signature !== undefined && part.thoughtSignature === undefined ? signature : undefined
    signature = undefined
    const same = call.native?.value === part
    const before = callIn(part)
    const functionCall = same
      ? before
      : { ...(before.id ? { id: before.id } : {}), name: call.name, args: argumentsObject(call.input) }
    written.set(id, functionCall)
    if (same && carried === undefined) return [part]
    return [{ ...part, functionCall, ...(carried === undefined ? {} : { thoughtSignature: carried }) }]
  })
  return { parts: text === spokenText(original) ? parts : [...parts, { text }], written }
}

function responsePart(
  { callId, text }: Extract<Unit, { kind: 'answer' }>,
  own: GooglePart | undefined,
  call: GoogleFunctionCall = { id: callId, name: 'unknown' },
): GooglePart {
  const before = own?.functionResponse
  if (!before) return { functionResponse: toResponse(call, { result: text }) }
  if (before.name === call.name && (before.id || '') === (call.id || '')) return own
  const { id: _, ...rest } = before
  return { ...own, functionResponse: { ...rest, ...toResponse(call, before.response) } }
}

function pieceOf(unit: Unit): Piece | undefined {
  return unit.kind !== 'note' && unit.native?.wire === WIRE ? (unit.native.value as Piece) : undefined
}

function callIn(part: unknown): GoogleFunctionCall {
  return (part as GooglePart | undefined)?.functionCall ?? {}
}
