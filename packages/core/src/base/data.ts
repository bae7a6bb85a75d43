/** Guards and helpers for plain values. */

/** True for objects with keys: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The type of an object without its undefined keys. */
export type Defined<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * Copies an object without the keys whose value is undefined. For optional properties, which must be missing rather than
 * undefined: `{ name, ...dropUndefined({ title, signal }) }`.
 */
export function dropUndefined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as unknown as Defined<T>
}

/** Levels of nesting. No message or schema needs more, and every runtime can stringify deeper JSON. */
const DEEPEST = 1000

/**
 * Makes a value safe to send as JSON. Replaces lone surrogates, which most servers refuse, writes bigints as strings, and empties
 * cycles and very deep values. Returns the same value if nothing changes. Class instances (a file, a URL) pass unchanged.
 */
export function toPlainJson<Value>(value: Value): Value {
  return plain(value, []) as Value
}

function plain(value: unknown, above: object[]): unknown {
  if (typeof value === 'string') return value.isWellFormed() ? value : value.toWellFormed()
  if (typeof value === 'bigint') return String(value)
  if (!isData(value)) return value
  if (above.length >= DEEPEST || above.includes(value)) return isList(value) ? [] : {}
  above.push(value)
  const made = isList(value) ? plainList(value, above) : plainFields(value, above)
  above.pop()
  return made
}

function plainList(list: readonly unknown[], above: object[]): readonly unknown[] {
  let made: unknown[] | undefined
  for (let index = 0; index < list.length; index++) {
    const each = plain(list[index], above)
    if (each === list[index]) continue
    made ??= [...list]
    made[index] = each
  }
  return made ?? list
}

function plainFields(fields: Fields, above: object[]): Fields {
  const keys = Object.keys(fields)
  let made: [string, unknown][] | undefined
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index] as string
    const value = fields[key]
    const field = key.isWellFormed() ? key : key.toWellFormed()
    const each = plain(value, above)
    if (field !== key || each !== value)
      made ??= keys.slice(0, index).map((before) => [before, fields[before]])
    made?.push([field, each])
  }
  return made ? Object.fromEntries(made) : fields
}

type Fields = Readonly<Record<string, unknown>>

function isList(value: object): value is readonly unknown[] {
  return Array.isArray(value)
}

function isData(value: unknown): value is Fields | readonly unknown[] {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const kind = Object.getPrototypeOf(value)
  return kind === Object.prototype || kind === null
}

const MOST_RECENT = 100

/** The last objects by name. Holds weak references, so that unused objects can be collected. */
export interface RecentObjects<T extends object> {
  add(name: string, value: T): void
  all(): T[]
}

export function createRecentObjects<T extends object>(): RecentObjects<T> {
  const known = new Map<string, WeakRef<T>>()
  return {
    add(name, value) {
      known.delete(name)
      known.set(name, new WeakRef(value))
      const [oldest] = known.keys()
      if (known.size > MOST_RECENT && oldest !== undefined) known.delete(oldest)
    },
    all: () => [...known.values()].flatMap((ref) => ref.deref() ?? []),
  }
}
