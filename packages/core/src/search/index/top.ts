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
  if (limit < 1) return []
  if (limit > insertionLimit) {
    const all: number[] = []
    for (let slot = 0; slot < count; slot += 1)
      if ((scores[slot] as number) > 0 && allowed(slot)) all.push(slot)
    const order = (first: number, second: number): number =>
      (scores[second] as number) - (scores[first] as number) || before(first, second)
    return all.sort(order).slice(0, limit)
  }
  const kept: number[] = []
  const keptScores: number[] = []
  let threshold = Number.MIN_VALUE
  // Once the first are in, few are looked at: in a random order some limit · ln(count / limit) of them.
  for (
    let slot = nextOf(scores, 0, count, threshold);
    slot < count;
    slot = nextOf(scores, slot + 1, count, threshold)
  ) {
    if (!allowed(slot)) continue
    const score = scores[slot] as number
    let at = kept.length
    for (; at > 0; at -= 1) {
      const other = keptScores[at - 1] as number
      if (score < other || (score === other && before(slot, kept[at - 1] as number) >= 0)) break
    }
    if (at === limit) continue
    for (let place = Math.min(kept.length, limit - 1); place > at; place -= 1) {
      kept[place] = kept[place - 1] as number
      keptScores[place] = keptScores[place - 1] as number
    }
    kept[at] = slot
    keptScores[at] = score
    if (kept.length === limit) threshold = keptScores[limit - 1] as number
  }
  return kept
}

/**
 * The first slot from `start` on with at least this score; `count` where there is none. Apart from the rest and four at a time, since
 * most of the slots of an index are passed over here.
 */
function nextOf(scores: Float32Array, start: number, count: number, least: number): number {
  let slot = start
  while (
    slot + 3 < count &&
    (scores[slot] as number) < least &&
    (scores[slot + 1] as number) < least &&
    (scores[slot + 2] as number) < least &&
    (scores[slot + 3] as number) < least
  )
    slot += 4
  while (slot < count && (scores[slot] as number) < least) slot += 1
  return slot
}
