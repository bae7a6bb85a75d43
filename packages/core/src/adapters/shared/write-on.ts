/**
 * Writing that goes on where that of the last request ended: all pieces of a history but the last are written once, as long as they
 * are the same, and so is what the view says of them.
 */

import type { SurfaceView } from '../../surface/project.js'
import { sameItems, sameUpTo } from './same-items.js'
import type { Unit } from './thread.js'
import type { Warn, Warning } from './warning.js'
import type { Wire } from './wire.js'

/** How a wire writes piece by piece. */
export interface Pieces<Message, Progress> {
  /** Whether a piece begins with this unit: nothing from here on joins what stands before it, or changes it. */
  begins(unit: Unit, before: Unit | undefined): boolean
  /** What of the view is read. Where any of it is another thing, all is written anew. */
  seen(view: SurfaceView): readonly unknown[]
  start(view: SurfaceView): Progress
  copy(progress: Progress): Progress
  /** Changes `progress`, which holds what has to be known of the pieces before. */
  write(units: readonly Unit[], progress: Progress, view: SurfaceView, warn: Warn): readonly Message[]
}

interface Written<Message, Progress> {
  readonly units: readonly Unit[]
  readonly seen: readonly unknown[]
  /** Where the last piece begins: what follows here is about those before it. */
  readonly upTo: number
  readonly messages: readonly Message[]
  readonly warnings: readonly Warning[]
  readonly progress: Progress
}

export function createWriteOn<Message, Progress>(
  pieces: Pieces<Message, Progress>,
): Wire<Message, never, never>['write'] {
  let last: Written<Message, Progress> | undefined

  const isStart = (units: readonly Unit[], index: number) => {
    const unit = units[index]
    return index === units.length || (unit !== undefined && pieces.begins(unit, units[index - 1]))
  }
  const found = (units: readonly Unit[], seen: readonly unknown[]) =>
    last &&
    sameItems(last.seen, seen) &&
    sameUpTo(units, last.units) >= last.upTo &&
    isStart(units, last.upTo)
      ? last
      : undefined

  return (units, view, warn) => {
    const seen = pieces.seen(view)
    const before = found(units, seen)
    const messages = [...(before?.messages ?? [])]
    const warnings = [...(before?.warnings ?? [])]
    const progress = before ? pieces.copy(before.progress) : pieces.start(view)
    const note: Warn = (code, text) => void warnings.push({ code, text })
    for (let start = before?.upTo ?? 0; start < units.length; ) {
      let end = start + 1
      while (!isStart(units, end)) end++
      if (end === units.length)
        last = {
          units,
          seen,
          upTo: start,
          messages: [...messages],
          warnings: [...warnings],
          progress: pieces.copy(progress),
        }
      for (const message of pieces.write(units.slice(start, end), progress, view, note))
        messages.push(message)
      start = end
    }
    for (const { code, text } of warnings) warn?.(code, text)
    return messages
  }
}
