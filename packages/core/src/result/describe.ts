/** Parts of a result as words, for whoever cannot take them as they are. */
import { quote } from '../base/text.js'
import type { Prompts } from '../surface/prompts.js'
import { byteLength } from './base64.js'
import { imageSize } from './image-size.js'
import type { LinkPart, MediaPart, ResultPart } from './part.js'

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

/** A part as words. */
export function describe(part: ResultPart, prompts: Prompts): string {
  if (part.type === 'text') return part.text
  if (part.type === 'structured') return JSON.stringify(part.value) ?? ''
  return part.type === 'link' ? linkWords(part, prompts) : notShown(withheld(part, 'not-taken'), prompts)
}

/** What a source wrote is quoted. */
function linkWords({ uri, name = '', mediaType = '', description = '' }: LinkPart, prompts: Prompts): string {
  const quoted = (words: string, limit: number) => (words === '' ? '' : quote(words, limit))
  return prompts.link({
    uri: quote(uri, 2000),
    name: quoted(name, 200),
    mediaType: quoted(mediaType, 100),
    description: quoted(description, 500),
  })
}

/** Media in words. */
export function notShown(
  { kind, mediaType, name = '', size, bytes, why }: Withheld,
  prompts: Prompts,
): string {
  return prompts.notShown({
    kind,
    mediaType,
    name: name === '' ? '' : quote(name, 200),
    size,
    bytes,
    why,
  })
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
