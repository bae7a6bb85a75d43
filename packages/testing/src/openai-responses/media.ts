/**
 * The rules about images and files on the OpenAI Responses wire, the same in a message and in the output of a function.
 * The fields are those of the official types (`ResponseInputImageContent`, `ResponseInputFileContent`); which images are
 * taken stands in the guide (platform.openai.com/docs/guides/images-vision: PNG, JPEG, WEBP, GIF that does not move).
 */

import { type Fields, type Found, violation } from '../shared/guards.js'
import { imageTypeOf, isBase64, readDataUrl } from '../shared/media.js'
import { missing, wrongValue } from '../shared/openai-wording.js'
import { stringViolation } from './request.js'

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']
const DETAILS = ['low', 'high', 'auto', 'original']

/** Parts of other kinds pass. */
export function mediaViolation(part: Fields, at: string): Found {
  if (part.type === 'input_image') return imageViolation(part, at)
  return part.type === 'input_file' ? fileViolation(part, at) : undefined
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

function imageViolation({ image_url: url, file_id: id, detail }: Fields, at: string): Found {
  if (isGiven(detail) && !DETAILS.includes(String(detail))) return wrongValue(`${at}.detail`, detail, DETAILS)
  if (!isGiven(url)) return isGiven(id) ? stringViolation(id, `${at}.file_id`) : missing(`${at}.image_url`)
  const place = `${at}.image_url`
  if (typeof url !== 'string') return stringViolation(url, place)
  if (/^https?:\/\//.test(url)) return undefined
  const data = readDataUrl(url)
  if (!data) {
    const reason = `Expected a valid URL, but got a value with an invalid format.`
    return violation(`Invalid '${place}'. ${reason}`, place, 'invalid_value')
  }
  if (!isBase64(data.data)) return badBase64(place)
  const found = imageTypeOf(data.data)
  if (IMAGE_TYPES.includes(data.mediaType) && found !== undefined) return undefined
  const message =
    `You uploaded an unsupported image. Please make sure your image has of one the following formats: ` +
    `['png', 'jpeg', 'gif', 'webp'].`
  return violation(message, place, 'invalid_image_format')
}

/** Data needs a name, whose ending tells the server how to read it. */
function fileViolation(part: Fields, at: string): Found {
  const { file_data: data, file_id: id, file_url: url, filename } = part
  if (!isGiven(data)) return isGiven(id) || isGiven(url) ? undefined : missing(`${at}.file_data`)
  if (typeof data !== 'string') return stringViolation(data, `${at}.file_data`)
  if (typeof filename !== 'string' || filename === '') return missing(`${at}.filename`)
  return isBase64(readDataUrl(data)?.data ?? data) ? undefined : badBase64(`${at}.file_data`)
}

function badBase64(at: string): Found {
  return violation(`Invalid '${at}'. Expected base64-encoded data.`, at, 'invalid_base64')
}
