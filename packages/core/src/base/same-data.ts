/**
 * Whether a value is still what it was: data is copied once and compared with its copy, to the last level. Who keeps something by the
 * object it was made of must not trust the object alone: hosts change their messages in place.
 */

/** Copies end here: what is nested deeper, or has more values, is read anew each time. */
const DEEPEST = 100
const MOST_VALUES = 20_000

/** Signs in a copy that no data can be. */
const OBJECT = Symbol('object')
const LIST = Symbol('list')
const END = Symbol('end')

/** The data in one list, in the order in which it is written: objects as their keys and values, between signs. */
export type DataCopy = readonly unknown[]

/** Undefined where the value holds more than data (a file, a function, something in a circle), or is too large. */
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
  if (copy.length > MOST_VALUES || depth > DEEPEST) return false
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

/** Keys count in their order: so they are written. Never throws. */
export function isSameData(value: unknown, copy: DataCopy): boolean {
  try {
    return follow(value, copy, 0) === copy.length
  } catch {
    return false
  }
}

const OTHER = -1

/** Where the copy goes on behind this value; `OTHER` where the value is not the one that was copied. */
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

/** An object that is only its fields. */
export function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const kind: unknown = Object.getPrototypeOf(value)
  return kind === Object.prototype || kind === null
}
