/** Hashes that name content: equal content gives an equal name on every machine, whatever the order of its keys. */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

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
  return bytesToHex(sha256(utf8ToBytes(text.toWellFormed()))).slice(0, length)
}

/** The same of a text that comes in pieces. */
export interface TextHash {
  update(piece: string): TextHash
  /** Another one that has these pieces too. This one stays as it is. */
  with(pieces: readonly string[]): TextHash
  digest(length?: number): string
}

export function createHash(): TextHash {
  return textHash(sha256.create())
}

function textHash(state: ReturnType<typeof sha256.create>): TextHash {
  const hash: TextHash = {
    update(piece) {
      state.update(utf8ToBytes(piece.toWellFormed()))
      return hash
    },
    with: (pieces) => textHash(state.clone()).update(pieces.join('')),
    digest: (length = 16) => bytesToHex(state.clone().digest()).slice(0, length),
  }
  return hash
}
