/** Segments of tools whose index is kept somewhere: read from there, or made and kept. */
import type { StoredPart } from '../tool/source.js'
import type { Analysis } from './index/segment.js'
import { createSegmentBuilder, createTermCounts, type Identity, type Segment } from './index/segment.js'
import { decodeSegment, encodeSegment } from './index/stored-segment.js'
import type { Tally } from './index/tally.js'
import type { SearchDocument } from './searcher.js'

/** Tools whose index is kept somewhere; their text is read only if it is not. */
export interface IndexPart {
  readonly stored: StoredPart
  readonly identities: readonly Identity[]
  documents(): readonly SearchDocument[]
}

/** Reads segments of parts, or makes and keeps them. What is needed to make one is made once for all. */
export function createPartReader(
  analyser: () => (document: SearchDocument) => Analysis,
): (part: IndexPart) => Segment {
  let making: { readonly analyse: ReturnType<typeof analyser>; readonly counts: Tally } | undefined
  return ({ stored, identities, documents }) => {
    const kept = attempt(() => stored.read())
    const known = kept && decodeSegment(kept, identities)
    if (known) return known
    making ??= { analyse: analyser(), counts: createTermCounts() }
    const { analyse, counts } = making
    const builder = createSegmentBuilder(counts)
    for (const [at, document] of documents().entries())
      builder.add(identities[at] ?? document, analyse(document))
    const made = builder.build()
    attempt(() => stored.write(encodeSegment(made)))
    return made
  }
}

/** The host's code may fail to keep an index; a search is worth more than its start. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
