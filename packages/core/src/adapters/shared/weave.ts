/** Puts the inserts of a view into a history, each behind its anchor, the same on every request. */

import { shortHash } from '../../base/hash.js'
import type { Insert } from '../../ledger/fold.js'
import { isFramed } from '../../surface/announce.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Prompts } from '../../surface/prompts.js'
import type { IdRules } from './repair.js'
import type { Placed, Unit } from './thread.js'
import type { Warn } from './wire.js'

export function weave(placed: readonly Placed[], view: SurfaceView, warn: Warn): readonly Unit[] {
  const notes = placeInserts(placed, view, warn)
  const output: Unit[] = []
  for (const [index, { unit }] of placed.entries()) {
    output.push(unit)
    const note = notes.get(index)
    if (note) output.push(note)
  }
  return output
}

type Note = Extract<Unit, { kind: 'note' }>

/** What to put behind each unit, by index. */
function placeInserts(placed: readonly Placed[], view: SurfaceView, warn: Warn): Map<number, Note> {
  const notes = new Map<number, Note>()
  if (view.inserts.length === 0 || placed.length === 0) return notes
  const wanted = new Set(view.inserts.flatMap(({ anchor, request = anchor }) => [anchor, request]))
  const last = new Map<string, number>()
  placed.forEach(({ anchor }, index) => {
    if (wanted.has(anchor)) last.set(anchor, index)
  })
  let position = firstTurn(placed)
  for (const insert of view.inserts) {
    const found = placeOf(insert, last)
    if (found === undefined)
      warn('update-moved', 'the message an update belongs to is gone; it stands at the nearest earlier place')
    const index = batchEnd(placed, found ?? position)
    position = Math.max(position, index)
    const note = join(notes.get(index), insert, view)
    if (note) notes.set(index, note)
  }
  return notes
}

/** A message behind the request that carried it is another one that looks like it. */
function placeOf(
  { anchor, request = anchor }: Insert,
  places: ReadonlyMap<string, number>,
): number | undefined {
  const found = places.get(anchor)
  const end = places.get(request)
  return found !== undefined && end !== undefined && found > end ? undefined : found
}

/** Behind all answers of the batch, told ones too: nothing may stand between a call and its answers, or move them later. */
function batchEnd(placed: readonly Placed[], start: number): number {
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
 * One note for all updates of a place. Definitions go with it only where the provider can take them, each tool once: as the
 * last update has it.
 */
function join(before: Note | undefined, insert: Insert, { delivery }: SurfaceView): Note | undefined {
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

/** The first unit that is not the system's: nothing of ours may stand before it. */
function firstTurn(placed: readonly Placed[]): number {
  const first = placed.findIndex(({ unit }) => unit.kind !== 'system')
  return first < 0 ? placed.length - 1 : first
}

// Words of ours that stand as the user's behind results: Anthropic and Gemini take them there, in one turn with the results, and a thread that comes from there has them. Where a server takes no message there, they are a note, which joins the result.

export function joinOwnWords(placed: readonly Placed[], prompts: Prompts): readonly Placed[] {
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

// Puts a word before a history that was cut so that it begins with the model: some servers take only the user first.

export function openWithUser(placed: readonly Placed[], prompts: Prompts, warn: Warn): readonly Placed[] {
  const first = placed.findIndex(({ unit }) => unit.kind !== 'system')
  if (placed[first]?.unit.kind !== 'assistant') return placed
  warn(
    'beginning-missing',
    'the history begins with the model; a word that its beginning is missing stands before it',
  )
  const note: Placed = {
    unit: { kind: 'note', text: prompts.frame({ body: prompts.beginningLost() }) },
    anchor: '',
    calls: [],
  }
  return placed.toSpliced(first, 0, note)
}

// What Mistral's servers demand of a history, besides what the Chat family does. Sources: `mistral-common`, the validator of its requests. After the role `tool` it expects `assistant` or `tool`; ids of calls have nine letters and digits, and the API answers 400 to others ("Tool call id was call_98660886 but must be a-z, A-Z, 0-9, with a length of 9.").

/** Ids of other providers, and those of calls that were interrupted, get one of this form; Mistral's own stay. */
export const MISTRAL_IDS: Pick<IdRules, 'legal' | 'made'> = {
  legal: /^[a-zA-Z0-9]{9}$/,
  made: (id) => shortHash(id, 9),
}

/** Where the user speaks behind a result (tools were interrupted, the loop was left), a word of the model's stands between. */
export function speakBetween(placed: readonly Placed[], prompts: Prompts): readonly Placed[] {
  let isBehindResult = false
  return placed.flatMap((item) => {
    const { kind } = item.unit
    const isDue = isBehindResult && kind === 'user'
    isBehindResult = kind === 'answer' || (isBehindResult && kind === 'note')
    if (!isDue) return [item]
    return [{ unit: { kind: 'assistant', text: prompts.noReply(), calls: [] }, anchor: '', calls: [] }, item]
  })
}
