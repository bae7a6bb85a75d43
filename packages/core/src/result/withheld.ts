/** Media that a model does not get, as it is spoken of. */
import { byteLength } from './base64.js'
import { imageSize } from './image-size.js'
import type { MediaPart } from './part.js'

/** Media that cannot be given to a model, and why. */
export interface Withheld {
  readonly kind: MediaPart['type']
  readonly mediaType: string
  readonly name?: string
  /** Pixels, where they are known. */
  readonly size?: { readonly width: number; readonly height: number }
  readonly bytes: number
  /** The wire takes none of its kind; it is too large to send; its bytes are not what they should be. */
  readonly why: 'not-taken' | 'too-large' | 'unreadable'
}

/** A part of media as it is spoken of. */
export function withheld(part: MediaPart, why: Withheld['why']): Withheld {
  const { type: kind, mediaType, name, data } = part
  const size = kind === 'image' ? imageSize(data) : undefined
  return {
    kind,
    mediaType,
    ...(name === undefined ? {} : { name }),
    ...(size ? { size: { width: size.width, height: size.height } } : {}),
    bytes: byteLength(data),
    why,
  }
}
