/** A request that was taken for the history: what Toolwell has put into it would then be said once more each time. */

import type { SurfaceView } from '../../surface/project.js'
import { plainText } from './plain-text.js'
import type { Placed } from './thread.js'

/** Shorter texts of a host's own prompts may stand in a history by chance. */
const LEAST = 20

export const FED_BACK =
  'this history, or the prompt beside it, holds what Toolwell has put into an earlier request. Keep a list of your own: push the reply and the messages of run onto it, and give that to begin, not the messages of turn.parts'

/** Whether the host's own messages or prompt hold the section or an insert of this very conversation. */
export function isFedBack(placed: readonly Placed[], prompt: object, view: SurfaceView): boolean {
  const { section } = view
  const texts = view.inserts.map(({ text }) => text).filter((text) => text.length >= LEAST)
  if (section.length >= LEAST && plainText(prompt).includes(JSON.stringify(section).slice(1, -1))) return true
  return placed.some(({ unit: { kind, text } }) => {
    if (kind === 'system' && section.length >= LEAST && text.includes(section)) return true
    // What the model itself says may quote anything.
    return kind !== 'assistant' && kind !== 'note' && texts.some((each) => text.includes(each))
  })
}
