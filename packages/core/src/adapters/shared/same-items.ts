/** Whether two lists hold the same things in the same order: by identity, which is what tells a host's own objects from copies. */
export function sameItems(one: readonly unknown[], two: readonly unknown[]): boolean {
  return one.length === two.length && one.every((item, index) => item === two[index])
}
