/** Segments of tools whose index is kept somewhere: read from there, or made and kept. */
import type { StoredPart } from '../tool/source.js'
import type { Analysis } from './index/segment.js'
import { createSegmentBuilder, type Identity, type Segment } from './index/segment.js'
import { decodeSegment, encodeSegment } from './index/stored-segment.js'
import type { SearchDocument } from './searcher.js'

/** Tools whose index is kept somewhere; their text is read only if it is not. */
export interface IndexPart {
  readonly stored: StoredPart
  readonly identities: readonly Identity[]
  documents(): readonly SearchDocument[]
}

/** `analyser` is made only where a segment has to be. */
export function segmentsOf(
  parts: readonly IndexPart[],
  analyser: () => (document: SearchDocument) => Analysis,
): Segment[] {
  let analyse: ReturnType<typeof analyser> | undefined
  return parts.map(({ stored, identities, documents }): Segment => {
    const kept = attempt(() => stored.read())
    const known = kept && decodeSegment(kept, identities)
    if (known) return known
    analyse ??= analyser()
    const builder = createSegmentBuilder()
    for (const [at, document] of documents().entries())
      builder.add(identities[at] ?? document, analyse(document))
    const made = builder.build()
    attempt(() => stored.write(encodeSegment(made)))
    return made
  })
}

/** The host's code may fail to keep an index; a search is worth more than its start. */
function attempt<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
