/** Spelling help for every message that refuses a name: which known name was probably meant. */

/** Longer strings are compared by their beginning, which bounds the time of one comparison. */
const COMPARED_CHARACTERS = 100

/** A shorter string is contained in too many others to say anything. */
const SHORTEST_CONTAINED = 3

/**
 * The plausible candidates, best first; ties in order of code units. Case and the separators `_ - . / :` and space
 * do not count. Plausible means at most a third of the characters differ (one always may), or one name contains
 * the other.
 */
export function nearest(wanted: string, known: Iterable<string>, limit = 3): string[] {
  const target = fold(wanted)
  if (target === '' || limit < 1) return []
  let furthest = Math.max(1, Math.floor(target.length / 3))
  const best: Candidate[] = []
  for (const name of new Set(known)) {
    const distance = plausibleDistance(target, fold(name), furthest)
    if (distance === undefined) continue
    best.push({ name, distance })
    best.sort(byDistanceThenName)
    if (best.length <= limit) continue
    // Once there are enough, only a candidate at least as near as the last one can still get in.
    best.pop()
    furthest = Math.min(furthest, best.at(-1)?.distance ?? 0)
  }
  return best.map(({ name }) => name)
}

interface Candidate {
  readonly name: string
  readonly distance: number
}

function byDistanceThenName(a: Candidate, b: Candidate): number {
  return a.distance - b.distance || (a.name < b.name ? -1 : 1)
}

function fold(name: string): string {
  return name
    .slice(0, COMPARED_CHARACTERS)
    .toLowerCase()
    .replace(/[\s_\-./:]/g, '')
}

function plausibleDistance(target: string, candidate: string, furthest: number): number | undefined {
  const shorter = Math.min(target.length, candidate.length)
  const longer = Math.max(target.length, candidate.length)
  if (shorter >= SHORTEST_CONTAINED && (target.includes(candidate) || candidate.includes(target)))
    return longer - shorter
  // At a distance of the whole length nothing is in common: "a" is not a misspelt "b".
  return editDistance(target, candidate, Math.min(furthest, longer - 1))
}

/**
 * Insertions, deletions, replacements and swaps of neighbours that turn `left` into `right` (optimal string alignment), or
 * undefined above `furthest`.
 */
export function editDistance(left: string, right: string, furthest: number): number | undefined {
  if (Math.abs(left.length - right.length) > furthest) return undefined
  // Tools of one server share a beginning, which costs nothing and need not be compared.
  let shared = 0
  while (shared < left.length && left[shared] === right[shared]) shared += 1
  const a = left.slice(shared)
  const b = right.slice(shared)
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let row = 1; row <= a.length; row += 1) {
    // Cells further from the diagonal than `furthest` cannot be part of an answer and stay infinite.
    const current = new Array<number>(b.length + 1).fill(Number.POSITIVE_INFINITY)
    current[0] = row
    let best = row
    const end = Math.min(b.length, row + furthest)
    for (let column = Math.max(1, row - furthest); column <= end; column += 1) {
      const same = a[row - 1] === b[column - 1]
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      )
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1])
        cost = Math.min(cost, at(beforeLast, column - 2) + 1)
      current[column] = cost
      best = Math.min(best, cost)
    }
    // A swap reaches back two rows, and costs one more than what it finds there.
    if (best > furthest && Math.min(...last) >= furthest) return undefined
    beforeLast = last
    last = current
  }
  const distance = at(last, b.length)
  return distance <= furthest ? distance : undefined
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY
}
