/**
 * The end of a history as a place for notices. They stand behind the user's message or at the end of the last result,
 * never between a result and the next reply: servers refuse a message there, and chat templates drop reasoning before it.
 */

import type { NoticePlace } from '../../surface/plan.js'
import type { Placed } from './thread.js'

/** `wordless`: the calls of this name get no words for an answer where the delivery is native. */
export function noticePlace(placed: readonly Placed[], wordless: string | undefined): NoticePlace {
  const start = placed.findLastIndex(({ unit }) => unit.kind !== 'answer') + 1
  const answers = placed.slice(start)
  const before = placed[start - 1]
  const anchors = answers.map(({ anchor }) => anchor)
  // Those that nobody has answered are answered by the repair.
  const open = before?.unit.kind === 'assistant' ? before.unit.calls.map(({ name }) => name) : []
  const named = [...open, ...answers.flatMap((answer) => nameOf(answer, placed) ?? [])]
  if (named.length === 0)
    return {
      anchors: placed.slice(-1).map(({ anchor }) => anchor),
      // The model goes on where it stopped: nothing comes between.
      takes: () => (placed.at(-1)?.unit.kind === 'assistant' ? 'nothing' : 'words'),
    }
  return {
    anchors: [...anchors, ...(answers.length === 0 && before ? [before.anchor] : [])],
    takes: (delivery) =>
      delivery !== 'native' || named.some((name) => name !== wordless) ? 'words' : 'tools',
  }
}

/** The call that an answer belongs to, by name. */
function nameOf({ anchor }: Placed, placed: readonly Placed[]): string | undefined {
  const { unit, calls = [] } = placed.findLast((each) => each.calls.includes(anchor)) ?? {}
  return unit?.kind === 'assistant' ? unit.calls[calls.indexOf(anchor)]?.name : undefined
}
