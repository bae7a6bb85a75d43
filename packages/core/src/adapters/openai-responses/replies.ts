/**
 * Which items belong to one reply. A history is a flat list, but calls are answered together, so a reply has to be one
 * unit; and what is one unit now must still be one when the history has grown.
 */
import { callIdOf, isMessage, isOfHostTool, isOfModel, isSearchOutput, type ResponsesItem } from './types.js'

/** The history in order: the items of a reply together, each other one by itself. What the host's other tools gave belongs to the reply. */
export function groupReplies(
  items: readonly ResponsesItem[],
): readonly (ResponsesItem | readonly ResponsesItem[])[] {
  const groups: (ResponsesItem | readonly ResponsesItem[])[] = []
  let index = 0
  while (index < items.length) {
    const start = index
    while (index < items.length && isOfReply(items[index] as ResponsesItem)) index++
    if (index > start) groups.push(...split(items.slice(start, index), answeredFrom(items, index)))
    else groups.push(items[index++] as ResponsesItem)
  }
  return groups
}

function isOfReply(item: ResponsesItem): boolean {
  return isOfModel(item) || isOfHostTool(item)
}

function split(run: readonly ResponsesItem[], answered: ReadonlyMap<string, number>): ResponsesItem[][] {
  const isShort = (id: string) => run.filter((item) => callIdOf(item) === id).length > (answered.get(id) ?? 0)
  const settled = answeredCalls(run, answered)
  const replies: ResponsesItem[][] = []
  let open: ResponsesItem[] = []
  for (const item of run) {
    if (hasEnded(open, item, settled, isShort)) {
      replies.push(open)
      open = []
    }
    open.push(item)
  }
  return [...replies, open]
}

/**
 * Replies that follow each other directly come from a host that went on after a text or after an interrupted call.
 * They stay apart: a place in the history behind the first one is still a place when the second has come.
 */
function hasEnded(
  open: readonly ResponsesItem[],
  next: ResponsesItem,
  answered: ReadonlySet<ResponsesItem>,
  isShort: (id: string) => boolean,
): boolean {
  const last = open.at(-1)
  if (!last) return false
  const calls = open.filter((item) => callIdOf(item) !== undefined)
  const called = callIdOf(next)
  if (called !== undefined && calls.some((item) => callIdOf(item) === called) && isShort(called)) return true
  if (calls.some((item) => answered.has(item))) return false
  // The model goes on when its tools have answered.
  if (isOfHostTool(last)) return !isOfHostTool(next)
  // Nobody can tell whether two calls that were never answered came together. Apart, the first is where it was.
  if (called !== undefined) return calls.length > 0
  return (next.type === 'reasoning' || isMessage(next)) && (calls.length > 0 || isMessage(last))
}

/** The calls that are answered. A server may count its ids anew in each reply: the answers are those of the last ones. */
function answeredCalls(
  run: readonly ResponsesItem[],
  answers: ReadonlyMap<string, number>,
): Set<ResponsesItem> {
  const left = new Map(answers)
  const answered = run.toReversed().filter((item) => {
    const id = callIdOf(item) ?? ''
    const count = left.get(id) ?? 0
    left.set(id, count - 1)
    return count > 0
  })
  return new Set(answered)
}

/** How often each call is answered between here and the next item of the model. */
function answeredFrom(items: readonly ResponsesItem[], start: number): Map<string, number> {
  const answered = new Map<string, number>()
  for (let index = start; index < items.length; index++) {
    const item = items[index] as ResponsesItem
    if (isOfModel(item)) break
    const isAnswer = item.type === 'function_call_output' || isSearchOutput(item)
    if (isAnswer && typeof item.call_id === 'string')
      answered.set(item.call_id, (answered.get(item.call_id) ?? 0) + 1)
  }
  return answered
}
