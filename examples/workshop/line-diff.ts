/** Line-by-line difference of two texts, as unified hunks. Quadratic in the part that differs. */

interface Step {
  mark: ' ' | '-' | '+'
  line: string
}

/** Above this many cells of the table the differing middle is shown as replaced as a whole. */
const largestTable = 4_000_000

export interface DiffOptions {
  contextLines: number
  ignoreWhitespace: boolean
}

export function diffLines(before: string, after: string, options: DiffOptions) {
  const steps = stepsBetween(split(before), split(after), options.ignoreWhitespace)
  const added = steps.filter(({ mark }) => mark === '+').length
  const removed = steps.filter(({ mark }) => mark === '-').length
  return { added, removed, patch: hunksOf(steps, options.contextLines) }
}

function split(text: string): string[] {
  const rows = text.split('\n')
  if (rows.at(-1) === '') rows.pop()
  return rows
}

function stepsBetween(before: string[], after: string[], ignoreWhitespace: boolean): Step[] {
  const keyOf = (line: string | undefined) => (ignoreWhitespace ? line?.replace(/\s+/g, '') : line)
  const same = (left: number, right: number) => keyOf(before[left]) === keyOf(after[right])
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && same(start, start)) start++
  let tail = 0
  while (tail < shorter - start && same(before.length - 1 - tail, after.length - 1 - tail)) tail++

  const [rows, columns] = [before.length - tail - start, after.length - tail - start]
  const steps: Step[] = after.slice(0, start).map((line) => ({ mark: ' ', line }))
  if (rows * columns > largestTable) {
    for (const line of before.slice(start, start + rows)) steps.push({ mark: '-', line })
    for (const line of after.slice(start, start + columns)) steps.push({ mark: '+', line })
  } else {
    // longest[i * width + j]: the longest common subsequence of what follows row i and column j.
    const width = columns + 1
    const longest = new Uint32Array((rows + 1) * width)
    const cell = (row: number, column: number) => longest[row * width + column] ?? 0
    for (let row = rows - 1; row >= 0; row--)
      for (let column = columns - 1; column >= 0; column--)
        longest[row * width + column] = same(start + row, start + column)
          ? cell(row + 1, column + 1) + 1
          : Math.max(cell(row + 1, column), cell(row, column + 1))
    let [row, column] = [0, 0]
    while (row < rows || column < columns) {
      const [left, right] = [before[start + row] ?? '', after[start + column] ?? '']
      if (row < rows && column < columns && same(start + row, start + column)) {
        steps.push({ mark: ' ', line: right })
        row++
        column++
      } else if (row < rows && (column >= columns || cell(row + 1, column) >= cell(row, column + 1))) {
        steps.push({ mark: '-', line: left })
        row++
      } else {
        steps.push({ mark: '+', line: right })
        column++
      }
    }
  }
  for (const line of after.slice(after.length - tail)) steps.push({ mark: ' ', line })
  return steps
}

function hunksOf(steps: Step[], contextLines: number): string {
  const changed = steps.flatMap(({ mark }, index) => (mark === ' ' ? [] : [index]))
  const ranges: { from: number; to: number }[] = []
  for (const index of changed) {
    const last = ranges.at(-1)
    const from = Math.max(0, index - contextLines)
    const to = Math.min(steps.length, index + contextLines + 1)
    if (last && from <= last.to) last.to = to
    else ranges.push({ from, to })
  }
  const count = (some: Step[], omitted: Step['mark']) => some.filter(({ mark }) => mark !== omitted).length
  return ranges
    .map(({ from, to }) => {
      const [earlier, shown] = [steps.slice(0, from), steps.slice(from, to)]
      const side = (omitted: Step['mark']) => {
        const size = count(shown, omitted)
        return `${count(earlier, omitted) + (size > 0 ? 1 : 0)},${size}`
      }
      const body = shown.map(({ mark, line }) => mark + line).join('\n')
      return `@@ -${side('+')} +${side('-')} @@\n${body}`
    })
    .join('\n')
}
