/**
 * Which media each wire takes in the result of a tool, and what an image costs there. Sources: the official types of each
 * SDK (Anthropic `ToolResultBlockParam`, OpenAI `ResponseFunctionCallOutputItem` and `ChatCompletionToolMessageParam`,
 * Google `FunctionResponsePart`), and the pages named below.
 */

import { byteLength, type ImageSize, readImageSize, type MediaPart } from './part.js'

/** Characters of base64 in one part. Anthropic refuses more in an image; the others limit the whole request. */
export const MOST_MEDIA = 5 * 1024 * 1024

const PDF = 'application/pdf'

/** By wire. Not listed: takes text alone. */
const ACCEPTED: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', PDF],
  'openai-responses': ['image/png', 'image/jpeg', 'image/gif', 'image/webp', PDF],
  // ai.google.dev/gemini-api/docs/function-calling, "Multimodal function responses": from Gemini 3 on.
  google: ['image/png', 'image/jpeg', 'image/webp', PDF],
}

/** An image must be one that can be read: servers look, and refuse the request for it. */
export function acceptsMedia(wire: string, part: MediaPart): boolean {
  return ACCEPTED[wire]?.includes(part.mediaType) === true && canSendMedia(wire, part)
}

/** For servers that take more than the wire says. */
export function canSendMedia(wire: string, part: MediaPart): boolean {
  if (part.data.length > MOST_MEDIA) return false
  if (part.type !== 'image') return part.mediaType === PDF
  const size = readImageSize(part.data)
  // platform.claude.com, build-with-claude/vision: larger ones are rejected.
  return size !== undefined && (wire !== 'anthropic' || Math.max(size.width, size.height) <= 8000)
}

/** Tokens of an image, by the provider's published rule; what other media cost only the provider can tell, and is 0 here. */
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

// Media that a model does not get, as it is spoken of.

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
