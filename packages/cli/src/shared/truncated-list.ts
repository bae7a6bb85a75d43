/** A list for a message, cut short: its first entries, and how many more there are. */

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
