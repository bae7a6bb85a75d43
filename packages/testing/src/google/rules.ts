/**
 * Rules of a strict Gemini server, which answers 400 before running a model, including the order of turns. Messages use Google's
 * wording if it is known, because hosts match on it. Google sends no codes for these; ours let tests tell rules apart. Stricter
 * on purpose: only the camel-case spelling of the official client is accepted, while Google also reads `function_declarations`.
 */
import { type Found, firstOf, unicodeViolation, violation } from '../shared/guards.js'
import type { Violation } from '../shared/protocol.js'
import { contentViolation, mediaResponseViolation, systemViolation } from './contents.js'
import { fieldsOf, flag, invalid, isPresent, listOf, missing, object, text } from './refusals.js'
import {
  declaredNames,
  type GoogleContent,
  type GoogleFunctionCall,
  type GoogleFunctionResponse,
  type GoogleRequestBody,
  type GoogleRuleOptions,
} from './request.js'
import { callingViolation, declarationsViolation, toolConfigViolation, toolViolation } from './tools.js'

/** First rule that the body breaks: shape first, then turns. Does not change the body. */
export function findGoogleViolation(body: unknown, options: GoogleRuleOptions = {}): Violation | undefined {
  const shape = fieldsOf({
    contents: listOf(contentViolation),
    systemInstruction: systemViolation,
    tools: listOf(toolViolation(options)),
    toolConfig: toolConfigViolation,
    generationConfig: object,
    safetySettings: listOf(object),
    cachedContent: cacheViolation,
    model: text,
    serviceTier: text,
    labels: object,
    continuationToken: text,
    store: flag,
  })(body, '')
  const ill = unicodeViolation(body) ?? shape
  if (ill) return ill
  // The shape was checked above, except for nulls.
  const request = body as GoogleRequestBody
  if (!request.contents?.length) return missing('contents', 'contents is not specified')
  return (
    declarationsViolation(request) ??
    callingViolation(request) ??
    (options.mediaResponses === false ? mediaResponseViolation(request.contents) : undefined) ??
    turnsViolation(request, options)
  )
}

/** Explicit caches are created on a path that this endpoint lacks, so every name is unknown. */
function cacheViolation(_name: unknown, at: string): Found {
  return violation('CachedContent not found (or permission denied)', at, 'unknown_cache')
}

/**
 * Every call is answered exactly once, in the next turn. Each content is a turn: servers do not join neighbours of one role, so
 * responses or parallel calls split over two contents fail.
 */
function turnsViolation(request: GoogleRequestBody, options: GoogleRuleOptions): Found {
  const { contents } = request
  // The server adds functions for this tool.
  const declared = request.tools?.some((tool) => isPresent(tool.computerUse))
    ? undefined
    : declaredNames(request)
  const spoken = contents.findLastIndex(
    (content) => content.role !== 'model' && responsesOf(content).length === 0,
  )
  for (const [index, content] of contents.entries()) {
    const at = `contents[${index}]`
    const previous = contents[index - 1]
    const found =
      responsesViolation(content, at, previous ? callsOf(previous) : []) ??
      callsViolation(content, at, previous, declared) ??
      (options.thoughtSignatures && index > spoken ? signatureViolation(content, at, index) : undefined)
    if (found) return found
  }
  if (contents[0]?.role === 'model') {
    const message = 'Please ensure that multiturn requests alternate between user and model.'
    return violation(message, 'contents[0].role', 'model_first')
  }
  const last = contents.length - 1
  const open = contents[last] ? callsOf(contents[last]) : []
  if (open.length > 0) return unequal('contents')
  if (contents[last]?.role !== 'model') return undefined
  // Newer models refuse this; earlier ones continue the turn.
  const message = 'Requests ending with a model turn are not supported.'
  return violation(message, `contents[${last}].role`, 'model_last')
}

function responsesViolation(content: GoogleContent, at: string, calls: readonly GoogleFunctionCall[]): Found {
  const responses = responsesOf(content)
  if (calls.length === 0 && responses.length === 0) return undefined
  if (calls.length === 0 || content.role === 'model') {
    if (responses.length === 0) return unequal(at)
    const message = 'Please ensure that function response turn comes immediately after a function call turn.'
    return violation(message, at, 'orphan_function_response')
  }
  if (responses.length !== calls.length) return unequal(at)
  const open = [...calls]
  for (const [position, part] of content.parts.entries()) {
    const place = `${at}.parts[${position}].functionResponse`
    const response = part.functionResponse
    if (!response) {
      if (position >= responses.length) break
      const reason = 'function responses must come before the other parts of their turn.'
      return invalid(`${at}.parts[${position}]`, reason, 'misplaced_function_response')
    }
    const answered = open.findIndex(
      (call) => (call.id ?? '') === (response.id ?? '') && call.name === response.name,
    )
    if (answered === -1) {
      const id = response.id ? ` and id '${response.id}'` : ''
      const reason = `no open function call has the name '${response.name}'${id}.`
      return invalid(place, reason, 'mismatched_function_response')
    }
    open.splice(answered, 1)
  }
  return undefined
}

function callsViolation(
  content: GoogleContent,
  at: string,
  previous: GoogleContent | undefined,
  declared: ReadonlySet<string> | undefined,
): Found {
  const calls = callsOf(content)
  if (calls.length === 0) return undefined
  if (content.role !== 'model') {
    return invalid(
      `${at}.role`,
      "function calls belong to turns with role 'model'.",
      'misplaced_function_call',
    )
  }
  if (!previous || previous.role === 'model') {
    const message =
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
    return violation(message, at, 'misplaced_function_call')
  }
  const ids = new Set<string>()
  return firstOf(content.parts.entries(), ([position, { functionCall }]) => {
    const place = `${at}.parts[${position}].functionCall`
    if (!functionCall) return undefined
    if (functionCall.id && ids.has(functionCall.id)) {
      return invalid(`${place}.id`, `Duplicate function call id: ${functionCall.id}`, 'duplicate_call_id')
    }
    if (functionCall.id) ids.add(functionCall.id)
    if (!declared || declared.has(functionCall.name)) return undefined
    // Stricter than Google, which accepts any name here. If a host drops a function after its use, the model sees calls that it
    // can no longer make.
    const reason = `'${functionCall.name}' is not in function_declarations.`
    return invalid(`${place}.name`, reason, 'undeclared_function')
  })
}

/** Only the first of parallel calls has a signature. Its content is opaque. */
function signatureViolation({ parts }: GoogleContent, at: string, index: number): Found {
  const position = parts.findIndex((part) => part.functionCall)
  const part = parts[position]
  if (!part?.functionCall || part.thoughtSignature) return undefined
  const message =
    `Function call \`${part.functionCall.name}\` in the ${index + 1}. content block is missing a ` +
    '`thought_signature`.'
  return violation(message, `${at}.parts[${position}].thoughtSignature`, 'missing_thought_signature')
}

function callsOf(content: GoogleContent): readonly GoogleFunctionCall[] {
  return content.parts.flatMap((part) => part.functionCall ?? [])
}

function responsesOf(content: GoogleContent): readonly GoogleFunctionResponse[] {
  return content.parts.flatMap((part) => part.functionResponse ?? [])
}

function unequal(at: string): Violation {
  const message =
    'Please ensure that the number of function response parts is equal to the number of function call parts of the ' +
    'function call turn.'
  return violation(message, at, 'unanswered_function_calls')
}
