/** Guards and helpers for the rules of every wire, including base64 and image checks. */
import { isRecord } from '@toolwell/core/internal'
import type { Violation } from './protocol.js'

/** The first broken rule, if any. */
export type Found = Violation | undefined
export type Fields = Readonly<Record<string, unknown>>

/** Typed as the rules use it. */
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

/** Servers parse JSON as Unicode text, which cannot contain half a surrogate pair. */
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

/** Standard alphabet with padding, without a `data:` prefix or line breaks. */
export function isBase64(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length % 4 !== 0) return false
  const end = value.endsWith('==') ? value.length - 2 : value.endsWith('=') ? value.length - 1 : value.length
  for (let index = 0; index < end; index++) if (!isLetter(value.charCodeAt(index))) return false
  return true
}

function isLetter(code: number): boolean {
  return (
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    (code >= 48 && code <= 57) ||
    code === 43 ||
    code === 47
  )
}

/** Media type by the first bytes. Undefined if it is not one of the four types that every provider accepts. */
export function detectImageType(base64: string): string | undefined {
  const start = Buffer.from(base64.slice(0, 24), 'base64').toString('latin1')
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif'
  return start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP' ? 'image/webp' : undefined
}

/** Media type and data of a base64 `data:` URL. */
export function readDataUrl(url: string): { readonly mediaType: string; readonly data: string } | undefined {
  const comma = url.indexOf(',')
  const head = url.slice(0, comma)
  if (comma < 0 || !head.startsWith('data:') || !head.endsWith(';base64')) return undefined
  return { mediaType: head.slice('data:'.length, -';base64'.length), data: url.slice(comma + 1) }
}
