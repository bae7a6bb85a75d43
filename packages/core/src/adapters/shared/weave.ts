/** Puts the inserts of a view into a history, each behind its anchor, the same on every request. */
import type { SurfaceView } from '../../surface.js'
import type { Placed, Unit } from './thread.js'

export function weave(placed: readonly Placed[], view: SurfaceView, warn: (warning: string) => void): Unit[] {
  const texts = placeInserts(placed, view, warn)
  const output: Unit[] = []
  placed.forEach(({ unit }, index) => {
    output.push(unit)
    const text = texts.get(index)
    if (text !== undefined) output.push({ kind: 'note', text })
  })
  return output
}

/** The text to put behind each unit, by index. */
function placeInserts(
  placed: readonly Placed[],
  view: SurfaceView,
  warn: (warning: string) => void,
): Map<number, string> {
  const texts = new Map<number, string>()
  if (view.inserts.length === 0 || placed.length === 0) return texts
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
    const before = texts.get(index)
    texts.set(index, before === undefined ? insert.text : `${before}\n\n${insert.text}`)
  }
  return texts
}

/** The first unit that is not the system's: nothing of ours may stand before it. */
function firstTurn(placed: readonly Placed[]): number {
  const first = placed.findIndex(({ unit }) => unit.kind !== 'system')
  return first < 0 ? placed.length - 1 : first
}
