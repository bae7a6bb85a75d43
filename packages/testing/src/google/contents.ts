/** Rules about single contents and their parts on the Gemini wire, including media. */
import { type Fields, type Found, firstOf, isBase64, violation } from '../shared/guards.js'
import {
  anything,
  type Check,
  fieldsOf,
  flag,
  given,
  listOf,
  missing,
  nameGiven,
  object,
  spelled,
  type Table,
  text,
  unset,
} from './refusals.js'
import type { GoogleContent } from './request.js'

// Function responses allow fewer media types than messages: ai.google.dev/gemini-api/docs/function-calling, "Multimodal function
// responses" (Gemini 3 and later). Servers name a refused type (google-gemini/gemini-cli#16995); earlier models refuse the field
// (maximhq/bifrost#4202, google-gemini/gemini-cli#16137).
const IN_RESPONSE = ['image/png', 'image/jpeg', 'image/webp', 'application/pdf', 'text/plain']

const blob = fieldsOf({ mimeType: text, data: text, displayName: text })
const file = fieldsOf({ mimeType: text, fileUri: text, displayName: text })

const inlineData: Check = (value, at) => {
  const found = blob(value, at)
  if (found) return found
  const { mimeType, data } = value as Fields
  if (!mimeType) return missing(`${at}.mimeType`, 'mime_type must be specified.')
  // Servers accept empty data, and tests use it if the bytes do not matter.
  if (data === undefined || data === '' || isBase64(data)) return undefined
  return violation(
    `Invalid value at '${spelled(at)}.data' (TYPE_BYTES), Base64 decoding failed for "${String(data).slice(0, 40)}"`,
    `${at}.data`,
    'invalid_base64',
  )
}

/** One piece of media in a response. */
const responsePart: Check = (value, at) => {
  const found = fieldsOf({ inlineData, fileData: file, mediaProcessing: () => undefined })(value, at)
  if (found) return found
  const [data] = given(value as Fields).filter(([name]) => name !== 'mediaProcessing')
  if (!data) return unset(at, 'data', "required oneof field 'data' must have one initialized field")
  const { mimeType } = data[1] as Fields
  if (IN_RESPONSE.includes(String(mimeType))) return undefined
  const message = `Unable to submit request because the mime_type: ${String(mimeType)} is not supported in \`function_response.parts\`.`
  return violation(message, `${at}.${data[0]}.mimeType`, 'unsupported_media_type')
}

const FUNCTION_CALL: Table = { name: text, args: object, id: text }
const FUNCTION_RESPONSE: Table = {
  name: text,
  response: object,
  id: text,
  parts: listOf(responsePart),
  scheduling: text,
  willContinue: flag,
}
const PART_DATA: Table = {
  text,
  functionCall: (value, at) => fieldsOf(FUNCTION_CALL)(value, at) ?? nameGiven(value, at),
  functionResponse: (value, at) =>
    fieldsOf(FUNCTION_RESPONSE)(value, at) ??
    nameGiven(value, at) ??
    responseGiven(value, at) ??
    referencesViolation(value, at),
  inlineData,
  fileData: object,
  executableCode: object,
  codeExecutionResult: object,
  toolCall: object,
  toolResponse: object,
}
const PART: Table = {
  ...PART_DATA,
  thought: flag,
  thoughtSignature: text,
  videoMetadata: object,
  partMetadata: object,
  mediaResolution: anything,
  mediaProcessing: anything,
  audioTranscription: anything,
  speechMetadata: anything,
}

export function contentViolation(content: unknown, at: string): Found {
  return (
    fieldsOf({ role: roleViolation, parts: listOf(partViolation) })(content, at) ?? partsGiven(content, at)
  )
}

/** The types have two roles. `function`, which older servers accepted, is not one of them. */
function roleViolation(role: unknown, at: string): Found {
  if (role === 'user' || role === 'model') return undefined
  return violation('Please use a valid role: user, model.', at, 'invalid_value')
}

/** The role is ignored, so any is accepted. */
export function systemViolation(content: unknown, at: string): Found {
  const textOnly = fieldsOf({ text, thought: flag, thoughtSignature: text })
  const part: Check = (value, place) => textOnly(value, place) ?? partViolation(value, place)
  return fieldsOf({ role: text, parts: listOf(part) })(content, at) ?? partsGiven(content, at)
}

function partsGiven(content: unknown, at: string): Found {
  const { parts } = content as Partial<GoogleContent>
  return parts?.length ? undefined : missing(`${at}.parts`, 'contents.parts must not be empty.')
}

function partViolation(part: unknown, at: string): Found {
  const inFields = fieldsOf(PART)(part, at)
  if (inFields) return inFields
  const [data, second] = given(part as Fields).filter(([name]) => Object.hasOwn(PART_DATA, name))
  if (!data) return unset(at, 'data', "required oneof field 'data' must have one initialized field")
  if (!second) return undefined
  const reason = `oneof field 'data' is already set. Cannot set '${second[0]}'`
  return violation(`Invalid value at '${spelled(at)}' (oneof), ${reason}`, at, 'invalid_value')
}

/** Expects checked fields, like `partsGiven`. */
function responseGiven(value: unknown, at: string): Found {
  return (value as Fields).response ? undefined : missing(`${at}.response`, 'Response cannot be empty.')
}

/** A response may refer only to its own media, by unique names. Expects checked fields. */
function referencesViolation(value: unknown, at: string): Found {
  const { response, parts } = value as Fields
  const named = new Set<unknown>()
  for (const [index, part] of ((parts ?? []) as readonly Fields[]).entries()) {
    const { displayName } = (part.inlineData ?? part.fileData ?? {}) as Fields
    const place = `${at}.parts[${index}]`
    if (displayName !== undefined && named.has(displayName))
      return violation(`Duplicate display_name '${displayName}'.`, place, 'duplicate_display_name')
    named.add(displayName)
  }
  return firstOf(referencesIn(response), (name) =>
    named.has(name)
      ? undefined
      : violation(`No part has the display_name '${name}'.`, `${at}.response`, 'unknown_display_name'),
  )
}

function referencesIn(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  const { $ref: name, ...others } = value as Fields
  if (typeof name === 'string' && Object.keys(others).length === 0) return [name]
  return Object.values(value).flatMap(referencesIn)
}

/** For models before Gemini 3. */
export function mediaResponseViolation(contents: readonly GoogleContent[]): Found {
  return firstOf(contents.entries(), ([index, content]) =>
    firstOf(content.parts.entries(), ([position, { functionResponse: response }]) => {
      const parts: unknown = response?.parts
      if (!Array.isArray(parts) || parts.length === 0) return undefined
      const at = `contents[${index}].parts[${position}].functionResponse.parts`
      return violation('Multimodal function response is not supported for this model.', at, 'media_response')
    }),
  )
}
