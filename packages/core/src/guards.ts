/** Guards and helpers over plain values that every package of the workspace needs. */

/** An object with keys: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** What is left of an object type when keys without a value are dropped. */
export type Defined<T extends object> = {
  [K in keyof T as undefined extends T[K] ? never : K]: T[K]
} & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

/**
 * A copy without the keys whose value is undefined. For optional properties, which must be missing rather than undefined:
 * `{ name, ...defined({ title, signal }) }`.
 */
export function defined<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(
    Object.entries(object).filter(([, value]) => value !== undefined),
  ) as unknown as Defined<T>
}
