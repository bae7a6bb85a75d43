/** An image or a file in a result, whatever wire wrote it. */
import { isRecord } from '../../base/data.js'
import type { MediaPart } from '../../result/part.js'

/** Undefined for words, for addresses, and for what is not known here. */
export function mediaOf(piece: unknown): MediaPart | undefined {
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
    return source.type === 'base64' ? media(source.data, source.media_type, title) : undefined
  // Gemini.
  if (isRecord(inlineData)) return media(inlineData.data, inlineData.mimeType)
  // OpenAI: Responses, and Chat Completions where a server takes images.
  if (type === 'input_image' || type === 'image_url') return fromUrl(isRecord(image) ? image.url : image)
  if (type === 'input_file') return fromUrl(file, filename)
  // The AI SDK: as version 6 has them, as version 7 has them, and as both did before.
  if (type === 'image-data' || type === 'file-data' || type === 'file' || type === 'media')
    return media(isRecord(data) && data.type === 'data' ? data.data : data, mediaType, filename)
  return undefined
}

function fromUrl(url: unknown, name?: unknown): MediaPart | undefined {
  if (typeof url !== 'string' || !url.startsWith('data:')) return undefined
  const comma = url.indexOf(',')
  const head = url.slice('data:'.length, comma)
  return head.endsWith(';base64')
    ? media(url.slice(comma + 1), head.slice(0, -';base64'.length), name)
    : undefined
}

function media(data: unknown, mediaType: unknown, name?: unknown): MediaPart | undefined {
  if (typeof data !== 'string' || typeof mediaType !== 'string') return undefined
  const [kind] = mediaType.split('/', 1)
  return {
    type: kind === 'image' || kind === 'audio' ? kind : 'file',
    data,
    mediaType,
    ...(typeof name === 'string' && name !== '' ? { name } : {}),
  }
}
