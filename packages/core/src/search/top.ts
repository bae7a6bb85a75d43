/** Keeps the best of many slots in order, without sorting all of them. */

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
  let kept: number[] = []
  // Twice the limit is collected before the worse half is dropped, so that sorting stays rare.
  const room = limit < count ? Math.max(64, limit * 2) : Number.POSITIVE_INFINITY
  let threshold = 0
  for (let slot = 0; slot < count; slot += 1) {
    const score = scores[slot] as number
    if (score <= 0 || score < threshold || !allowed(slot)) continue
    kept.push(slot)
    if (kept.length < room) continue
    kept.sort(order)
    kept = kept.slice(0, limit)
    threshold = scores[kept[limit - 1] as number] as number
  }
  return kept.sort(order).slice(0, limit)
}
