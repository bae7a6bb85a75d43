/** Counters and strengths for the index: a map from terms to numbers, the encoding of strengths, and the selection of the best slots. */
export interface Tally {
  readonly size: number
  /** Terms in insertion order, and their values. The first `size` entries are in use. */
  readonly terms: Int32Array
  readonly values: Float64Array
  /** Returns the index of a term. A new term is added with value 0. */
  locate(term: number): number
  /** Adds to the value of a term. */
  add(term: number, amount: number): void
  has(term: number): boolean
  clear(): void
}

/** Creates a map that is cheap to fill and clear. Uses open addressing; a cell counts only in the round that wrote it, so clearing is free. */
export function createTally(capacity = 512): Tally {
  let mask = 2 * capacity - 1
  let cells = new Int32Array(2 * capacity)
  let rounds = new Int32Array(2 * capacity)
  let terms = new Int32Array(capacity)
  let values = new Float64Array(capacity)
  let size = 0
  let round = 1

  /** Finds the cell of a term, or the free cell where it belongs. */
  function findCell(term: number): number {
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
      const cell = findCell(terms[place] as number)
      rounds[cell] = round
      cells[cell] = place
    }
  }

  function locate(term: number): number {
    let cell = findCell(term)
    if (rounds[cell] === round) return cells[cell] as number
    if (size === terms.length) {
      grow()
      cell = findCell(term)
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
    locate,
    add(term, amount) {
      const place = locate(term)
      values[place] = (values[place] as number) + amount
    },
    has: (term) => rounds[findCell(term)] === round,
    clear() {
      size = 0
      round += 1
    },
  }
}

/** Set if the term occurs in the name, an alias, the server, the domain or the group. */
export const identityBit = 0x80
const strengthMask = 0x7f

/** k1 of BM25: how soon further occurrences stop counting. The stored bytes contain it. */
export const saturation = 1.2
export const maximumStrength = saturation + 1
/** The weakest strength above zero. One step of the scale is then 4 %. */
const minimumStrength = maximumStrength / 170
const stepsPerUnit = strengthMask / Math.log(maximumStrength / minimumStrength)

/**
 * Saturates a weighted, length-normalised frequency and encodes it as a byte: seven bits of strength on a logarithmic scale, and
 * `identityBit`.
 */
export function encodeImpact(frequency: number, identity: boolean): number {
  const strength = (maximumStrength * frequency) / (saturation + frequency)
  const step = Math.round(Math.log(strength / minimumStrength) * stepsPerUnit)
  return Math.max(0, Math.min(strengthMask, step)) | (identity ? identityBit : 0)
}

/** Strength by byte, so scoring a posting is one lookup and one addition. */
export function createImpactTable(): Float64Array {
  return Float64Array.from(
    { length: 256 },
    (_, byte) => minimumStrength * Math.exp((byte & strengthMask) / stepsPerUnit),
  )
}

/** Up to this limit, hits are kept in order while reading. Above it, all candidates are sorted at the end. */
const insertionLimit = 256

/**
 * Selects the slots with the highest positive scores, best first, at most `limit`. `before` orders equal scores.
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
  // Once `kept` is full, few slots pass: in random order about limit · ln(count / limit).
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
 * Finds the first slot from `start` with at least this score; `count` if there is none. Separate and four at a time, because most
 * slots of an index end here.
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
