/**
 * The media that each wire accepts in tool results, and the tokens of an image. Sources: the official types of each SDK
 * (Anthropic `ToolResultBlockParam`, OpenAI `ResponseFunctionCallOutputItem` and `ChatCompletionToolMessageParam`, Google
 * `FunctionResponsePart`), and the pages named below.
 */

import { byteLength, type ImageSize, type MediaPart, readImageSize } from './part.js'

/** Characters of base64 in one part. Anthropic refuses more in an image; the others limit the whole request. */
export const MOST_MEDIA = 5 * 1024 * 1024

const PDF = 'application/pdf'

/** By wire. Other wires accept only text. */
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', PDF],
  'openai-responses': ['image/png', 'image/jpeg', 'image/gif', 'image/webp', PDF],
  // ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses": from Gemini 3 on.
  google: ['image/png', 'image/jpeg', 'image/webp', PDF],
}

/** True if the wire accepts the media type and the data is readable: servers refuse a request with a broken image. */
export function acceptsMedia(wire: string, part: MediaPart): boolean {
  return ACCEPTED[wire]?.includes(part.mediaType) === true && canSendMedia(wire, part)
}

/** Checks only size and data, for servers that accept more media types than the wire defines. */
export function canSendMedia(wire: string, part: MediaPart): boolean {
  if (part.data.length > MOST_MEDIA) return false
  if (part.type !== 'image') return part.mediaType === PDF
  const size = readImageSize(part.data)
  // platform.claude.com, build-with-claude/vision: larger images are rejected.
  return size !== undefined && (wire !== 'anthropic' || Math.max(size.width, size.height) <= 8000)
}

/** Computes the tokens of an image by the provider's published rule. 0 for other media, which only the provider can count. */
export function countImageTokens(wire: string, part: MediaPart): number {
  const size = part.type === 'image' ? readImageSize(part.data) : undefined
  return size && acceptsMedia(wire, part) ? (RULES[wire]?.(size) ?? 0) : 0
}

type Rule = (size: ImageSize) => number

const RULES: Readonly<Record<string, Rule>> = {
  /** build-with-claude/vision: width × height ÷ 750, scaled down to 1,568 pixels on the long edge and some 1,600 tokens. */
  anthropic: ({ width, height }) => {
    const scale = Math.min(1, 1568 / Math.max(width, height))
    return Math.min(1600, Math.ceil((width * scale * (height * scale)) / 750))
  },
  /**
   * platform.openai.com/docs/guides/images-vision, high detail: within 2,048 pixels, then 768 on the short edge, 170 for
   * each tile of 512 and 85 besides. Some models count patches of 32 pixels instead.
   */
  'openai-responses': ({ width, height }) => {
    const fit = Math.min(1, 2048 / Math.max(width, height))
    const scale = fit * Math.min(1, 768 / (Math.min(width, height) * fit))
    return 85 + 170 * Math.ceil((width * scale) / 512) * Math.ceil((height * scale) / 512)
  },
  /** ai.google.dev/gemini-api/docs/image-understanding: 258 up to 384 pixels, above that 258 for each tile. */
  google: ({ width, height }) => {
    if (Math.max(width, height) <= 384) return 258
    const tile = Math.max(1, Math.floor(Math.min(width, height) / 1.5))
    return 258 * Math.ceil(width / tile) * Math.ceil(height / tile)
  },
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
