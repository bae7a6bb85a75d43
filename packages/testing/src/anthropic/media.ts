/**
 * The rules about images and documents on the Anthropic wire, the same in a message and in a tool's result. The sources
 * and their media types are those of the official types (`ImageBlockParam`, `DocumentBlockParam`); the limits stand in
 * the guide (build-with-claude/vision: 5 MB for each image, 8,000 pixels).
 */

import { type Fields, type Found, isObject } from '../shared/guards.js'
import { imageTypeOf, isBase64 } from '../shared/media.js'
import { missing, violation, wrongType, wrongValue } from './request.js'

const IMAGE_TYPES = ['image/jpeg', 'image/png', 'image/gif', 'image/webp']
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  image: ['base64', 'url', 'file'],
  document: ['base64', 'text', 'content', 'url', 'file'],
}
/** The API counts the base64, not what it decodes to. */
const MAX_IMAGE = 5 * 1024 * 1024

/** Blocks of other kinds pass. */
export function mediaViolation(block: Fields, at: string): Found {
  const kinds = SOURCES[String(block.type)]
  if (!kinds) return undefined
  const { source } = block
  if (source === undefined) return missing(`${at}.source`)
  if (!isObject(source)) return wrongType(`${at}.source`, 'a valid dictionary')
  const { type, url, file_id: file, data } = source
  if (!kinds.includes(String(type))) return wrongValue(`${at}.source.type`, kinds)
  if (type === 'url') return typeof url === 'string' ? undefined : missing(`${at}.source.url`)
  if (type === 'file') return typeof file === 'string' ? undefined : missing(`${at}.source.file_id`)
  if (type === 'content') return undefined
  if (typeof data !== 'string') return missing(`${at}.source.data`)
  if (type === 'text') return typeViolation(source, at, ['text/plain'])
  return (
    typeViolation(source, at, block.type === 'image' ? IMAGE_TYPES : ['application/pdf']) ??
    bytesViolation(data, String(source.media_type), `${at}.source.base64`)
  )
}

function typeViolation({ media_type: type }: Fields, at: string, known: readonly string[]): Found {
  if (type === undefined) return missing(`${at}.source.media_type`)
  return known.includes(String(type)) ? undefined : wrongValue(`${at}.source.media_type`, known)
}

function bytesViolation(data: string, mediaType: string, at: string): Found {
  if (!isBase64(data)) return violation(`${at}.data`, 'Invalid base64 data', 'invalid_base64')
  if (!mediaType.startsWith('image/')) return undefined
  if (data.length > MAX_IMAGE) {
    const reason = `image exceeds 5 MB maximum: ${data.length} bytes > ${MAX_IMAGE} bytes`
    return violation(at, reason, 'image_too_large')
  }
  const found = imageTypeOf(data)
  if (found === undefined) return violation(`${at}.data`, 'Could not process image', 'unreadable_image')
  if (found === mediaType) return undefined
  const reason = `The image was specified using the ${mediaType} media type, but the image appears to be a ${found} image`
  return violation(`${at}.media_type`, reason, 'wrong_media_type')
}
