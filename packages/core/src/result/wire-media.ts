/** Decides which media a wire accepts in tool results, and counts the tokens of an image. */

import { getWireFacts } from '../base/wires.js'
import { byteLength, type MediaPart, readImageSize } from './part.js'

/** Characters of base64 in one part. Anthropic refuses more in an image; the others limit the whole request. */
export const MOST_MEDIA = 5 * 1024 * 1024

/** True if the wire accepts the media type and the data is readable: servers refuse a request with a broken image. */
export function acceptsMedia(wire: string, part: MediaPart): boolean {
  return getWireFacts(wire).media?.types.includes(part.mediaType) === true && canSendMedia(wire, part)
}

/** Checks only size and data, for servers that accept more media types than the wire defines. */
export function canSendMedia(wire: string, part: MediaPart): boolean {
  if (part.data.length > MOST_MEDIA) return false
  if (part.type !== 'image') return part.mediaType === 'application/pdf'
  const size = readImageSize(part.data)
  const { edge = Number.POSITIVE_INFINITY } = getWireFacts(wire).media ?? {}
  return size !== undefined && Math.max(size.width, size.height) <= edge
}

/** Computes the tokens of an image by the provider's published rule. 0 for other media, which only the provider can count. */
export function countImageTokens(wire: string, part: MediaPart): number {
  const size = part.type === 'image' ? readImageSize(part.data) : undefined
  return size && acceptsMedia(wire, part) ? (getWireFacts(wire).media?.tokens(size) ?? 0) : 0
}

/** Describes media that the model does not get, and the reason. */
export interface Withheld {
  readonly kind: MediaPart['type']
  readonly mediaType: string
  readonly name?: string
  /** In pixels, if known. */
  readonly size?: { readonly width: number; readonly height: number }
  readonly bytes: number
  /** The wire does not accept this media type; the data is too large to send; the data is not readable. */
  readonly why: 'not-taken' | 'too-large' | 'unreadable'
}

export function createWithheld(part: MediaPart, why: Withheld['why']): Withheld {
  const { type: kind, mediaType, name, data } = part
  const size = kind === 'image' ? readImageSize(data) : undefined
  return {
    kind,
    mediaType,
    ...(name === undefined ? {} : { name }),
    ...(size ? { size: { width: size.width, height: size.height } } : {}),
    bytes: byteLength(data),
    why,
  }
}
