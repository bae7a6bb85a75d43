/** Reads and writes images and files in results. */

import { isRecord } from '../../base/data.js'
import { isMedia, type MediaPart, type ResultPart } from '../../result/part.js'
import type { Prompts } from '../../surface/prompts.js'
import { describePart } from '../../turn/describe-part.js'

/** Reads an image or a file of any wire. Undefined for text, URLs and unknown parts. */
export function readMedia(piece: unknown): MediaPart | undefined {
  if (!isRecord(piece)) return undefined
  const {
    type,
    source,
    image_url: image,
    file_data: file,
    inlineData,
    title,
    filename,
    data,
    mediaType,
  } = piece
  // Anthropic.
  if (isRecord(source))
    return source.type === 'base64' ? createMedia(source.data, source.media_type, title) : undefined
  // Gemini.
  if (isRecord(inlineData)) return createMedia(inlineData.data, inlineData.mimeType)
  // OpenAI: Responses, and Chat Completions if a server accepts images.
  if (type === 'input_image' || type === 'image_url') return readDataUrl(isRecord(image) ? image.url : image)
  if (type === 'input_file') return readDataUrl(file, filename)
  // The AI SDK: version 6, version 7, and older versions.
  if (type === 'image-data' || type === 'file-data' || type === 'file' || type === 'media')
    return createMedia(isRecord(data) && data.type === 'data' ? data.data : data, mediaType, filename)
  return undefined
}

function readDataUrl(url: unknown, name?: unknown): MediaPart | undefined {
  if (typeof url !== 'string' || !url.startsWith('data:')) return undefined
  const comma = url.indexOf(',')
  const head = url.slice('data:'.length, comma)
  return head.endsWith(';base64')
    ? createMedia(url.slice(comma + 1), head.slice(0, -';base64'.length), name)
    : undefined
}

function createMedia(data: unknown, mediaType: unknown, name?: unknown): MediaPart | undefined {
  if (typeof data !== 'string' || typeof mediaType !== 'string') return undefined
  const [kind] = mediaType.split('/', 1)
  return {
    type: kind === 'image' || kind === 'audio' ? kind : 'file',
    data,
    mediaType,
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
  }
}

/**
 * Writes the parts of a result for one wire: media that the wire accepts in its form, the rest as text. `write`
 * returns undefined for media that the wire does not accept. Adjacent texts are joined; blank texts are skipped.
 */
export function writeParts<Native extends object>(
  parts: readonly ResultPart[],
  write: (part: MediaPart) => Native | undefined,
  prompts: Prompts,
): readonly (string | Native)[] {
  const made: (string | Native)[] = []
  for (const part of parts) {
    const native = isMedia(part) ? write(part) : undefined
    const words = native ? '' : describePart(part, prompts)
    const last = made.at(-1)
    if (native) made.push(native)
    else if (words.trim() === '') continue
    else if (typeof last === 'string') made[made.length - 1] = `${last}\n${words}`
    else made.push(words)
  }
  return made
}

export function writeDataUrl({ mediaType, data }: MediaPart): string {
  return `data:${mediaType};base64,${data}`
}

/** The name of a file, or a default name: servers choose the reader by its extension. */
export function chooseFileName({ name, mediaType }: MediaPart): string {
  return name ?? `file.${mediaType.slice(mediaType.lastIndexOf('/') + 1)}`
}
