/**
 * Reasoning as the API takes it back: once under its id, and only before the item it led to. A reply that ran into its
 * limit while the model was thinking has none, and goes; an item whose reasoning goes is not known by its id any more.
 */
import type { Warn } from '../shared/wire.js'
import { isOfModel, type ResponsesItem } from './types.js'

export function settleReasoning(items: readonly ResponsesItem[], warn: Warn): ResponsesItem[] {
  const seen = new Set<string>()
  const output: ResponsesItem[] = []
  let lost = false
  items.forEach((item, index) => {
    if (item.type === 'reasoning') {
      const kept = leads(items, index) ? once(item, seen) : undefined
      if (kept) output.push(kept)
      else warn('reasoning-dropped', 'dropped reasoning that led to nothing, or that stood there before')
      lost = !kept
    } else if (isOfModel(item)) {
      output.push(lost ? withoutId(item) : item)
    } else {
      output.push(item)
      lost = false
    }
  })
  return output
}

/** Whether the model went on behind this. */
function leads(items: readonly ResponsesItem[], index: number): boolean {
  let next = index + 1
  while (items[next]?.type === 'reasoning') next++
  const item = items[next]
  return item !== undefined && isOfModel(item)
}

/** What carries its own content need not be looked up. */
function once(item: ResponsesItem, seen: Set<string>): ResponsesItem | undefined {
  const { id } = item
  if (typeof id !== 'string') return item
  if (!seen.has(id)) {
    seen.add(id)
    return item
  }
  return typeof item.encrypted_content === 'string' ? withoutId(item) : undefined
}

function withoutId(item: ResponsesItem): ResponsesItem {
  const { id, ...rest } = item
  return id === undefined ? item : rest
}
