/** Names that a model may have meant by a wrong one. */
import { type FoldedNames, foldNames, nearestOf } from '../../base/nearest.js'
import type { Catalogue, Entry } from '../../catalogue/catalogue.js'
import type { Context } from '../../surface/context.js'
import type { Batch } from '../load/batch.js'

/** Wrong names of one batch that are given suggestions: each walks the catalogue. */
const MAX_SUGGESTED = 5

/** Only of tools that the conversation may know about. */
export function suggest(asked: string, { catalogue, gate }: Context, batch: Batch): string[] {
  if (batch.suggested++ >= MAX_SUGGESTED) return []
  const { folded, owners } = namesIn(catalogue)
  const shown = (name: string) => owners.get(name)?.find((entry) => gate.visible(entry))
  const close = nearestOf(asked, folded, 8, (name) => shown(name) !== undefined)
  return [...new Set(close.map((name) => shown(name)?.wireName ?? name))].slice(0, 3)
}

interface Names {
  readonly revision: number
  readonly folded: FoldedNames
  /** By name, whose it is: names of different sources may be the same. */
  readonly owners: ReadonlyMap<string, readonly Entry[]>
}

const known = new WeakMap<Catalogue, Names>()

/** Every name that a tool goes by, until the catalogue changes: a model that guesses does so more than once. */
function namesIn(catalogue: Catalogue): Names {
  const { revision } = catalogue
  const last = known.get(catalogue)
  if (last?.revision === revision) return last
  const owners = new Map<string, Entry[]>()
  for (const entry of catalogue.entries())
    for (const name of new Set([entry.wireName, entry.tool.name, ...(entry.tool.aliases ?? [])])) {
      const own = owners.get(name)
      if (own) own.push(entry)
      else owners.set(name, [entry])
    }
  const made = { revision, folded: foldNames(owners.keys()), owners }
  known.set(catalogue, made)
  return made
}
