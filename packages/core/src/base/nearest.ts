/** Spelling suggestions: finds the known name that was probably meant. */

/** Only this many characters are compared, which limits the time of one comparison. */
const COMPARED_CHARACTERS = 100

/** Shorter strings are contained in too many others to be a hint. */
const SHORTEST_CONTAINED = 3

/**
 * Returns plausible names, best first; ties in order of code units. Ignores case and the separators `_ - . / :` and space.
 * A name is plausible if at most a third of the characters differ (one always may), or if one name contains the other.
 */
export function nearest(wanted: string, known: Iterable<string>, limit = 3): string[] {
  return findNearest(wanted, foldNames(known), limit)
}

/** Names prepared for comparison, to reuse for many searches. */
export type FoldedNames = readonly { readonly name: string; readonly folded: string }[]

export function foldNames(known: Iterable<string>): FoldedNames {
  return [...new Set(known)].map((name) => ({ name, folded: fold(name) }))
}

/** Calls `accept` only for names that are near enough. */
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
    // From now on, only a name at least as near as the last one can still be added.
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
  // A cheap check that rules out nearly all names of a large catalogue.
  if (leastDistance(letters, target.length, candidate) > furthest) return undefined
  // A distance of the whole length means nothing in common: "a" is not a misspelt "b".
  return editDistance(target, candidate, Math.min(furthest, longer - 1))
}

const LETTER_KINDS = 64

/** Counts each letter; rare letters share a counter. */
function countLetters(text: string): Int16Array {
  const counts = new Int16Array(LETTER_KINDS)
  for (let index = 0; index < text.length; index += 1) addTo(counts, text.charCodeAt(index))
  return counts
}

function addTo(counts: Int16Array, code: number): void {
  counts[code % LETTER_KINDS] = (counts[code % LETTER_KINDS] as number) + 1
}

/** A lower bound of the edit distance: the number of letters that only one of the two has. One edit fixes at most one of them. */
function leastDistance(letters: Int16Array, length: number, candidate: string): number {
  let shared = 0
  for (let index = 0; index < candidate.length; index += 1) {
    const kind = candidate.charCodeAt(index) % LETTER_KINDS
    const left = letters[kind] as number
    if (left > 0) shared += 1
    letters[kind] = left - 1
  }
  // Restore the counts for the next candidate.
  for (let index = 0; index < candidate.length; index += 1) addTo(letters, candidate.charCodeAt(index))
  return Math.max(length, candidate.length) - shared
}

/**
 * Counts the insertions, deletions, replacements and swaps of neighbours that turn `left` into `right` (optimal string
 * alignment). Undefined above `furthest`.
 */
export function editDistance(left: string, right: string, furthest: number): number | undefined {
  if (Math.abs(left.length - right.length) > furthest) return undefined
  // Skip the common prefix: tools of one server often share one.
  let shared = 0
  while (shared < left.length && left[shared] === right[shared]) shared += 1
  const a = left.slice(shared)
  const b = right.slice(shared)
  let beforeLast: number[] = []
  let last: number[] = []
  for (let column = 0; column <= b.length; column += 1) last.push(column)
  for (let row = 1; row <= a.length; row += 1) {
    // Cells further from the diagonal than `furthest` cannot be part of the answer and stay infinite.
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
    // A swap reads two rows back and adds one.
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
