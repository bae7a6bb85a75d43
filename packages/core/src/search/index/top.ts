/** Keeps the best of many slots in order, without sorting all of them. */

/** Up to this many are kept in order while reading; above it, all candidates are sorted at the end. */
const insertionLimit = 256

/**
 * Slots with a positive score, best first, at most `limit`. `before` decides between equal scores; it is asked for those only.
 * Linear in the number of slots for a small limit.
 */
export function bestSlots(
  scores: Float32Array,
  count: number,
  limit: number,
  before: (first: number, second: number) => number,
  allowed: (slot: number) => boolean,
): number[] {
  const order = (first: number, second: number): number =>
    (scores[second] as number) - (scores[first] as number) || before(first, second)
  const kept: number[] = []
  if (limit < 1) return kept
  if (limit > insertionLimit) {
    for (let slot = 0; slot < count; slot += 1)
      if ((scores[slot] as number) > 0 && allowed(slot)) kept.push(slot)
    return kept.sort(order).slice(0, limit)
  }
  let threshold = 0
  for (let slot = 0; slot < count; slot += 1) {
    const score = scores[slot] as number
    // Few get past this line once the first are in: a random order lets in some limit · ln(count / limit) of them.
    if (score < threshold || score <= 0 || !allowed(slot)) continue
    let at = kept.length
    while (at > 0 && order(slot, kept[at - 1] as number) < 0) at -= 1
    if (at === limit) continue
    kept.splice(at, 0, slot)
    if (kept.length > limit) kept.pop()
    if (kept.length === limit) threshold = scores[kept[limit - 1] as number] as number
  }
  return kept
}
