/** The last examples of one tool, in one array of numbers: forty bytes or so for each, whatever a query was. */

/** Examples of one tool that count; of more, the last. */
export const RING = 8

export interface Ring {
  /** The definition that all of them are of. */
  readonly fingerprint: string
  /** Each example: how many words, then their hashes. */
  readonly packed: Int32Array
}

/** With one more example. Examples of another definition say nothing of this one, and go. */
export function addToRing(ring: Ring | undefined, fingerprint: string, words: readonly number[]): Ring {
  const known = ring?.fingerprint === fingerprint ? examplesIn(ring) : []
  const kept = [...known.slice(1 - RING), words]
  return { fingerprint, packed: Int32Array.from(kept.flatMap((each) => [each.length, ...each])) }
}

/** The oldest first. */
export function examplesIn({ packed }: Ring): number[][] {
  const examples: number[][] = []
  for (let at = 0; at < packed.length; ) {
    const size = packed[at] as number
    examples.push([...packed.subarray(at + 1, at + 1 + size)])
    at += 1 + size
  }
  return examples
}
