/**
 * Adds Toolwell's text to a history: the inserts of a view after their anchors, and notes that some servers need. The
 * same on every request.
 */

import { shortHash } from '../../base/hash.js'
import type { Insert } from '../../ledger/fold.js'
import { isFramed } from '../../surface/deltas.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { Placed, Unit } from './thread.js'
import type { IdRules, Warn } from './wire.js'

export function addInserts(placed: readonly Placed[], view: SurfaceView): readonly Unit[] {
  const notes = placeInserts(placed, view)
  const output: Unit[] = []
  for (const [index, { unit }] of placed.entries()) {
    output.push(unit)
    const note = notes.get(index)
    if (note) output.push(note)
  }
  return output
}

type Note = Extract<Unit, { kind: 'note' }>

/** The note to add after each unit, by index. */
function placeInserts(placed: readonly Placed[], { inserts, delivery }: SurfaceView): Map<number, Note> {
  const notes = new Map<number, Note>()
  if (inserts.length === 0) return notes
  const places = new Map<string, number>()
  placed.forEach(({ anchor, also = [] }, index) => {
    for (const name of [anchor, ...also]) places.set(name, index)
  })
  for (const insert of inserts) {
    const found = findPlace(insert, places, (index) => {
      const next = placed[findBatchEnd(placed, index) + 1]
      return next === undefined || next.unit.kind === 'assistant'
    })
    // Without a place, an update waits for the next message.
    if (found === undefined) continue
    const index = findBatchEnd(placed, found)
    const note = joinNotes(notes.get(index), insert, delivery)
    if (note) notes.set(index, note)
  }
  return notes
}

/**
 * A match after the request that carried the insert is a different message with the same content. An insert that moved because its
 * message was missing is at the end of that request; if another message follows there, this history is the one before the move.
 */
function findPlace(
  { anchor, request = anchor, moves = [] }: Insert,
  places: ReadonlyMap<string, number>,
  endsRequest: (index: number) => boolean,
): number | undefined {
  const end = places.get(request)
  const at = places.get(anchor)
  const own = at !== undefined && end !== undefined && at > end ? undefined : at
  const moved = moves
    .map((each) => places.get(each))
    .filter((index) => index !== undefined)
    .filter((index) => own === undefined || endsRequest(index))
  return own === undefined && moved.length === 0 ? undefined : Math.min(own ?? Infinity, ...moved)
}

/**
 * The end of the batch, after all its answers, including those written as text: nothing may come between a call and
 * its answers.
 */
function findBatchEnd(placed: readonly Placed[], start: number): number {
  let reply = start
  while (reply > 0 && placed[reply]?.unit.kind !== 'assistant') reply--
  const calls = placed[reply]?.calls ?? []
  const isOfBatch = (item: Placed | undefined) =>
    item?.unit.kind === 'answer' || (item?.unit.kind === 'note' && calls.includes(item.anchor))
  let end = start
  while (isOfBatch(placed[end + 1])) end++
  return end
}

/**
 * Joins all updates at one place into one note. Definitions are included only if the provider accepts them, once per
 * tool: the last update wins.
 */
function joinNotes(
  before: Note | undefined,
  insert: Insert,
  delivery: SurfaceView['delivery'],
): Note | undefined {
  const fresh = delivery === 'native' ? insert : { adds: [], removes: [] }
  const text = [before?.text ?? '', insert.text].filter((each) => each !== '').join('\n\n')
  const named = new Set([...fresh.adds.map(({ name }) => name), ...fresh.removes])
  const adds = [...(before?.adds ?? []).filter(({ name }) => !named.has(name)), ...fresh.adds]
  const removes = [...(before?.removes ?? []).filter((name) => !named.has(name)), ...fresh.removes]
  if (text === '' && adds.length === 0 && removes.length === 0) return before
  return {
    kind: 'note',
    text,
    ...(adds.length > 0 ? { adds } : {}),
    ...(removes.length > 0 ? { removes } : {}),
  }
}

/**
 * Turns Toolwell's own text after results into notes, which join the result. Anthropic and Gemini accept such text as
 * a user message, so threads from there contain it; the servers of this wire refuse it.
 */
export function joinOwnText(placed: readonly Placed[], prompts: Prompts): readonly Placed[] {
  let isBehindResult = false
  let joined: Placed[] | undefined
  for (const [index, item] of placed.entries()) {
    const { unit } = item
    const isOurs: boolean = isBehindResult && unit.kind === 'user' && isFramed(unit.text, prompts)
    isBehindResult = unit.kind === 'answer' || (isBehindResult && (isOurs || unit.kind === 'note'))
    if (!isOurs) continue
    joined ??= [...placed]
    joined[index] = { ...item, unit: { kind: 'note', text: unit.text } }
  }
  return joined ?? placed
}

/**
 * Adds a note before a history that begins with the model: some servers require the user first. A summary of the provider
 * itself must come first.
 */
export function addOpeningNote(
  placed: readonly Placed[],
  prompts: Prompts,
  warn: Warn,
  findSummary?: (unit: Unit) => unknown,
): readonly Placed[] {
  const first = placed.findIndex(({ unit }) => unit.kind !== 'system')
  const opening = placed[first]?.unit
  if (opening?.kind !== 'assistant' || findSummary?.(opening) !== undefined) return placed
  warn('beginning-missing', 'the history begins with the model; added a note that its beginning is missing')
  const note: Placed = {
    unit: { kind: 'note', text: prompts.frame({ body: prompts.beginningLost() }) },
    anchor: '',
    calls: [],
  }
  return placed.toSpliced(first, 0, note)
}

/**
 * Ids that Mistral's servers accept; others get a hash of this form. Source: `mistral-common`, the validator of
 * Mistral's requests. The API answers 400 to others ("Tool call id was call_98660886 but must be a-z, A-Z, 0-9, with
 * a length of 9.").
 */
export const MISTRAL_IDS: Pick<IdRules, 'legal' | 'made'> = {
  legal: /^[a-zA-Z0-9]{9}$/,
  made: (id) => shortHash(id, 9),
}

/**
 * Adds a reply of the model between a result and a user message, for example after interrupted tools. Mistral
 * requires it: after the role `tool` it accepts only `assistant` or `tool`.
 */
export function addRepliesBetween(placed: readonly Placed[], prompts: Prompts): readonly Placed[] {
  let isBehindResult = false
  return placed.flatMap((item) => {
    const { kind } = item.unit
    const isDue = isBehindResult && kind === 'user'
    isBehindResult = kind === 'answer' || (isBehindResult && kind === 'note')
    if (!isDue) return [item]
    return [{ unit: { kind: 'assistant', text: prompts.noReply(), calls: [] }, anchor: '', calls: [] }, item]
  })
}
