/** Puts the prompt section and the inserts into a history, each at its anchor, the same bytes on every request. */
import type { SurfaceView } from '../../surface.js'
import type { Placed } from './repair.js'
import type { ChatMessage } from './wire.js'

export function weave(
  placed: readonly Placed[],
  view: SurfaceView,
  warn: (warning: string) => void,
): ChatMessage[] {
  const texts = placeInserts(placed, view, warn)
  const output: ChatMessage[] = []
  placed.forEach(({ message }, index) => {
    const text = texts.get(index)
    if (text === undefined) output.push(message)
    else if (message.role === 'user') output.push({ ...message, content: extended(message.content, text) })
    else output.push(message, { role: 'user', content: text })
  })
  return withSection(output, view.section)
}

/** The text to put behind each message, by index. */
function placeInserts(
  placed: readonly Placed[],
  view: SurfaceView,
  warn: (warning: string) => void,
): Map<number, string> {
  const texts = new Map<number, string>()
  if (view.inserts.length === 0) return texts
  const last = new Map(placed.map(({ anchor }, index) => [anchor, index]))
  let position = leading(placed) - 1
  for (const insert of view.inserts) {
    const found = last.get(insert.anchor)
    if (found === undefined)
      warn('the message an update belongs to is gone; it stands at the nearest earlier place')
    let index = found ?? position
    // Behind all results of the batch: nothing may stand between a call and its answers.
    while (placed[index + 1]?.message.role === 'tool') index++
    position = Math.max(position, index)
    const before = texts.get(index)
    texts.set(index, before === undefined ? insert.text : `${before}\n\n${insert.text}`)
  }
  const front = texts.get(-1)
  if (front !== undefined && placed.length > 0) {
    texts.delete(-1)
    const rest = texts.get(0)
    texts.set(0, rest === undefined ? front : `${front}\n\n${rest}`)
  }
  return texts
}

function leading(placed: readonly Placed[]): number {
  const first = placed.findIndex(({ message }) => message.role !== 'system' && message.role !== 'developer')
  return first < 0 ? placed.length : first
}

/** The section joins the host's own system message: some servers accept only one, and only at the start. */
function withSection(messages: ChatMessage[], section: string): ChatMessage[] {
  if (section === '') return messages
  const [first, ...rest] = messages
  if (first && (first.role === 'system' || first.role === 'developer'))
    return [{ ...first, content: extended(first.content, section) }, ...rest]
  return [{ role: 'system', content: section }, ...messages]
}

function extended(content: unknown, text: string): unknown {
  if (Array.isArray(content)) return [...content, { type: 'text', text }]
  return typeof content === 'string' && content !== '' ? `${content}\n\n${text}` : text
}
