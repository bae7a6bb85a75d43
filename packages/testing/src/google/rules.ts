/**
 * What a strict Gemini server refuses with a 400 before any model runs: the gate of the scripted endpoint on this wire.
 * Messages are worded as Google words them where its text is known, because hosts and their logs match on it. Google
 * sends no codes for these, so the codes are ours, for tests to tell rules apart. One thing is stricter on purpose: only
 * the camel-case spelling is known, which is what the official client sends, while Google also reads
 * `function_declarations`.
 */

import { type Found, unicodeViolation, violation } from '../shared/guards.js'
import type { Violation } from '../shared/protocol.js'
import { contentViolation, systemViolation } from './contents.js'
import { fieldsOf, flag, listOf, object, text } from './fields.js'
import { mediaResponseViolation } from './media.js'
import type { GoogleRequestBody, GoogleRuleOptions } from './request.js'
import { callingViolation, declarationsViolation, toolConfigViolation, toolViolation } from './tools.js'
import { turnsViolation } from './turns.js'
import { missing } from './wording.js'

/** The first rule that the body breaks, shapes before turns. Reads the body once; keeps and changes nothing. */
export function googleViolationOf(body: unknown, options: GoogleRuleOptions = {}): Violation | undefined {
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
  // The shapes have been checked above, so the body is one, give or take its nulls.
  const request = body as GoogleRequestBody
  if (!request.contents?.length) return missing('contents', 'contents is not specified')
  return (
    declarationsViolation(request) ??
    callingViolation(request) ??
    (options.mediaResponses === false ? mediaResponseViolation(request.contents) : undefined) ??
    turnsViolation(request, options)
  )
}

/** Explicit caches are made on a path that this endpoint does not have, so every name is unknown here. */
function cacheViolation(_name: unknown, at: string): Found {
  return violation('CachedContent not found (or permission denied)', at, 'unknown_cache')
}
