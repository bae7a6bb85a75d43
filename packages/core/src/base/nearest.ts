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
  return findNearest(wanted, foldNames(known), limit)
}

/** Names as they are compared: for whoever compares with the same ones often. */
export type FoldedNames = readonly { readonly name: string; readonly folded: string }[]

export function foldNames(known: Iterable<string>): FoldedNames {
  return [...new Set(known)].map((name) => ({ name, folded: fold(name) }))
}

/** `accept` is asked of names that are near enough, and of no others. */
export function findNearest(
  wanted: string,
  known: FoldedNames,
  limit: number,
  accept: (name: string) => boolean = () => true,
): string[] {
  const target = fold(wanted)
  if (target === '' || limit < 1) return []
  let furthest = Math.max(1, Math.floor(target.length / 3))
  const best: Candidate[] = []
  const letters = countLetters(target)
  for (const { name, folded } of known) {
    const distance = plausibleDistance(target, folded, furthest, letters)
    if (distance === undefined || !accept(name)) continue
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

function plausibleDistance(
  target: string,
  candidate: string,
  furthest: number,
  letters: Int16Array,
): number | undefined {
  const shorter = Math.min(target.length, candidate.length)
  const longer = Math.max(target.length, candidate.length)
  if (shorter >= SHORTEST_CONTAINED && (target.includes(candidate) || candidate.includes(target)))
    return longer - shorter
  // Nearly all names of a large catalogue end here.
  if (leastDistance(letters, target.length, candidate) > furthest) return undefined
  // At a distance of the whole length nothing is in common: "a" is not a misspelt "b".
  return editDistance(target, candidate, Math.min(furthest, longer - 1))
}

const LETTER_KINDS = 64

/** How often each letter occurs; rare ones share a count. */
function countLetters(text: string): Int16Array {
  const counts = new Int16Array(LETTER_KINDS)
  for (let index = 0; index < text.length; index += 1) addTo(counts, text.charCodeAt(index))
  return counts
}

function addTo(counts: Int16Array, code: number): void {
  counts[code % LETTER_KINDS] = (counts[code % LETTER_KINDS] as number) + 1
}

/** No fewer changes than letters that one of the two has and the other lacks: a change adds one and takes away one at most. */
function leastDistance(letters: Int16Array, length: number, candidate: string): number {
  let shared = 0
  for (let index = 0; index < candidate.length; index += 1) {
    const kind = candidate.charCodeAt(index) % LETTER_KINDS
    const left = letters[kind] as number
    if (left > 0) shared += 1
    letters[kind] = left - 1
  }
  // As it was, for the next.
  for (let index = 0; index < candidate.length; index += 1) addTo(letters, candidate.charCodeAt(index))
  return Math.max(length, candidate.length) - shared
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
  let last: number[] = []
  for (let column = 0; column <= b.length; column += 1) last.push(column)
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
