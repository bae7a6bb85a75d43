/** Hashes that name content: equal content gives an equal name on every machine, whatever the order of its keys. */
import { hashSha256 } from './sha256.js'

const encoder = new TextEncoder()

/** JSON with sorted keys; `undefined` members are left out, as JSON does. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members: string[] = []
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[key]
    if (member === undefined || typeof member === 'function') continue
    members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`)
  }
  return `{${members.join(',')}}`
}

/** The first `length` hex digits of SHA-256. Sixteen are enough to tell definitions apart; nothing here is a secret. */
export function shortHash(text: string, length = 16): string {
  return hashSha256(encoder.encode(text)).slice(0, length)
}
