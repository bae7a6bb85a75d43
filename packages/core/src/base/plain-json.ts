/**
 * Values as JSON that servers can read. Half of a surrogate pair, which a cut text ends in, is refused by most; what is
 * nested without end, in a circle or a number too big for JSON cannot even be written.
 */

/** Levels of nesting. No message and no schema needs so many, and JSON can be written far deeper on every runtime. */
const DEEPEST = 1000

/** The very value where there is nothing to change. Objects that are more than data pass as they are: a file, an address. */
export function plainJson<Value>(value: Value): Value {
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
