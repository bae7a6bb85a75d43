/**
 * Writes units as contents. A server treats each content as a turn. It requires all responses of a batch in one
 * content right after the calls, before other parts. An unchanged content is the host's own object.
 */

import { safeJson } from '../../base/text.js'
import type { ResultPart } from '../../result/part.js'
import { acceptsMedia } from '../../result/wire-media.js'
import { defaultPrompts, type Prompts } from '../../surface/prompts.js'
import { writeParts } from '../shared/media.js'
import {
  argumentsObject,
  describeReferences,
  hasSameItems,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import type { Warn } from '../shared/wire.js'
import { normaliseParts } from './normalise.js'
import { isJoined, type Piece, readPartCalls, readSpoken } from './read.js'
import {
  type GoogleContent,
  type GoogleFunctionCall,
  type GoogleFunctionResponse,
  type GooglePart,
  type GoogleResponseMedia,
  listParts,
  WIRE,
} from './types.js'

interface Draft {
  readonly role: 'user' | 'model'
  readonly source: GoogleContent | undefined
  readonly parts: readonly GooglePart[]
}

/**
 * Gemini 3 refuses a step whose first call has no signature. This is the documented value for calls of other models
 * (ai.google.dev/gemini-api/docs/thought-signatures). Earlier models do not check it.
 */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator'

const JOINED =
  'joined contents of one turn, because servers require its calls in one content, and its responses in one'

/** The written calls by the ids of their units: a response must repeat their id and name. */
type Written = ReadonlyMap<string, GoogleFunctionCall>

export function writeContents(units: readonly Unit[], warn: Warn): GoogleContent[] {
  const drafts: Draft[] = []
  let hasJoined = false
  const unsound = new Set<GoogleContent>()
  let written: Written = new Map()
  for (const unit of units) {
    const piece = readPiece(unit)
    if (piece && !isNormal(piece.content)) unsound.add(piece.content)
    let draft: Draft = { role: 'user', source: piece?.content, parts: piece?.parts ?? [] }
    let joins = true
    if (unit.kind === 'assistant') {
      const turn = writeModelTurn(unit, piece)
      written = turn.written
      draft = { ...draft, role: 'model', parts: turn.parts }
      // Calls must come right after a user turn; other content of the model may follow the model. After unanswered
      // calls a new reply begins, which may reuse their ids.
      joins = unit.calls.length > 0 && !isCalling(drafts.at(-1))
      if (joins) joinModelTurns(drafts)
    } else if (unit.kind === 'answer') {
      draft = { ...draft, parts: [responsePart(unit, piece?.parts[0], written.get(unit.callId))] }
    } else if (!piece) {
      draft = { ...draft, parts: unit.text === '' ? [] : [{ text: unit.text }] }
      joins = unit.kind === 'note'
    } else {
      // The rest of a content whose responses were just written. Other user contents stay separate.
      joins = piece.isRest === true && drafts.at(-1)?.source === piece.content
    }
    // Servers refuse an empty content.
    if (draft.parts.length === 0) {
      warn('entry-dropped', 'dropped a content without parts, because servers refuse it')
      continue
    }
    for (let last = drafts.at(-1); joins && last?.role === draft.role; last = drafts.at(-1)) {
      if (last.source && draft.source && last.source !== draft.source) hasJoined = true
      draft = { ...last, source: last.source ?? draft.source, parts: [...last.parts, ...draft.parts] }
      drafts.pop()
      // Only the user contents of this turn belong together.
      if (draft.role === 'user') break
    }
    drafts.push(draft)
  }
  for (const source of new Set(drafts.map((draft) => draft.source))) {
    if (source && isJoined(source)) hasJoined = true
    if (!source || !unsound.has(source)) continue
    warn(
      'form-repaired',
      `repaired the form of a content with the role ${safeJson(source.role)}, because servers refuse it`,
    )
  }
  if (hasJoined) warn('contents-joined', JOINED)
  return drafts.map(toContent)
}

function isCalling(draft: Draft | undefined): boolean {
  return draft?.role === 'model' && draft.parts.some((part) => part.functionCall)
}

/** Joins the trailing contents of the model. */
function joinModelTurns(drafts: Draft[]): void {
  const [first, ...rest] = drafts.splice(drafts.findLastIndex(({ role }) => role !== 'model') + 1)
  if (first) drafts.push({ ...first, parts: [first, ...rest].flatMap(({ parts }) => parts) })
}

/** `call`: as it is in the written history. */
export function createResponse(
  { id, name = '' }: GoogleFunctionCall,
  response: GoogleFunctionResponse['response'] = {},
): GoogleFunctionResponse {
  return { ...(id ? { id } : {}), name, response }
}

function toContent({ role, source, parts }: Draft): GoogleContent {
  if (source && hasRole(role, source) && hasSameItems(listParts(source), parts)) return source
  return { ...source, role, parts }
}

/** A content without a role is the user's. */
function hasRole(role: Draft['role'], content: GoogleContent): boolean {
  return content.role === role || (role === 'user' && content.role == null)
}

function isNormal(content: GoogleContent): boolean {
  const parts = listParts(content)
  const known = hasRole('model', content) || hasRole('user', content)
  const first = parts.findIndex((part) => !part?.functionResponse)
  const ordered = first < 0 || !parts.slice(first).some((part) => part?.functionResponse)
  return known && ordered && hasSameItems(parts, normaliseParts(content))
}

function writeModelTurn(
  unit: Extract<Unit, { kind: 'assistant' }>,
  piece: Piece | undefined,
): { readonly parts: readonly GooglePart[]; readonly written: Written } {
  const written = new Map<string, GoogleFunctionCall>()
  if (piece && !unit.repaired) {
    for (const { id, native } of unit.calls) written.set(id, callIn(native?.value))
    return { parts: piece.parts, written }
  }
  if (!piece) {
    const parts: GooglePart[] = unit.text === '' ? [] : [{ text: unit.text }]
    for (const call of unit.calls) {
      const functionCall = { id: call.id, name: call.name, args: argumentsObject(call.input) }
      const signed = written.size === 0 ? { thoughtSignature: FOREIGN_SIGNATURE } : {}
      written.set(call.id, functionCall)
      parts.push({ functionCall, ...signed })
    }
    return { parts, written }
  }
  return rewriteTurn(unit.text, unit.calls, piece, written)
}

/**
 * Rewrites the calls and keeps everything else. The signature of a removed call passes to the next one, because the
 * first call needs one.
 */
function rewriteTurn(
  text: string,
  calls: readonly UnitCall[],
  { parts: original }: Piece,
  written: Map<string, GoogleFunctionCall>,
): { readonly parts: readonly GooglePart[]; readonly written: Written } {
  const kept = new Map(calls.map((call) => [call.id, call]))
  const ids = new Map(readPartCalls(original).map(({ id, native }) => [native?.value, id]))
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
  return { parts: text === readSpoken(original) ? parts : [...parts, { text }], written }
}

function responsePart(
  { callId, text, parts, loaded = [] }: Extract<Unit, { kind: 'answer' }>,
  own: GooglePart | undefined,
  call: GoogleFunctionCall = { id: callId, name: 'unknown' },
): GooglePart {
  const before = own?.functionResponse
  if (!before && parts) {
    // The parts contain only text and accepted media: no description is needed.
    const { response, ...beside } = writeResponse(parts, 'result', true, defaultPrompts)
    return { functionResponse: { ...createResponse(call, response), ...beside } }
  }
  if (!before)
    return { functionResponse: createResponse(call, { result: text || describeReferences(loaded) }) }
  if (before.name === call.name && (before.id || '') === (call.id || '')) return own
  const { id: _, ...rest } = before
  return { ...own, functionResponse: { ...rest, ...createResponse(call, before.response) } }
}

function readPiece(unit: Unit): Piece | undefined {
  return unit.kind !== 'note' && unit.native?.wire === WIRE ? (unit.native.value as Piece) : undefined
}

function callIn(part: unknown): GoogleFunctionCall {
  return (part as GooglePart | undefined)?.functionCall ?? {}
}

/**
 * Writes a result for Gemini: text in the response, media in its parts. It uses no `displayName` and no `$ref` to
 * one: the Gemini API refuses them, although Vertex documents them. `media`: whether the model accepts media.
 */
export function writeResponse(
  parts: readonly ResultPart[],
  key: 'result' | 'error',
  media: boolean,
  prompts: Prompts,
): Pick<GoogleFunctionResponse, 'response' | 'parts'> {
  const made = writeParts<GoogleResponseMedia>(
    parts,
    (part) =>
      media && acceptsMedia(WIRE, part)
        ? { inlineData: { mimeType: part.mediaType, data: part.data } }
        : undefined,
    prompts,
  )
  const beside = made.filter((each) => typeof each !== 'string')
  const words = made.filter((each) => typeof each === 'string').join('\n')
  return { response: { [key]: words }, ...(beside.length > 0 ? { parts: beside } : {}) }
}
