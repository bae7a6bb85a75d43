/** What definitions cost on one wire. Counted once, and kept with their source: a later start reads no schema for it. */

import { shortHash } from '../base/hash.js'
import type { Catalogue, Entry, KeptParts, Source } from '../catalogue/catalogue.js'

/** To be increased when definitions come to other tokens than before: because a dialect writes them in another way, say. */
const costVersion = 1

export interface Costs {
  /** Tokens of a tool's definition as it is sent. */
  of(entry: Entry, count: () => number): number
}

interface Kept {
  /** Names the wire names: they are sent and counted too, and may depend on other sources. */
  readonly names: string
  /** In the order of the source's tools; null where nobody has asked. */
  readonly costs: readonly (number | null)[]
}

/** `by` names what decides the count besides the tools; undefined where that has no name, and nothing can be kept. */
export function createCosts(catalogue: Catalogue, by: string | undefined): Costs {
  const known = new WeakMap<Entry, number>()
  const met = new WeakSet<KeptParts>()
  const counted = new Map<KeptParts, Source>()
  const key = `${costVersion} ${by}`

  const takeKept = (source: Source, kept: KeptParts) => {
    met.add(kept)
    const entries = entriesOf(source, catalogue)
    const { names, costs } = readAll(kept)[key] ?? {}
    if (names !== namesOf(entries) || !Array.isArray(costs) || costs.length !== entries.length) return
    for (const [at, entry] of entries.entries()) {
      const cost: unknown = costs[at]
      if (Number.isSafeInteger(cost) && (cost as number) >= 0) known.set(entry, cost as number)
    }
  }

  const keep = () => {
    for (const [kept, source] of counted) {
      const entries = entriesOf(source, catalogue)
      const costs = entries.map((entry) => known.get(entry) ?? null)
      const all = { ...readAll(kept), [key]: { names: namesOf(entries), costs } satisfies Kept }
      try {
        kept.tokens.write(new TextEncoder().encode(JSON.stringify(all)))
      } catch {
        // The next start counts again.
      }
    }
    counted.clear()
  }

  return {
    of(entry, count) {
      const source = by === undefined ? undefined : catalogue.sources.get(entry.source)
      const kept = source?.kept
      if (source && kept && !met.has(kept)) takeKept(source, kept)
      const before = known.get(entry)
      if (before !== undefined) return before
      const made = count()
      known.set(entry, made)
      if (source && kept) {
        // Once for all that are counted in one go.
        if (counted.size === 0) queueMicrotask(keep)
        counted.set(kept, source)
      }
      return made
    },
  }
}

function entriesOf({ ids }: Source, catalogue: Catalogue): Entry[] {
  return [...ids].flatMap((id) => catalogue.get(id) ?? [])
}

function namesOf(entries: readonly Entry[]): string {
  return shortHash(entries.map(({ wireName }) => wireName).join('\n'))
}

/** By what decided the count. Nothing where it cannot be read. */
function readAll({ tokens }: KeptParts): Readonly<Record<string, Kept | undefined>> {
  try {
    const all: unknown = JSON.parse(new TextDecoder().decode(tokens.read()))
    return typeof all === 'object' && all !== null ? (all as Record<string, Kept>) : {}
  } catch {
    return {}
  }
}
