/** A map from terms to numbers that is cheap to fill and to empty again: building an index does little else. */

export interface Tally {
  readonly size: number
  /** The terms in the order in which they came, and what was counted of each; `size` of them are in use. */
  readonly terms: Int32Array
  readonly values: Float64Array
  /** Where a term stands in these; it is added, with 0, if it is new. */
  placeOf(term: number): number
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
    placeOf,
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
