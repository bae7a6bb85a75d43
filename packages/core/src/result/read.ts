/** Whatever a tool gave, as parts. Nothing a tool gives throws here. */
import { decodedText, plainBase64 } from './base64.js'
import { imageSize } from './image-size.js'
import { type GivenPart, isToolResult, type MediaPart, type ResultPart } from './part.js'
import { printed, type Unprintable } from './printed.js'
import type { Withheld } from './withheld.js'

export type ReadResult =
  | {
      readonly parts: readonly (ResultPart | { readonly type: 'withheld'; readonly media: Withheld })[]
      readonly isError: boolean
    }
  /** It ran, and what it gave cannot be written down. */
  | Unprintable

export function readResult(value: unknown): ReadResult {
  if (!isToolResult(value)) {
    const text = typeof value === 'string' ? value : printed(value)
    return typeof text === 'object'
      ? text
      : { parts: text === '' ? [] : [{ type: 'text', text }], isError: false }
  }
  const parts: (ResultPart | { readonly type: 'withheld'; readonly media: Withheld })[] = []
  for (const part of Array.isArray(value.parts) ? value.parts : []) {
    const read = readPart(part)
    if ('problem' in read) return read
    parts.push(read)
  }
  return { parts, isError: value.isError === true }
}

type ReadPart = ResultPart | { readonly type: 'withheld'; readonly media: Withheld } | Unprintable

function readPart(part: GivenPart): ReadPart {
  const kind: unknown = (part as Partial<GivenPart> | null)?.type
  switch (kind) {
    case 'text': {
      const { text } = part as { readonly text?: unknown }
      return typeof text === 'string'
        ? { type: 'text', text }
        : { problem: 'a part of kind text has no text' }
    }
    case 'structured': {
      const { value } = part as { readonly value: unknown }
      const text = printed(value)
      return typeof text === 'string' ? { type: 'text', text } : text
    }
    case 'link': {
      const { uri } = part as { readonly uri?: unknown }
      return typeof uri === 'string' ? (part as ResultPart) : { problem: 'a part of kind link has no uri' }
    }
    case 'image':
    case 'audio':
    case 'file':
      return readMedia(part as MediaPart)
    default:
      return { problem: `it has a part of the unknown kind ${JSON.stringify(kind) ?? 'undefined'}` }
  }
}

/** What is text in bytes is text. The bytes of an image say what it is, whatever its media type says: servers look. */
function readMedia(part: Extract<GivenPart, { data: unknown }>): ReadPart {
  const { type, name } = part
  const given: unknown = part.data
  const isData = typeof given === 'string' || given instanceof Uint8Array
  const data = isData ? plainBase64(given) : undefined
  const mediaType = typeOf(part.mediaType)
  const named = typeof name === 'string' && name !== '' ? { name } : {}
  if (data === undefined) {
    const bytes = typeof given === 'string' ? given.length : 0
    return { type: 'withheld', media: { kind: type, mediaType, ...named, bytes, why: 'unreadable' } }
  }
  const text = isTextual(mediaType) ? decodedText(data) : undefined
  if (text !== undefined) return { type: 'text', text }
  const found = type === 'image' || mediaType.startsWith('image/') ? imageSize(data)?.mediaType : undefined
  return { type: found ? 'image' : type, data, mediaType: found ?? mediaType, ...named }
}

function typeOf(given: unknown): string {
  const [plain = ''] = typeof given === 'string' ? given.toLowerCase().split(';', 1) : []
  return /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(plain.trim())
    ? plain.trim()
    : 'application/octet-stream'
}

function isTextual(mediaType: string): boolean {
  return /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript)$|\+(?:json|xml)$/.test(mediaType)
}
