/** A request that was taken for the history: what Toolwell has put into it would then be said once more each time. */

import type { SurfaceView } from '../../surface/project.js'
import { plainText } from './plain-text.js'
import { sameUpTo } from './same-items.js'
import type { Stretch } from './stretches.js'
import type { Unit } from './thread.js'

/** Shorter texts of a host's own prompts may stand in a history by chance. */
const LEAST = 20

export const FED_BACK =
  'this history, or the prompt beside it, holds what Toolwell has put into an earlier request. Keep a list of your own: push the reply and the messages of run onto it, and give that to begin, not the messages of turn.parts'

/** How far a history was looked through for a text, and where it was found. */
interface Looked {
  readonly upTo: number
  readonly foundAt: number | undefined
}

/**
 * Whether the host's own messages or prompt hold the section or an insert of this very conversation. What was looked through
 * before is not looked through again.
 */
export function createFedBack() {
  let before: readonly Stretch[] = []
  let looked = new Map<string, Looked>()

  const look = (stretches: readonly Stretch[], same: number, text: string, holds: Holds): Looked => {
    const known = looked.get(`${holds.name} ${text}`)
    if (known?.foundAt !== undefined && known.foundAt < same) return known
    const from = Math.min(known?.upTo ?? 0, same)
    const found = stretches
      .slice(from)
      .findIndex(({ placed }) => placed.some(({ unit }) => holds(unit, text)))
    return { upTo: stretches.length, foundAt: found < 0 ? undefined : from + found }
  }

  return (stretches: readonly Stretch[], prompt: object, { section, inserts }: SurfaceView): boolean => {
    const same = sameUpTo(stretches, before)
    const now = new Map<string, Looked>()
    const isFound = (text: string, holds: Holds) => {
      if (text.length < LEAST) return false
      const found = look(stretches, same, text, holds)
      now.set(`${holds.name} ${text}`, found)
      return found.foundAt !== undefined
    }
    const found = [
      isFound(section, isInSystem),
      ...inserts.map(({ text }) => isFound(text, isInHosts)),
      section.length >= LEAST && plainText(prompt).includes(JSON.stringify(section).slice(1, -1)),
    ]
    before = stretches
    looked = now
    return found.includes(true)
  }
}

type Holds = (unit: Unit, text: string) => boolean

function isInSystem({ kind, text: said }: Unit, text: string): boolean {
  return kind === 'system' && said.includes(text)
}

/** What the model itself says may quote anything. */
function isInHosts({ kind, text: said }: Unit, text: string): boolean {
  return kind !== 'assistant' && kind !== 'note' && said.includes(text)
}
