/**
 * What a strict OpenAI Responses server refuses with a 400 before any model runs: the gate of the scripted endpoint on
 * that wire, used without state, so that each request carries its whole history. Messages are worded as OpenAI words
 * them where its text is known, because hosts and their logs match on it. The codes are OpenAI's where it has one; it
 * sends `null` for pairing and namespaces, which get names here so that a test can tell them apart.
 */

import { type Fields, type Found, isObject, unicodeViolation, violation } from '../shared/guards.js'
import { missing, wrongType } from '../shared/openai.js'
import { historyViolation, orderViolation } from './history.js'
import { inputViolation } from './items.js'
import {
  booleanViolation,
  optional,
  type ResponsesRequestBody,
  type ResponsesRuleOptions,
  stringViolation,
} from './request.js'
import {
  namespaceListViolation,
  nativeSearchViolation,
  TOOLS,
  toolChoiceViolation,
  toolListViolation,
} from './tools.js'

/** What the server would have to remember or run by itself. The endpoint keeps nothing between requests. */
const STATEFUL = ['previous_response_id', 'conversation', 'prompt', 'background']

/** The first rule that the body breaks, shapes before pairing. Reads the body; keeps and changes nothing. */
export function responsesViolationOf(body: unknown, options: ResponsesRuleOptions = {}): Found {
  if (!isObject(body)) return wrongType(null, 'an object', body)
  return (
    unicodeViolation(body) ??
    modelViolation(body.model) ??
    statefulViolation(body) ??
    optional(body.instructions, 'instructions', stringViolation) ??
    inputViolation(body.input, options) ??
    (body.tools === undefined ? undefined : toolListViolation(body.tools, 'tools', TOOLS, options)) ??
    streamViolation(body) ??
    // The shapes have been checked above, so the body is one.
    togetherViolation(body as unknown as ResponsesRequestBody, options)
  )
}

function modelViolation(model: unknown): Found {
  if (model === undefined || model === '') return missing('model')
  return stringViolation(model, 'model')
}

function statefulViolation(body: Fields): Found {
  const field = STATEFUL.find(
    (name) => body[name] !== undefined && body[name] !== null && body[name] !== false,
  )
  if (field === undefined) return undefined
  const reason = "this endpoint keeps no responses. Send the whole history in 'input'."
  return violation(`Unsupported parameter: '${field}': ${reason}`, field, 'unsupported_parameter')
}

function streamViolation({ stream, stream_options: options }: Fields): Found {
  const found = optional(stream, 'stream', booleanViolation)
  if (found || options === undefined || options === null) return found
  if (!isObject(options)) return wrongType('stream_options', 'an object', options)
  if (stream === true) return undefined
  const reason = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
  return violation(`Invalid value for 'stream_options': ${reason}`, 'stream_options', 'invalid_value')
}

/** What holds between the parts of a request, once each has its shape. */
function togetherViolation(body: ResponsesRequestBody, { strictOrder }: ResponsesRuleOptions): Found {
  return (
    nativeSearchViolation(body) ??
    namespaceListViolation(body) ??
    toolChoiceViolation(body) ??
    historyViolation(body) ??
    (strictOrder ? orderViolation(body) : undefined)
  )
}
