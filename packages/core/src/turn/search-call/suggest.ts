/** Names that a model may have meant by a wrong one. */
import { nearest } from '../../base/nearest.js'
import type { Context } from '../../surface/context.js'
import type { Batch } from '../load/batch.js'

/** Wrong names of one batch that are given suggestions: each walks the catalogue. */
const MAX_SUGGESTED = 5

/** Only of tools that the conversation may know about. */
export function suggest(asked: string, { catalogue, gate }: Context, batch: Batch): string[] {
  if (batch.suggested++ >= MAX_SUGGESTED) return []
  const names = new Map<string, string>()
  for (const entry of catalogue.entries()) {
    if (!gate.visible(entry)) continue
    for (const name of [entry.wireName, entry.tool.name, ...(entry.tool.aliases ?? [])])
      if (!names.has(name)) names.set(name, entry.wireName)
  }
  const close = nearest(asked, names.keys(), 8).map((name) => names.get(name) ?? name)
  return [...new Set(close)].slice(0, 3)
}
