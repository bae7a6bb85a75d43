/** A map from terms to numbers that is cheap to fill and to empty again: building an index does little else. */

export interface Tally {
  readonly size: number
  /** The terms in the order in which they came, and what was counted of each; `size` of them are in use. */
  readonly terms: Int32Array
  readonly values: Float64Array
  /** Where a term stands in these; it is added, with 0, if it is new. */
  locate(term: number): number
  /** Adds to the value of a term. */
  add(term: number, amount: number): void
  has(term: number): boolean
  clear(): void
}

/** Open addressing in typed arrays. A cell counts only in the round it was written in, so that clearing costs nothing. */
export function createTally(capacity = 512): Tally {
  let mask = 2 * capacity - 1
  let cells = new Int32Array(2 * capacity)
  let rounds = new Int32Array(2 * capacity)
  let terms = new Int32Array(capacity)
  let values = new Float64Array(capacity)
  let size = 0
  let round = 1

  /** The cell of a term, or the free one where it belongs. */
  function cellOf(term: number): number {
    let cell = term & mask
    while (rounds[cell] === round && terms[cells[cell] as number] !== term) cell = (cell + 1) & mask
    return cell
  }

  function grow(): void {
    const room = terms.length * 2
    const more = { terms: new Int32Array(room), values: new Float64Array(room) }
    more.terms.set(terms)
    more.values.set(values)
    terms = more.terms
    values = more.values
    mask = 2 * room - 1
    cells = new Int32Array(2 * room)
    rounds = new Int32Array(2 * room)
    round = 1
    for (let place = 0; place < size; place += 1) {
      const cell = cellOf(terms[place] as number)
      rounds[cell] = round
      cells[cell] = place
    }
  }

  function placeOf(term: number): number {
    let cell = cellOf(term)
    if (rounds[cell] === round) return cells[cell] as number
    if (size === terms.length) {
      grow()
      cell = cellOf(term)
    }
    rounds[cell] = round
    cells[cell] = size
    terms[size] = term
    values[size] = 0
    size += 1
    return size - 1
  }

  return {
    get size() {
      return size
    },
    get terms() {
      return terms
    },
    get values() {
      return values
    },
    locate: placeOf,
    add(term, amount) {
      const place = placeOf(term)
      values[place] = (values[place] as number) + amount
    },
    has: (term) => rounds[cellOf(term)] === round,
    clear() {
      size = 0
      round += 1
    },
  }
}

// How much one occurrence of a term says, as a byte: seven bits of strength on a logarithmic scale, one bit for its place.

/** Set where the term occurs in the name, an alias, the server, the domain or the group. */
export const identityBit = 0x80
const strengthMask = 0x7f

/** k1 of BM25: how soon further occurrences stop counting. */
export const saturation = 1.2
export const maximumStrength = saturation + 1
/** The weakest strength that is told from none: a step of the scale is then 4 %. */
const minimumStrength = maximumStrength / 170
const stepsPerUnit = strengthMask / Math.log(maximumStrength / minimumStrength)

/** A weighted, length-normalised frequency, saturated, as the byte that is stored. */
export function encodeImpact(frequency: number, identity: boolean): number {
  const strength = (maximumStrength * frequency) / (saturation + frequency)
  const step = Math.round(Math.log(strength / minimumStrength) * stepsPerUnit)
  return Math.max(0, Math.min(strengthMask, step)) | (identity ? identityBit : 0)
}

/** Strength by byte, so that scoring a posting is one lookup and one addition. */
export function createImpactTable(): Float64Array {
  return Float64Array.from(
    { length: 256 },
    (_, byte) => minimumStrength * Math.exp((byte & strengthMask) / stepsPerUnit),
  )
}

// Keeps the best of many slots in order, without sorting all of them.

/** Up to this many are kept in order while reading; above it, all candidates are sorted at the end. */
const insertionLimit = 256

/**
 * Slots with a positive score, best first, at most `limit`. `before` decides between equal scores; it is asked for those only.
 * Linear in the number of slots for a small limit.
 */
export function selectBestSlots(
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
    let slot = findNextSlot(scores, 0, count, threshold);
    slot < count;
    slot = findNextSlot(scores, slot + 1, count, threshold)
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
function findNextSlot(scores: Float32Array, start: number, count: number, least: number): number {
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
