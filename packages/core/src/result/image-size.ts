/** What an image is and how large, from its first bytes: PNG, JPEG, GIF and WebP, the four that providers take. */
import { decodedStart } from './base64.js'

export interface ImageSize {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  readonly width: number
  readonly height: number
}

/** A camera puts some 64 kB of notes before the size of a JPEG, seldom more than a few times that. */
const LOOKED_AT = 512 * 1024

/** Undefined where the bytes are no such image. Takes one walk over the start, whatever the bytes say. */
export function imageSize(base64: string): ImageSize | undefined {
  const bytes = decodedStart(base64, LOOKED_AT)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const found = png(view) ?? gif(view) ?? webp(view) ?? jpeg(view)
  return found && found.width > 0 && found.height > 0 ? found : undefined
}

function says(view: DataView, at: number, text: string): boolean {
  if (view.byteLength < at + text.length) return false
  for (let index = 0; index < text.length; index++)
    if (view.getUint8(at + index) !== text.charCodeAt(index)) return false
  return true
}

function png(view: DataView): ImageSize | undefined {
  if (view.byteLength < 24 || !says(view, 0, '\x89PNG\r\n\x1a\n') || !says(view, 12, 'IHDR')) return undefined
  return { mediaType: 'image/png', width: view.getUint32(16), height: view.getUint32(20) }
}

function gif(view: DataView): ImageSize | undefined {
  if (view.byteLength < 10 || !(says(view, 0, 'GIF87a') || says(view, 0, 'GIF89a'))) return undefined
  return { mediaType: 'image/gif', width: view.getUint16(6, true), height: view.getUint16(8, true) }
}

/** Three kinds of chunk: with extras, lossless, and the plain one. */
function webp(view: DataView): ImageSize | undefined {
  if (view.byteLength < 30 || !says(view, 0, 'RIFF') || !says(view, 8, 'WEBP')) return undefined
  const mediaType = 'image/webp'
  if (says(view, 12, 'VP8X'))
    return { mediaType, width: 1 + threeBytes(view, 24), height: 1 + threeBytes(view, 27) }
  if (says(view, 12, 'VP8L')) {
    const bits = view.getUint32(21, true)
    return { mediaType, width: 1 + (bits & 0x3fff), height: 1 + ((bits >> 14) & 0x3fff) }
  }
  if (!says(view, 12, 'VP8 ')) return undefined
  return { mediaType, width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff }
}

function threeBytes(view: DataView, at: number): number {
  return view.getUint16(at, true) | (view.getUint8(at + 2) << 16)
}

/** From segment to segment until the one that begins a frame. Each step goes forward. */
function jpeg(view: DataView): ImageSize | undefined {
  if (!says(view, 0, '\xff\xd8\xff')) return undefined
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
