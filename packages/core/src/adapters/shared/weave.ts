/** Puts the inserts of a view into a history, each behind its anchor, the same on every request. */
import type { Insert } from '../../ledger.js'
import type { SurfaceView } from '../../surface.js'
import type { Placed, Unit } from './thread.js'

export function weave(placed: readonly Placed[], view: SurfaceView, warn: (warning: string) => void): Unit[] {
  const notes = placeInserts(placed, view, warn)
  const output: Unit[] = []
  placed.forEach(({ unit }, index) => {
    output.push(unit)
    const note = notes.get(index)
    if (note) output.push(note)
  })
  return output
}

type Note = Extract<Unit, { kind: 'note' }>

/** What to put behind each unit, by index. */
function placeInserts(
  placed: readonly Placed[],
  view: SurfaceView,
  warn: (warning: string) => void,
): Map<number, Note> {
  const notes = new Map<number, Note>()
  if (view.inserts.length === 0 || placed.length === 0) return notes
  const last = new Map(placed.map(({ anchor }, index) => [anchor, index]))
  let position = firstTurn(placed)
  for (const insert of view.inserts) {
    const found = last.get(insert.anchor)
    if (found === undefined)
      warn('the message an update belongs to is gone; it stands at the nearest earlier place')
    let index = found ?? position
    // Behind all answers of the batch: nothing may stand between a call and its answers.
    while (placed[index + 1]?.unit.kind === 'answer') index++
    position = Math.max(position, index)
    const note = joined(notes.get(index), insert, view)
    if (note) notes.set(index, note)
  }
  return notes
}

/** One note for all updates of a place. Definitions go with it only where the provider can take them. */
function joined(before: Note | undefined, insert: Insert, { delivery }: SurfaceView): Note | undefined {
  const native = delivery === 'native'
  const text = [before?.text ?? '', insert.text].filter((each) => each !== '').join('\n\n')
  const adds = [...(before?.adds ?? []), ...(native ? insert.adds : [])]
  const removes = [...(before?.removes ?? []), ...(native ? insert.removes : [])]
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
