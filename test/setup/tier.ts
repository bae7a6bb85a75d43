/**
 * The two sizes of the test suite. `npm test` is quick enough for every change; `npm run test:long` runs everything at full
 * size, with the files named `*.long.test.ts`.
 */

export const isLong = process.env.TOOLWELL_TESTS === 'long'

/** The number of runs of a property: a quarter of the full number in `npm test`. */
export function runs(full: number): number {
  return isLong ? full : Math.ceil(full / 4)
}

/**
 * Selects values of one axis of a matrix for a position on the other axes: all, or in `npm test` one value that rotates.
 * So every position is tested, and every value at some position.
 */
export function someOf<Member>(members: readonly Member[], place: number): readonly Member[] {
  return isLong ? members : members.slice(place % members.length).slice(0, 1)
}
