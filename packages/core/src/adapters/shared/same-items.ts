/** Whether two lists hold the same things in the same order: by identity, which is what tells a host's own objects from copies. */
export function sameItems(one: readonly unknown[], two: readonly unknown[]): boolean {
  return one.length === two.length && one.every((item, index) => item === two[index])
}

/** How many things, from the first on, are the very same in both. */
export function sameUpTo(one: readonly unknown[], two: readonly unknown[]): number {
  const end = Math.min(one.length, two.length)
  let index = 0
  while (index < end && one[index] === two[index]) index++
  return index
}
