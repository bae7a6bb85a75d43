/** The rules about contents and their parts on the Gemini wire, each for itself. */

import { type Fields, type Found, violation } from '../shared/guards.js'
import {
  anything,
  type Check,
  fieldsOf,
  flag,
  given,
  listOf,
  nameGiven,
  object,
  type Table,
  text,
} from './fields.js'
import { inlineData, referencesViolation, responsePart } from './media.js'
import type { GoogleContent } from './request.js'
import { missing, spelled, unset } from './wording.js'

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

/** The types know two roles. `function`, which older servers took for responses, is not among them. */
function roleViolation(role: unknown, at: string): Found {
  if (role === 'user' || role === 'model') return undefined
  return violation('Please use a valid role: user, model.', at, 'invalid_value')
}

/** Its role is ignored, so any will do. */
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

/** Like `partsGiven`, runs after the fields were checked. */
function responseGiven(value: unknown, at: string): Found {
  return (value as Fields).response ? undefined : missing(`${at}.response`, 'Response cannot be empty.')
}
