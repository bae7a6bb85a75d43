/** Puts a word before a history that was cut so that it begins with the model: some servers take only the user first. */

import type { Prompts } from '../../surface/prompts.js'
import type { Placed } from './thread.js'
import type { Warn } from './warning.js'

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
