/** Whether a result is nested deeper than it can be written: what is sent is written by recursion, which has an end. */

/** No tool means anything so deep, and clients give up not far beyond it. */
const DEEPEST = 1000

/** Level by level, and no further than that. */
export function isTooDeep(result: object): boolean {
  let level: readonly object[] = [result]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEEPEST) return true
    const next: object[] = []
    for (const each of level)
      for (const value of Object.values(each))
        if (typeof value === 'object' && value !== null) next.push(value)
    level = next
  }
  return false
}
