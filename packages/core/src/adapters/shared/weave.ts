/** Puts the inserts of a view into a history, each behind its anchor, the same on every request. */

import type { Insert } from '../../ledger/fold.js'
import type { SurfaceView } from '../../surface/project.js'
import type { Placed, Unit } from './thread.js'
import type { Warn } from './warning.js'

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
