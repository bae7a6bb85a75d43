/** The checks that the shapes of the Gemini wire are put together from. */

import { type Fields, type Found, firstOf, isObject } from '../shared/guards.js'
import { join, missing, unknownField, wrongType } from './wording.js'

export type Check = (value: unknown, at: string) => Found
export type Table = Readonly<Record<string, Check>>

export const anything: Check = () => undefined
export const text: Check = (value, at) =>
  typeof value === 'string' ? undefined : wrongType(at, 'TYPE_STRING', value)
export const flag: Check = (value, at) =>
  typeof value === 'boolean' ? undefined : wrongType(at, 'TYPE_BOOL', value)
export const number: Check = (value, at) =>
  typeof value === 'number' ? undefined : wrongType(at, 'TYPE_DOUBLE', value)
/** The types say text, as 64 bits need it in JSON; a number passes on the wire too. */
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

/** An object with these fields and no others. A field that is null counts as absent, as everywhere in this format. */
export function fieldsOf(table: Table): Check {
  return (value, at) => {
    if (!isObject(value)) return wrongType(at, 'an object', value)
    return firstOf(given(value), ([name, entry]) =>
      Object.hasOwn(table, name) ? table[name]?.(entry, join(at, name)) : unknownField(at, name, table),
    )
  }
}

/** Runs after the fields were checked. */
export function nameGiven(value: unknown, at: string): Found {
  return (value as Fields).name ? undefined : missing(`${at}.name`, 'Name cannot be empty.')
}

export function given(fields: Fields): readonly (readonly [string, unknown])[] {
  return Object.entries(fields).filter(([, value]) => isPresent(value))
}

export function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null
}
