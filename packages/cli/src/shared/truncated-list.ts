/** A list for a message: the first few entries, and how many more there are. */

export interface Few {
  readonly count: number
  add(entry: string): void
  text(): string
}

export function createFew(most = 10): Few {
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
