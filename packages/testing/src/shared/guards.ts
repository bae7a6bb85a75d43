/** What the rules of every wire are written with. */

import { isRecord } from '@toolwell/core/internal'
import type { Violation } from './protocol.js'

/** The first rule broken, if any. */
export type Found = Violation | undefined
export type Fields = Readonly<Record<string, unknown>>

/** The one guard of the workspace, typed as the rules read it. */
export const isObject: (value: unknown) => value is Fields = isRecord

export function firstOf<Entry>(entries: Iterable<Entry>, check: (entry: Entry) => Found): Found {
  for (const entry of entries) {
    const found = check(entry)
    if (found) return found
  }
  return undefined
}

export function violation(message: string, param: string | null, code: string): Violation {
  return { message, param, code }
}

/** The JSON of servers holds text, and half of a surrogate pair is none. */
export function unicodeViolation(value: unknown): Found {
  if (typeof value === 'string') {
    if (value.isWellFormed()) return undefined
    const reason =
      'We could not parse the JSON body of your request: a string holds half of a surrogate pair.'
    return violation(reason, null, 'invalid_json')
  }
  if (typeof value !== 'object' || value === null) return undefined
  return firstOf(Object.entries(value), ([key, each]) => unicodeViolation(key) ?? unicodeViolation(each))
}
