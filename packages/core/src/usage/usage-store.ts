/** The usage store interface: keeps examples of use. If a store fails, searches continue without it. */

/** One query that a tool answered. Contains no text, only hashes of its words. */
export interface UsageExample {
  /** Hash of the principal; empty if the host shares learning. */
  readonly principal: string
  /** Id of the tool and fingerprint of its definition. The example does not count for another definition. */
  readonly tool: string
  readonly fingerprint: string
  /** Hashes of the stems of the words that count, at most 24. */
  readonly words: readonly number[]
}

/** Selects the examples that match all given fields; all examples if none is given. */
export interface UsageFilter {
  readonly principal?: string
  readonly tool?: string
}

export interface UsageStore {
  /** Returns all examples, oldest first. Called once, at the first search. */
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

/** Reads an example from untrusted data; undefined if it is not one. */
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

/** Keeps nothing on disk. The usage object itself holds the examples of this process. */
export function memoryUsage(): UsageStore {
  return {
    read: async () => [],
    append: async () => undefined,
    forget: async () => undefined,
  }
}
