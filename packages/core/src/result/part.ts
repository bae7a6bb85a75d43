/** Parts of a tool result: one form for host tools and MCP, which each wire converts. Also base64 and image sizes. */

export type ResultPart = TextPart | MediaPart | LinkPart | StructuredPart

export interface TextPart {
  readonly type: 'text'
  readonly text: string
}

/** An image, a sound or another file. */
export interface MediaPart {
  readonly type: 'image' | 'audio' | 'file'
  /** In base64. */
  readonly data: string
  readonly mediaType: string
  readonly name?: string
}

/** A link to a resource. The model reads the address; Toolwell does not fetch it. */
export interface LinkPart {
  readonly type: 'link'
  readonly uri: string
  readonly name?: string
  readonly description?: string
  readonly mediaType?: string
}

/** A JSON value. The model reads it as JSON. */
export interface StructuredPart {
  readonly type: 'structured'
  readonly value: unknown
}

/** A part as tools write it. Data may be base64 or bytes. */
export type GivenPart =
  | TextPart
  | LinkPart
  | StructuredPart
  | (Omit<MediaPart, 'data'> & { readonly data: string | Uint8Array })

export interface ToolResult {
  readonly parts: readonly GivenPart[]
  /** The tool ran and failed. The call counts as failed, and the model reads so. */
  readonly isError?: boolean
}

/** In the global symbol registry, because one process may load two copies of this package. */
const MARK = Symbol.for('toolwell.result')

/** Makes a result in parts for `execute` to return. Other values of the same shape are data and are written as JSON. */
export function toolResult(
  parts: readonly GivenPart[],
  { isError = false }: { readonly isError?: boolean } = {},
): ToolResult {
  const made: ToolResult = { parts, ...(isError ? { isError } : {}) }
  return Object.defineProperty(made, MARK, { value: true })
}

export function isToolResult(value: unknown): value is ToolResult {
  return typeof value === 'object' && value !== null && (value as { [MARK]?: unknown })[MARK] === true
}

export function isMedia(part: ResultPart): part is MediaPart {
  return part.type === 'image' || part.type === 'audio' || part.type === 'file'
}

const CHUNK = 0x8000

/**
 * Makes base64 that every server decodes: standard alphabet, padded. Repairs a `data:` prefix, line breaks and the URL alphabet.
 * Undefined if the text is not base64.
 */
export function toBase64(data: string | Uint8Array): string | undefined {
  if (typeof data !== 'string') return encodeBase64(data)
  const comma = data.startsWith('data:') ? data.indexOf(',') : -1
  const body = comma < 0 ? data : data.slice(comma + 1)
  const text = /[\s_-]/.test(body) ? body.replace(/\s+/g, '').replace(/-/g, '+').replace(/_/g, '/') : body
  const bare = text.endsWith('==') ? text.slice(0, -2) : text.endsWith('=') ? text.slice(0, -1) : text
  if (bare === '' || bare.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(bare)) return undefined
  return bare.padEnd(Math.ceil(bare.length / 4) * 4, '=')
}

function encodeBase64(bytes: Uint8Array): string | undefined {
  if (bytes.length === 0) return undefined
  let text = ''
  for (let start = 0; start < bytes.length; start += CHUNK)
    text += String.fromCharCode(...bytes.subarray(start, start + CHUNK))
  return btoa(text)
}

export function decodeStart(base64: string, bytes: number): Uint8Array {
  const text = base64.slice(0, Math.ceil(bytes / 3) * 4)
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)).subarray(0, bytes)
}

/** The number of bytes that base64 encodes. */
export function byteLength(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0
  return (base64.length / 4) * 3 - padding
}

/** Decodes base64 as UTF-8; undefined if the bytes are not UTF-8. */
export function decodeText(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decodeStart(base64, byteLength(base64)))
  } catch {
    return undefined
  }
}

/** The formats that providers accept. */
export interface ImageSize {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  readonly width: number
  readonly height: number
}

/** Cameras write about 64 kB of metadata before the size of a JPEG, rarely a few times that. */
const LOOKED_AT = 512 * 1024

/** Reads format and size from the first bytes, in one pass. Undefined if the bytes are not such an image. */
export function readImageSize(base64: string): ImageSize | undefined {
  const bytes = decodeStart(base64, LOOKED_AT)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const found = png(view) ?? gif(view) ?? webp(view) ?? jpeg(view)
  return found && found.width > 0 && found.height > 0 ? found : undefined
}

function hasText(view: DataView, at: number, text: string): boolean {
  if (view.byteLength < at + text.length) return false
  for (let index = 0; index < text.length; index++)
    if (view.getUint8(at + index) !== text.charCodeAt(index)) return false
  return true
}

function png(view: DataView): ImageSize | undefined {
  if (view.byteLength < 24 || !hasText(view, 0, '\x89PNG\r\n\x1a\n') || !hasText(view, 12, 'IHDR'))
    return undefined
  return { mediaType: 'image/png', width: view.getUint32(16), height: view.getUint32(20) }
}

function gif(view: DataView): ImageSize | undefined {
  if (view.byteLength < 10 || !(hasText(view, 0, 'GIF87a') || hasText(view, 0, 'GIF89a'))) return undefined
  return { mediaType: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

/** WebP has three kinds of chunk: extended, lossless and lossy. */
function webp(view: DataView): ImageSize | undefined {
  if (view.byteLength < 30 || !hasText(view, 0, 'RIFF') || !hasText(view, 8, 'WEBP')) return undefined
  const mediaType = 'image/webp'
  if (hasText(view, 12, 'VP8X'))
    return { mediaType, width: 1 + threeBytes(view, 24), height: 1 + threeBytes(view, 27) }
  if (hasText(view, 12, 'VP8L')) {
    const bits = view.getUint32(21, true)
    return { mediaType, width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) }
  }
  if (!hasText(view, 12, 'VP8 ')) return undefined
  return { mediaType, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
}

function threeBytes(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}

/** Skips segments until a frame starts. Each step moves forward, so it always ends. */
function jpeg(view: DataView): ImageSize | undefined {
  if (!hasText(view, 0, '\xff\xd8\xff')) return undefined
  for (let at = 2; at + 9 <= view.byteLength; ) {
    if (view.getUint8(at) !== 0xff) return undefined
    const marker = view.getUint8(at + 1)
    if (marker === 0xff) {
      at++
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame)
      return { mediaType: 'image/jpeg', width: view.getUint16(at + 7), height: view.getUint16(at + 5) }
    at += 2 + view.getUint16(at + 2)
  }
  return undefined
}
