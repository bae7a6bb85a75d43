/**
 * Reads contents as units. A reply of the model is one unit. A user content is one unit for each response, and one
 * for the rest.
 */

import { isRecord } from '../../base/data.js'
import {
  cutOff,
  type Native,
  plainText,
  readArguments,
  readText,
  type Unit,
  type UnitCall,
} from '../shared/thread.js'
import type { OwnUnit } from '../shared/wire.js'
import { normaliseParts } from './normalise.js'
import { countOpenCalls, cutReplies, hasPieces, isUnfinished } from './partial-args.js'
import {
  type GoogleContent,
  type GoogleFunctionCall,
  type GoogleFunctionResponse,
  type GooglePart,
  type GoogleReply,
  listParts,
  WIRE,
} from './types.js'

/** The parts of a content that a unit was read from. */
export interface Piece {
  readonly content: GoogleContent
  readonly parts: readonly GooglePart[]
  /** Responses of the same content come before these parts. */
  readonly isRest?: boolean
}

export function readContents(contents: readonly GoogleContent[]): readonly Unit[] {
  let open: readonly UnitCall[] = []
  return joinReplies(joinStreamedCalls(contents)).flatMap((content) => {
    const units = readContent(content, open).map(markRest)
    for (const unit of units) {
      if (unit.kind === 'assistant') open = unit.calls
      if (unit.kind === 'answer') open = open.filter(({ id }) => id !== unit.callId)
    }
    return units
  })
}

/** Rebuilds the contents of a thread. */
export function restoreContents(units: readonly OwnUnit[]): readonly GoogleContent[] {
  return units.flatMap(({ native: { value, form } }) => (form === 'rest' ? [] : [(value as Piece).content]))
}

function markRest(unit: OwnUnit, index: number): OwnUnit {
  return index === 0 ? unit : { ...unit, native: { ...unit.native, form: 'rest' } }
}

/** The calls of the first candidate. A call at the token limit may lack arguments, so it does not run. */
export function readReplyCalls(reply: GoogleReply): readonly UnitCall[] {
  const candidate = 'candidates' in reply ? reply.candidates?.[0] : { content: reply as GoogleContent }
  const { content, finishReason } = { finishReason: undefined, ...candidate }
  if (!content) return []
  const calls = readCalls(content)
  const last =
    finishReason === 'MAX_TOKENS' || cutReplies.has(content) ? normaliseParts(content).at(-1) : undefined
  if (!last?.functionCall) return calls
  const cut = { input: cutOff(plainText(last.functionCall.args)) }
  return calls.map((call, index) => (index === calls.length - 1 ? { ...call, ...cut } : call))
}

/** Thoughts are not text: they stay in the native piece. */
export function readSpoken(parts: readonly GooglePart[]): string {
  return readText(parts.filter((part) => part?.thought !== true))
}

/**
 * The calls of a content. A call without an id gets its name as id, with a number from the second one in this content
 * on. Such an id is repeated in the history, and anchors distinguish the occurrences: they are matched from the end
 * after a compaction, which numbers from the start would not survive.
 */
export function readCalls(content: GoogleContent): readonly UnitCall[] {
  return readPartCalls(normaliseParts(content))
}

/** `parts` are in normal form. */
export function readPartCalls(parts: readonly GooglePart[]): readonly UnitCall[] {
  const ids = new Set<string>()
  return parts.flatMap((part): UnitCall[] => {
    if (!part.functionCall) return []
    const { id: own, name = '', args } = part.functionCall
    const base = own || name || 'call'
    let id = base
    for (let count = 2; ids.has(id); count++) id = `${base}:${count}`
    ids.add(id)
    const input = isUnfinished(part.functionCall) ? cutOff(plainText(args)) : readArguments(args)
    return [{ id, name, input, native: native(part) }]
  })
}

/** The id of a call on this wire, if it has one. */
export function readOwnId(call: UnitCall | undefined): string | undefined {
  if (call?.native?.wire !== WIRE) return call?.id
  return (call.native.value as GooglePart).functionCall?.id || undefined
}

/** Whether a part is not text, a thought or a call. */
function isOther({ text, thought, functionCall }: GooglePart): boolean {
  return text === undefined && !thought && !functionCall
}

function readContent(content: GoogleContent, open: readonly UnitCall[]): readonly OwnUnit[] {
  const parts = normaliseParts(content)
  const calls = readPartCalls(parts)
  const answers: OwnUnit[] = []
  const own: OwnUnit[] = []
  let left = [...calls, ...open]
  const rest = parts.filter((part) => {
    const response = part.functionResponse
    if (!response) return true
    const call = findCall(response, left)
    left = left.filter((each) => each !== call)
    const callId = call?.id ?? (response.id || response.name || '')
    const piece: Piece = { content, parts: [part] }
    const text = responseText(response.response)
    const place = call && calls.includes(call) ? own : answers
    place.push({ kind: 'answer', callId, text, native: native(piece) })
    return false
  })
  const text = readSpoken(rest)
  // Only the model calls, whatever the role is. A call and its response may be in one content.
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

/**
 * Matches by id. Otherwise the first open call of that name, unless both have different ids. A repeated id has a
 * number.
 */
function findCall({ id, name }: GoogleFunctionResponse, open: readonly UnitCall[]): UnitCall | undefined {
  const exact = id ? open.find((call) => readOwnId(call) === id) : undefined
  return (
    exact ??
    open.find((call) => call.name === name && (!id || readOwnId(call) === undefined)) ??
    (id ? open.find((call) => readOwnId(call)?.startsWith(`${id}:`)) : undefined)
  )
}

/** The text that the model reads: the single text of Toolwell's form, or the whole object. */
function responseText(response: unknown): string {
  if (!isRecord(response)) return ''
  const [key = '', ...others] = Object.keys(response)
  const value = others.length === 0 && /^(result|output|error)$/.test(key) ? response[key] : response
  return value === null ? 'null' : plainText(value)
}

function native(value: GooglePart | Piece): Native {
  return { wire: WIRE, value }
}

const joined = new WeakSet<GoogleContent>()

/** Joins the contents of a call that came in pieces. A piece without a call is nothing. */
function joinStreamedCalls(contents: readonly GoogleContent[]): readonly GoogleContent[] {
  const groups: GoogleContent[][] = []
  let open = 0
  for (const content of contents) {
    const last = groups.at(-1)
    if (open > 0 && last && isOfModel(content)) last.push(content)
    else {
      groups.push([content])
      open = 0
    }
    if (isOfModel(content)) open = countOpenCalls(listParts(content), open)
  }
  return groups.flatMap(joinRun).filter((content) => normaliseParts(content).length > 0)
}

/** Whether a content has nothing to send. A piece of a call belongs to the contents before it. */
export function isEmpty(content: GoogleContent): boolean {
  return !hasPieces(listParts(content)) && normaliseParts(content).length === 0
}

/**
 * Joins contents that are one reply. The official client keeps one content for each chunk of a stream, but servers
 * treat every content as a turn, and require all calls of a reply in one content right before their responses. Joined
 * are consecutive contents of the model from the first whose calls are answered after the last. The others stay
 * separate: the host continued after a text or an interrupted call, and notices may be placed between them.
 */
function joinReplies(contents: readonly GoogleContent[]): readonly GoogleContent[] {
  const groups: GoogleContent[] = []
  let index = 0
  while (index < contents.length) {
    const start = index
    while (isOfModel(contents[index])) index++
    if (index === start) {
      groups.push(contents[index++] as GoogleContent)
      continue
    }
    const run = contents.slice(start, index)
    const first = findFirstAnswered(run, readResponses(contents, index))
    groups.push(...run.slice(0, first), ...joinRun(run.slice(first)))
  }
  return groups
}

/** Whether `joinReplies` made this content. */
export function isJoined(content: GoogleContent): boolean {
  return joined.has(content)
}

function joinRun(run: readonly GoogleContent[]): readonly GoogleContent[] {
  const [first, ...others] = run
  if (!first || others.length === 0) return run
  const reply = { ...first, parts: normaliseParts({ parts: run.flatMap(listGivenParts) }) }
  joined.add(reply)
  return [reply]
}

function listGivenParts(content: GoogleContent): readonly GooglePart[] {
  return Array.isArray(content.parts) ? listParts(content) : normaliseParts(content)
}

/** From the end: without ids, responses belong to the latest calls of their name. */
function findFirstAnswered(run: readonly GoogleContent[], responses: GoogleFunctionResponse[]): number {
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

/** The responses up to the next content of the model. */
function readResponses(contents: readonly GoogleContent[], start: number): GoogleFunctionResponse[] {
  let end = start
  while (end < contents.length && !isOfModel(contents[end])) end++
  return contents
    .slice(start, end)
    .flatMap((content) => normaliseParts(content).flatMap((part) => part.functionResponse ?? []))
}

/** A response inside the content belongs to a call of the same content. */
function isOfModel(content: GoogleContent | undefined): boolean {
  return content?.role === 'model' && !listParts(content).some((part) => part?.functionResponse)
}
