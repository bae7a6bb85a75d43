/** Converts parts that servers refuse to the nearest form that they accept, without losing content. */

import { isRecord } from '../../base/data.js'
import { argumentsObject, hasSameItems, plainText, readArguments } from '../shared/thread.js'
import { isUnfinished, joinPieces, markUnfinished } from './partial-args.js'
import type { GoogleContent, GoogleFunctionCall, GoogleFunctionResponse, GooglePart } from './types.js'

type Fields = Readonly<Record<string, unknown>>

/** Returns the same list if nothing changed. Unknown parts pass: servers add new ones. */
export function normaliseParts({ parts }: GoogleContent): readonly GooglePart[] {
  const given: readonly unknown[] = Array.isArray(parts) ? parts : parts == null ? [] : [parts]
  const ids = new Set<string>()
  const made = joinPieces(given).flatMap((part) => normalisePart(part, ids))
  return (Array.isArray(parts) && hasSameItems(made, parts) ? parts : made) as readonly GooglePart[]
}

function normalisePart(part: unknown, ids: Set<string>): readonly GooglePart[] {
  if (!isRecord(part)) return said(plainText(part))
  const { functionCall: call, functionResponse: response, text, ...others } = part
  if (call == null && response == null) {
    if (typeof text === 'string') return [part as GooglePart]
    if (text != null) return [{ ...part, text: plainText(text) }]
    const data = Object.keys(others).filter((field) => others[field] != null)
    // Metadata needs a part to describe: the end of a stream may be a signature alone.
    if (data.every((field) => field === 'thought' || field === 'thoughtSignature'))
      return data.length === 0 ? [] : [{ ...others, text: '' } as GooglePart]
    return [part as GooglePart]
  }
  // A part holds one kind of data.
  const words = said(plainText(text))
  if (call != null) {
    const normal = isRecord(call) ? normaliseCall(call, ids) : undefined
    const rest = response == null ? [] : normalisePart({ functionResponse: response }, ids)
    if (!normal) return [...words, ...said(plainText(call)), ...rest]
    if (normal === call && text == null && response == null) return [part as GooglePart]
    return [...words, { ...others, functionCall: normal } as GooglePart, ...rest]
  }
  if (!isRecord(response)) return [...words, ...said(plainText(response))]
  const normal = normaliseResponse(response)
  return normal === response && text == null
    ? [part as GooglePart]
    : [...words, { ...others, functionResponse: normal } as GooglePart]
}

function said(text: string): readonly GooglePart[] {
  return text === '' ? [] : [{ text }]
}

/** A repeated id in one content gets a number. */
function normaliseCall(call: Fields, ids: Set<string>): GoogleFunctionCall {
  const { id: given, args, ...others } = call
  const base = plainText(given)
  let id = base
  for (let count = 2; id !== '' && ids.has(id); count++) id = `${base}:${count}`
  ids.add(id)
  if ((given == null || given === id) && (args == null || isRecord(args))) return call as GoogleFunctionCall
  const name = plainText(call.name)
  const made = { ...others, ...(id === '' ? {} : { id }), name, args: argumentsObject(readArguments(args)) }
  return isUnfinished(call) ? markUnfinished(made) : made
}

function normaliseResponse(response: Fields): GoogleFunctionResponse {
  const { id, name, response: value } = response
  const named = typeof name === 'string' && (id == null || typeof id === 'string')
  if (named && isRecord(value)) return response as GoogleFunctionResponse
  return {
    ...response,
    ...(id == null ? {} : { id: plainText(id) }),
    name: plainText(name),
    response: isRecord(value) ? value : value == null ? {} : { result: value },
  }
}
