/** Contents to units. A reply of the model is one unit; a user's content is one for each response in it, and one for the rest. */

import { isRecord } from '../../base/guards.js'
import { type Native, plainText, readArguments, textOf, type Unit, type UnitCall } from '../shared/thread.js'
import type { OwnUnit } from '../shared/wire.js'
import { normaliseParts } from './normalise.js'
import {
  type GoogleContent,
  type GoogleFunctionCall,
  type GoogleFunctionResponse,
  type GooglePart,
  type GoogleReply,
  partsOf,
  WIRE,
} from './types.js'

/** What a unit of this wire was read from: some parts of a content. */
export interface Piece {
  readonly content: GoogleContent
  readonly parts: readonly GooglePart[]
  /** Responses of the same content stand before these parts. */
  readonly isRest?: boolean
}

export function readContents(contents: readonly GoogleContent[]): readonly Unit[] {
  let open: readonly UnitCall[] = []
  return joinReplies(contents).flatMap((content) => {
    const units = readContent(content, open).map(placed)
    for (const unit of units) {
      if (unit.kind === 'assistant') open = unit.calls
      if (unit.kind === 'answer') open = open.filter(({ id }) => id !== unit.callId)
    }
    return units
  })
}

/** What the units of a thread were read from. */
export function contentsOf(units: readonly OwnUnit[]): readonly GoogleContent[] {
  return units.flatMap(({ native: { value, form } }) => (form === 'rest' ? [] : [(value as Piece).content]))
}

function placed(unit: OwnUnit, index: number): OwnUnit {
  return index === 0 ? unit : { ...unit, native: { ...unit.native, form: 'rest' } }
}

export function contentOf(reply: GoogleReply): GoogleContent | undefined {
  return 'candidates' in reply ? reply.candidates?.[0]?.content : (reply as GoogleContent)
}

/** Thoughts are no text: they stay in the native piece. */
export function spokenText(parts: readonly GooglePart[]): string {
  return textOf(parts.filter((part) => part?.thought !== true))
}

/**
 * The calls of a content. One without an id goes by its name, with a number from the second in this content on. Along
 * the history such an id occurs again, like those of servers that number each reply anew, and its anchors tell the
 * occurrences apart: these are matched from the end after a compaction, which numbers from the start would not survive.
 */
export function callsOf(content: GoogleContent): readonly UnitCall[] {
  return callsIn(normaliseParts(content))
}

/** Of parts in normal form. */
export function callsIn(parts: readonly GooglePart[]): readonly UnitCall[] {
  const ids = new Set<string>()
  return parts.flatMap((part): UnitCall[] => {
    if (!part.functionCall) return []
    const { id: own, name = '', args } = part.functionCall
    const base = own || name || 'call'
    let id = base
    for (let count = 2; ids.has(id); count++) id = `${base}:${count}`
    ids.add(id)
    return [{ id, name, input: readArguments(args), native: native(part) }]
  })
}

/** The id that a call has on this wire, if any. */
export function ownId(call: UnitCall | undefined): string | undefined {
  if (call?.native?.wire !== WIRE) return call?.id
  return (call.native.value as GooglePart).functionCall?.id || undefined
}

/** Neither text, nor thought, nor a call. */
function isOther({ text, thought, functionCall }: GooglePart): boolean {
  return text === undefined && !thought && !functionCall
}

function readContent(content: GoogleContent, open: readonly UnitCall[]): readonly OwnUnit[] {
  const parts = normaliseParts(content)
  const calls = callsIn(parts)
  const answers: OwnUnit[] = []
  const own: OwnUnit[] = []
  let left = [...calls, ...open]
  const rest = parts.filter((part) => {
    const response = part.functionResponse
    if (!response) return true
    const call = answeredBy(response, left)
    left = left.filter((each) => each !== call)
    const callId = call?.id ?? (response.id || response.name || '')
    const piece: Piece = { content, parts: [part] }
    const text = responseText(response.response)
    const place = call && calls.includes(call) ? own : answers
    place.push({ kind: 'answer', callId, text, native: native(piece) })
    return false
  })
  const text = spokenText(rest)
  // Only the model calls, whatever the role says; and a call and its response may have come as one.
  if (content.role === 'model' || calls.length > 0)
    return [
      ...answers,
      {
        kind: 'assistant',
        text,
        calls,
        native: native({ content, parts: rest }),
        ...(rest.some(isOther) ? { more: true as const } : {}),
      },
      ...own,
    ]
  if (rest.length === 0 && answers.length > 0) return answers
  const piece: Piece = { content, parts: rest, isRest: answers.length > 0 }
  return [...answers, { kind: 'user', text, native: native(piece) }]
}

/** By its id; else the first open call of that name, unless both have ids and these differ. One that came twice has a number. */
function answeredBy({ id, name }: GoogleFunctionResponse, open: readonly UnitCall[]): UnitCall | undefined {
  const exact = id ? open.find((call) => ownId(call) === id) : undefined
  return (
    exact ??
    open.find((call) => call.name === name && (!id || ownId(call) === undefined)) ??
    (id ? open.find((call) => ownId(call)?.startsWith(`${id}:`)) : undefined)
  )
}

/** What the model reads: the one text, or the whole object where it is not ours. */
function responseText(response: unknown): string {
  if (!isRecord(response)) return ''
  const [key = '', ...others] = Object.keys(response)
  const value = others.length === 0 && /^(result|output|error)$/.test(key) ? response[key] : response
  return value === null ? 'null' : plainText(value)
}

function native(value: GooglePart | Piece): Native {
  return { wire: WIRE, value }
}

/**
 * Which contents are one reply. The chats of the official client keep a content for each piece of a stream, while
 * servers take every content for a turn of its own and want all calls of a reply in one, directly before their
 * responses.
 */
const joined = new WeakSet<GoogleContent>()

/**
 * Contents of the model that follow each other are one from the first whose calls are answered behind the last. The others
 * stay apart: a host went on after a text, or after an interrupted call, and the place between the two is still a place.
 */
function joinReplies(contents: readonly GoogleContent[]): readonly GoogleContent[] {
  const groups: GoogleContent[] = []
  let index = 0
  while (index < contents.length) {
    const start = index
    while (isOfModel(contents[index])) index++
    const run = contents.slice(start, index)
    const first = firstAnswered(run, responsesFrom(contents, index))
    groups.push(...run.slice(0, first), ...inOne(run.slice(first)))
    if (index === start) groups.push(contents[index++] as GoogleContent)
  }
  return groups
}

/** Whether a content was put together here. */
export function isJoined(content: GoogleContent): boolean {
  return joined.has(content)
}

function inOne(run: readonly GoogleContent[]): readonly GoogleContent[] {
  const [first, ...others] = run
  if (!first || others.length === 0) return run
  const reply = { ...first, parts: normaliseParts({ parts: run.flatMap(normaliseParts) }) }
  joined.add(reply)
  return [reply]
}

/** From the end: where calls have no ids, responses belong to the latest of their name. */
function firstAnswered(run: readonly GoogleContent[], responses: GoogleFunctionResponse[]): number {
  let first = run.length
  for (const [index, content] of [...run.entries()].reverse())
    for (const { functionCall: call } of normaliseParts(content)) {
      const answer = call ? responses.findIndex((response) => fits(response, call)) : -1
      if (answer < 0) continue
      responses.splice(answer, 1)
      first = index
    }
  return first
}

function fits(response: GoogleFunctionResponse, call: GoogleFunctionCall): boolean {
  return response.id && call.id ? response.id === call.id : response.name === call.name
}

/** Up to the next content of the model. */
function responsesFrom(contents: readonly GoogleContent[], start: number): GoogleFunctionResponse[] {
  const end = contents.findIndex((content, index) => index >= start && isOfModel(content))
  return contents
    .slice(start, end < 0 ? undefined : end)
    .flatMap((content) => normaliseParts(content).flatMap((part) => part.functionResponse ?? []))
}

/** A response among its parts belongs to a call of the same content. */
function isOfModel(content: GoogleContent | undefined): boolean {
  return content?.role === 'model' && !partsOf(content).some((part) => part?.functionResponse)
}
