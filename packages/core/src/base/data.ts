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

// Detects whether an object changed: hosts may change their messages in place, so a cache by object must compare the contents.

/** The limits of a copy. Larger or deeper values are never cached. */
const DEEPEST_COPY = 100
const MOST_VALUES = 20_000

/** Markers in a copy. */
const OBJECT = Symbol('object')
const LIST = Symbol('list')
const END = Symbol('end')

/** A value as one flat list: objects are their keys and values between markers. */
export type DataCopy = readonly unknown[]

/** Undefined if the value is not plain data (a file, a function, a cycle) or is too large. */
export function copyData(value: object): DataCopy | undefined {
  const copy: unknown[] = []
  try {
    // Reading a field may throw.
    return addTo(copy, value, 0) ? copy : undefined
  } catch {
    return undefined
  }
}

function addTo(copy: unknown[], value: unknown, depth: number): boolean {
  if (copy.length > MOST_VALUES || depth > DEEPEST_COPY) return false
  if (typeof value !== 'object' || value === null) {
    copy.push(value)
    return typeof value !== 'function' && typeof value !== 'symbol'
  }
  if (Array.isArray(value)) {
    copy.push(LIST, value.length)
    return value.length <= MOST_VALUES && value.every((each) => addTo(copy, each, depth + 1))
  }
  if (!isPlain(value)) return false
  copy.push(OBJECT)
  for (const key in value) {
    copy.push(key)
    if (!addTo(copy, value[key], depth + 1)) return false
  }
  copy.push(END)
  return true
}

/** Compares a value with its copy, including the order of keys. Never throws. */
export function isSameData(value: unknown, copy: DataCopy): boolean {
  try {
    return follow(value, copy, 0) === copy.length
  } catch {
    return false
  }
}

const OTHER = -1

/** Returns the position after this value in the copy, or `OTHER` if the value differs. */
function follow(value: unknown, copy: DataCopy, start: number): number {
  const kept = copy[start]
  if (typeof value !== 'object' || value === null)
    return value === kept || (Number.isNaN(value) && Number.isNaN(kept)) ? start + 1 : OTHER
  if (Array.isArray(value)) {
    if (kept !== LIST || copy[start + 1] !== value.length) return OTHER
    let at = start + 2
    for (let index = 0; index < value.length && at !== OTHER; index++) at = follow(value[index], copy, at)
    return at
  }
  if (kept !== OBJECT || !isPlain(value)) return OTHER
  let at = start + 1
  for (const key in value) {
    if (copy[at] !== key) return OTHER
    at = follow(value[key], copy, at + 1)
    if (at === OTHER) return OTHER
  }
  return copy[at] === END ? at + 1 : OTHER
}

/** True for objects that are not class instances. */
export function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const kind: unknown = Object.getPrototypeOf(value)
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
