/** The calls of one reply are run once. */

import { invalid } from '../../base/options.js'
import type { UnitCall } from './thread.js'

/** Throws where these very calls were run on this turn: tools would do everything twice. A run that failed may be tried again. */
export function assertFirstRun(ran: WeakSet<object>, reply: unknown, calls: readonly UnitCall[]): () => void {
  const marks = [reply, ...calls.map(({ native }) => native?.value)].filter(
    (value): value is object => typeof value === 'object' && value !== null,
  )
  if (calls.length > 0 && marks.some((mark) => ran.has(mark)))
    throw invalid(
      'run',
      'The calls of this reply have been run on this turn: keep what the first run gave. For the next reply, begin again with the history that holds this one and its results.',
    )
  for (const mark of marks) ran.add(mark)
  return () => {
    for (const mark of marks) ran.delete(mark)
  }
}
