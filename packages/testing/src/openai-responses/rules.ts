/**
 * Rules of a strict, stateless OpenAI Responses server, which answers 400 before running a model. Each request carries its whole
 * history. Messages use OpenAI's wording if it is known, because hosts match on it. The codes are OpenAI's if it has one. It
 * sends `null` for pairing and namespaces, which have names here so that tests can tell them apart.
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

/** Fields that need state on the server. */
const STATEFUL = ['previous_response_id', 'conversation', 'prompt', 'background']

/** First rule that the body breaks: shape first, then pairing. Does not change the body. */
export function findResponsesViolation(body: unknown, options: ResponsesRuleOptions = {}): Found {
  if (!isObject(body)) return wrongType(null, 'an object', body)
  return (
    unicodeViolation(body) ??
    modelViolation(body.model) ??
    statefulViolation(body) ??
    optional(body.instructions, 'instructions', stringViolation) ??
    inputViolation(body.input, options) ??
    (body.tools === undefined ? undefined : toolListViolation(body.tools, 'tools', TOOLS, options)) ??
    streamViolation(body) ??
    // The shape was checked above.
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

/** Rules between the parts of a request. */
function togetherViolation(body: ResponsesRequestBody, { strictOrder }: ResponsesRuleOptions): Found {
  return (
    nativeSearchViolation(body) ??
    namespaceListViolation(body) ??
    toolChoiceViolation(body) ??
    historyViolation(body) ??
    (strictOrder ? orderViolation(body) : undefined)
  )
}
