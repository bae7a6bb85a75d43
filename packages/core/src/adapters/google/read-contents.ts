/** Contents to units. A model's content is one unit; a user's is one for each response in it, and one for the rest. */
import { isRecord, type Native, readArguments, textOf, type Unit, type UnitCall } from '../shared/thread.js'
import {
  type GoogleContent,
  type GoogleFunctionResponse,
  type GooglePart,
  type GoogleReply,
  partsOf,
  WIRE,
} from './wire.js'

/** What a unit of this wire was read from: some parts of a content. */
export interface Piece {
  readonly content: GoogleContent
  readonly parts: readonly GooglePart[]
}

interface Reading {
  /** The open calls it was read with: responses without ids depend on them. */
  readonly open: string
  readonly units: readonly Unit[]
}

const readings = new WeakMap<GoogleContent, Reading>()

export function readContents(contents: readonly GoogleContent[]): readonly Unit[] {
  let open: readonly UnitCall[] = []
  return contents.flatMap((content) => {
    const key = JSON.stringify(open.map(({ id }) => id))
    const known = readings.get(content)
    const units = known?.open === key ? known.units : readContent(content, open)
    readings.set(content, { open: key, units })
    for (const unit of units) {
      if (unit.kind === 'assistant') open = unit.calls
      if (unit.kind === 'answer') open = open.filter(({ id }) => id !== unit.callId)
    }
    return units
  })
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
  const ids = new Set<string>()
  return partsOf(content).flatMap((part): UnitCall[] => {
    const { id: own, name, args } = part?.functionCall ?? {}
    if (typeof name !== 'string' || name === '') return []
    const base = own || name
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

function readContent(content: GoogleContent, open: readonly UnitCall[]): readonly Unit[] {
  const parts = partsOf(content)
  if (content.role === 'model') {
    const piece: Piece = { content, parts }
    return [{ kind: 'assistant', text: spokenText(parts), calls: callsOf(content), native: native(piece) }]
  }
  const units: Unit[] = []
  let left = open
  const rest = parts.filter((part) => {
    const response = part?.functionResponse
    if (!response) return true
    const call = answeredBy(response, left)
    left = left.filter((each) => each !== call)
    const callId = call?.id ?? (response.id || response.name || '')
    const piece: Piece = { content, parts: [part] }
    units.push({ kind: 'answer', callId, text: responseText(response.response), native: native(piece) })
    return false
  })
  if (rest.length === 0 && units.length > 0) return units
  const piece: Piece = { content, parts: rest }
  return [...units, { kind: 'user', text: spokenText(rest), native: native(piece) }]
}

/** By its id; else the first open call of that name, unless both have ids and these differ. */
function answeredBy({ id, name }: GoogleFunctionResponse, open: readonly UnitCall[]): UnitCall | undefined {
  const exact = id ? open.find((call) => ownId(call) === id) : undefined
  return exact ?? open.find((call) => call.name === name && (!id || ownId(call) === undefined))
}

/** What the model reads: the one text, or the whole object where it is not ours. */
function responseText(response: unknown): string {
  if (!isRecord(response)) return ''
  const [key = '', ...others] = Object.keys(response)
  const value = others.length === 0 && /^(result|output|error)$/.test(key) ? response[key] : response
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

function native(value: GooglePart | Piece): Native {
  return { wire: WIRE, value }
}
