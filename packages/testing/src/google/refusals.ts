/** Field checks of the Gemini wire, with refusals in Google's wording. */
import { type Fields, type Found, firstOf, isObject, violation } from '../shared/guards.js'
import type { Violation } from '../shared/protocol.js'

/** Prefix of Google's type names. */
export const PROTO = 'type.googleapis.com/google.ai.generativelanguage.v1beta'

export function wrongType(at: string, expected: string, value: unknown): Violation {
  const unknown = (name: string, place: string, reason: string) =>
    violation(
      `Invalid JSON payload received. Unknown name "${name}"${place}: ${reason}`,
      at || null,
      'invalid_type',
    )
  if (at === '') return unknown('', '', 'Root element must be a message.')
  if (Array.isArray(value)) {
    const [, parent, name = at] = /^(.*)\.([^.]*)$/.exec(at) ?? []
    const place = parent === undefined ? '' : ` at '${spelled(parent)}'`
    return unknown(name, place, 'Proto field is not repeating, cannot start list.')
  }
  const written = JSON.stringify(value).slice(0, 100)
  return violation(`Invalid value at '${spelled(at)}' (${expected}), ${written}`, at, 'invalid_type')
}

function unknownField(at: string, name: string, known: Fields): Violation {
  const camelCase = name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
  const hint = Object.hasOwn(known, camelCase) ? ` (Hint: this endpoint knows it as "${camelCase}".)` : ''
  const place = at === '' ? '' : ` at '${spelled(at)}'`
  const message = `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.${hint}`
  return violation(message, join(at, name), 'unknown_field')
}

/** Google names the oneof, which is not a field on the wire. */
export function unset(at: string, choice: string, reason: string): Violation {
  return { ...missing(`${at}.${choice}`, reason), param: at }
}

export function missing(at: string, reason: string): Violation {
  return invalid(at, reason, 'missing_required_field')
}

export function invalid(at: string, reason: string, code: string): Violation {
  return violation(`* GenerateContentRequest.${spelled(at)}: ${reason}`, at, code)
}

/** Google's messages use the field names of its protocol buffers. Text in brackets comes from the host. */
export function spelled(at: string): string {
  return at.replace(/\[[^\]]*\]|[A-Z]/g, (match) =>
    match.startsWith('[') ? match : `_${match.toLowerCase()}`,
  )
}

export function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}

export type Check = (value: unknown, at: string) => Found
export type Table = Readonly<Record<string, Check>>

export const anything: Check = () => undefined
export const text: Check = (value, at) =>
  typeof value === 'string' ? undefined : wrongType(at, 'TYPE_STRING', value)
export const flag: Check = (value, at) =>
  typeof value === 'boolean' ? undefined : wrongType(at, 'TYPE_BOOL', value)
export const number: Check = (value, at) =>
  typeof value === 'number' ? undefined : wrongType(at, 'TYPE_DOUBLE', value)
/** The types say string, because JSON cannot hold 64 bits; the wire also accepts a number. */
export const count: Check = (value, at) =>
  Number.isInteger(value) || (typeof value === 'string' && /^\d+$/.test(value))
    ? undefined
    : wrongType(at, 'TYPE_INT64', value)
export const object: Check = (value, at) => (isObject(value) ? undefined : wrongType(at, 'an object', value))

export function listOf(check: Check): Check {
  return (value, at) =>
    Array.isArray(value)
      ? firstOf(value.entries(), ([index, entry]) => check(entry, `${at}[${index}]`))
      : wrongType(at, 'a list', value)
}

/** An object with only these fields. A null field counts as absent, as everywhere on this wire. */
export function fieldsOf(table: Table): Check {
  return (value, at) => {
    if (!isObject(value)) return wrongType(at, 'an object', value)
    return firstOf(given(value), ([name, entry]) =>
      Object.hasOwn(table, name) ? table[name]?.(entry, join(at, name)) : unknownField(at, name, table),
    )
  }
}

/** Expects checked fields. */
export function nameGiven(value: unknown, at: string): Found {
  return (value as Fields).name ? undefined : missing(`${at}.name`, 'Name cannot be empty.')
}

export function given(fields: Fields): readonly (readonly [string, unknown])[] {
  return Object.entries(fields).filter(([, value]) => isPresent(value))
}

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
