/** A request that was taken for the history: what Toolwell has put into it would then be said once more each time. */

import type { SurfaceView } from '../../surface/project.js'
import { plainText } from './plain-text.js'
import type { Unit } from './thread.js'

/** Shorter texts of a host's own prompts may stand in a history by chance. */
const LEAST = 20

export const FED_BACK =
  'this history, or the prompt beside it, holds what Toolwell has put into an earlier request. Keep a list of your own: push the reply and the messages of run onto it, and give that to begin, not the messages of turn.parts'

/** Whether the host's own messages or prompt hold the section or an insert of this conversation. */
export function isFedBack(
  units: readonly Unit[],
  prompt: object,
  { section, inserts }: SurfaceView,
): boolean {
  const isFound = (text: string, kinds: readonly Unit['kind'][]) =>
    text.length >= LEAST && units.some((unit) => kinds.includes(unit.kind) && unit.text.includes(text))
  return (
    isFound(section, ['system']) ||
    // The model itself may quote anything.
    inserts.some(({ text }) => isFound(text, ['system', 'user', 'answer'])) ||
    (section.length >= LEAST && plainText(prompt).includes(JSON.stringify(section).slice(1, -1)))
  )
}
