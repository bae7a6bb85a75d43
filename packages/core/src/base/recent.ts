/** The last things by name, as long as someone else uses them: none is kept in memory for it. */

const MOST = 100

export interface Recent<T extends object> {
  add(name: string, value: T): void
  all(): T[]
}

export function createRecent<T extends object>(): Recent<T> {
  const known = new Map<string, WeakRef<T>>()
  return {
    add(name, value) {
      known.delete(name)
      known.set(name, new WeakRef(value))
      const [oldest] = known.keys()
      if (known.size > MOST && oldest !== undefined) known.delete(oldest)
    },
    all: () => [...known.values()].flatMap((ref) => ref.deref() ?? []),
  }
}
