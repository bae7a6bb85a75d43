/** Where what was learned from use is kept. The seam: three methods, all of which may fail without a search noticing. */

/** One query that a tool has answered: no text, only hashes of its words. */
export interface UsageExample {
  /** A hash of who the conversation acted for; empty where the host shares what is learned. */
  readonly principal: string
  /** The id of the tool, and the definition it had: under another one the example does not count. */
  readonly tool: string
  readonly fingerprint: string
  /** Hashes of the stems of the words that count, at most 24. */
  readonly words: readonly number[]
}

/** What to forget: examples that match all that is given; everything where nothing is. */
export interface UsageFilter {
  readonly principal?: string
  readonly tool?: string
}

export interface UsageStore {
  /** All examples, the oldest first. Asked once, at the first search. */
  read(): Promise<readonly UsageExample[]>
  /** Adds examples, in order. Called for many at once. */
  append(examples: readonly UsageExample[]): Promise<void>
  forget(filter: UsageFilter): Promise<void>
}

export function matchesFilter({ principal, tool }: UsageExample, filter: UsageFilter): boolean {
  return (
    (filter.principal === undefined || filter.principal === principal) &&
    (filter.tool === undefined || filter.tool === tool)
  )
}

/** A value from somewhere else as an example; undefined where it is none. */
export function readExample(value: unknown): UsageExample | undefined {
  const { principal, tool, fingerprint, words } = (value ?? {}) as Partial<
    Record<keyof UsageExample, unknown>
  >
  const isText = [principal, tool, fingerprint].every(
    (each) => typeof each === 'string' && each.length <= 1000,
  )
  if (!isText || !Array.isArray(words) || words.length > 24 || !words.every(Number.isInteger))
    return undefined
  return { principal, tool, fingerprint, words: words.map((word) => word | 0) } as UsageExample
}

// What was learned, in this process's memory: gone when it ends. The usage itself holds the examples; nothing has to be kept beside it.

export function memoryUsage(): UsageStore {
  return {
    read: async () => [],
    append: async () => undefined,
    forget: async () => undefined,
  }
}
