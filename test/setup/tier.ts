/**
 * The two sizes of the test suite, and the only reader of the switch between them. `npm test` is sized for a change;
 * `npm run test:long` runs everything at full size, with the files named `*.long.test.ts`.
 */

export const isLong = process.env.TOOLWELL_TESTS === 'long'

/** How often a property is tried: a quarter of the full number in `npm test`. */
export function runs(full: number): number {
  return isLong ? full : Math.ceil(full / 4)
}

/**
 * The members of one axis of a matrix to try at a place on the others: all, or in `npm test` a single one, another at the
 * next place. Every place is tried, and every member at some place.
 */
export function someOf<Member>(members: readonly Member[], place: number): readonly Member[] {
  return isLong ? members : members.slice(place % members.length).slice(0, 1)
}
