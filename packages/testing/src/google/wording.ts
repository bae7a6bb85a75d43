/** How Google words a refusal on the Gemini wire. */

import { type Fields, violation } from '../shared/guards.js'
import type { Violation } from '../shared/protocol.js'

/** What the names of its types begin with. */
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

export function unknownField(at: string, name: string, known: Fields): Violation {
  const camelCase = name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase())
  const hint = Object.hasOwn(known, camelCase) ? ` (Hint: this endpoint knows it as "${camelCase}".)` : ''
  const place = at === '' ? '' : ` at '${spelled(at)}'`
  const message = `Invalid JSON payload received. Unknown name "${name}"${place}: Cannot find field.${hint}`
  return violation(message, join(at, name), 'unknown_field')
}

/** Google names the choice, which is no field on the wire. */
export function unset(at: string, choice: string, reason: string): Violation {
  return { ...missing(`${at}.${choice}`, reason), param: at }
}

export function missing(at: string, reason: string): Violation {
  return invalid(at, reason, 'missing_required_field')
}

export function invalid(at: string, reason: string, code: string): Violation {
  return violation(`* GenerateContentRequest.${spelled(at)}: ${reason}`, at, code)
}

/** Google's messages name fields as its protocol buffers do. What stands in brackets is the host's. */
export function spelled(at: string): string {
  return at.replace(/\[[^\]]*\]|[A-Z]/g, (match) =>
    match.startsWith('[') ? match : `_${match.toLowerCase()}`,
  )
}

export function join(at: string, name: string): string {
  return at === '' ? name : `${at}.${name}`
}
