/** Compares two texts word by word. */
export interface DiffPart {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Above this product of lengths, everything between the common start and end counts as changed. */
const MOST_WORK = 4_000_000

export function diffWords(before: string, after: string): DiffPart[] {
  const old = split(before)
  const now = split(after)
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const parts: { kind: DiffPart['kind']; text: string }[] = []
  const add = (kind: DiffPart['kind'], text: string) => {
    const last = parts.at(-1)
    if (text === '') return
    if (last?.kind === kind) last.text += text
    else parts.push({ kind, text })
  }
  add('same', old.slice(0, start).join(''))
  const [left, right] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  for (const [kind, text] of left.length * right.length > MOST_WORK
    ? ([
        ['removed', left.join('')],
        ['added', right.join('')],
      ] as const)
    : align(left, right))
    add(kind, text)
  add('same', old.slice(old.length - end).join(''))
  return tidy(parts)
}

const split = (text: string): string[] => text.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []

/** The longest common subsequence. */
function* align(left: readonly string[], right: readonly string[]): Generator<[DiffPart['kind'], string]> {
  const width = right.length + 1
  const lengths = new Uint32Array((left.length + 1) * width)
  const at = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        left[row] === right[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1))
  let [row, column] = [0, 0]
  while (row < left.length || column < right.length) {
    const [one, other] = [left[row], right[column]]
    if (one !== undefined && one === other) {
      yield ['same', one]
      row++
      column++
    } else if (one !== undefined && (other === undefined || at(row + 1, column) >= at(row, column + 1))) {
      yield ['removed', one]
      row++
    } else {
      yield ['added', other ?? '']
      column++
    }
  }
}

/** Puts what was removed before what was added, also across single blanks, so that a changed phrase reads as one. */
function tidy(parts: readonly DiffPart[]): DiffPart[] {
  const made: DiffPart[] = []
  let removed = ''
  let added = ''
  const flush = () => {
    // A blank at the end of both stays.
    const [end = ''] = /\s+$/.exec(removed) ?? []
    const blank = added.endsWith(end) ? end : ''
    removed = removed.slice(0, removed.length - blank.length)
    added = added.slice(0, added.length - blank.length)
    if (removed !== '') made.push({ kind: 'removed', text: removed })
    if (added !== '') made.push({ kind: 'added', text: added })
    if (blank !== '') made.push({ kind: 'same', text: blank })
    removed = added = ''
  }
  parts.forEach((part, index) => {
    const joins = /^\s+$/.test(part.text) && (removed !== '' || added !== '') && index < parts.length - 1
    if (part.kind === 'same' && !joins) {
      flush()
      made.push(part)
      return
    }
    if (part.kind !== 'added') removed += part.text
    if (part.kind !== 'removed') added += part.text
  })
  flush()
  return made
}
