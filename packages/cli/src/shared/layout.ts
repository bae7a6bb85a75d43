/** Lays out text: tables, numbers, plurals and shortened lists. Callers pass text that is safe to print. */

export interface Column {
  readonly title: string
  readonly align?: 'right'
}

/** Title row, rows and, if `last` is given, a line and that row. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  { last, title = (text) => text }: { last?: readonly string[]; title?: (text: string) => string } = {},
): string[] {
  const all = [columns.map((column) => column.title), ...rows, ...(last ? [last] : [])]
  const widths = columns.map((_, index) => Math.max(...all.map((row) => [...(row[index] ?? '')].length)))
  const line = (row: readonly string[]) =>
    columns
      .map(({ align }, index) => {
        const cell = row[index] ?? ''
        const blank = ' '.repeat(Math.max(0, (widths[index] ?? 0) - [...cell].length))
        return align === 'right' ? blank + cell : cell + blank
      })
      .join('  ')
      .trimEnd()
  const width = widths.reduce((sum, each) => sum + each, 2 * (columns.length - 1))
  return [
    title(line(all[0] ?? [])),
    ...rows.map(line),
    ...(last ? [title('─'.repeat(width)), line(last)] : []),
  ]
}

export function count(number: number): string {
  return number.toLocaleString('en')
}

/** `1 tool`, `2 tools`. */
export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`
}

/** Adds a full stop if the text has no end mark. */
export function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`
}

/** A list for a message: its first entries, and the number of the rest. */

export interface TruncatedList {
  readonly count: number
  add(entry: string): void
  text(): string
}

export function createTruncatedList(most = 10): TruncatedList {
  const first: string[] = []
  let count = 0
  return {
    get count() {
      return count
    },
    add(entry) {
      count += 1
      if (first.length < most) first.push(entry)
    },
    text: () =>
      [...first, ...(count > first.length ? [`and ${count - first.length} more`] : [])]
        .map((line) => `  ${line}`)
        .join('\n'),
  }
}
