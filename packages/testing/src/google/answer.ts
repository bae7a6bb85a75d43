/** One answer on the Gemini wire in its two forms: a single object, or the chunks of a stream. */

import { isObject } from '../shared/guards.js'
import type { AnswerContext, ScriptedAnswer, ScriptedCall } from '../shared/protocol.js'
import { commonPrefix, estimateTokens, pieces } from '../shared/usage.js'
import type { GoogleFunctionCall, GooglePart, GoogleRequestBody } from './request.js'

export interface GoogleUsage {
  readonly promptTokenCount: number
  /** Absent where the cache had nothing. */
  readonly cachedContentTokenCount?: number
  /** Absent in all chunks of a stream but the last. */
  readonly candidatesTokenCount?: number
  readonly totalTokenCount: number
}

export interface GoogleCandidate {
  /** No parts at all after a malformed call without text before it. */
  readonly content: { readonly role: 'model'; readonly parts?: readonly GooglePart[] }
  readonly finishReason?: string
  readonly finishMessage?: string
  readonly index: 0
}

export interface GoogleResponse {
  readonly candidates: readonly [GoogleCandidate]
  readonly usageMetadata: GoogleUsage
  readonly modelVersion: string
  readonly responseId: string
}

/** The model is named in the path, which an answer does not see. */
const MODEL_VERSION = 'scripted'
const CALL_ID_PREFIX = 'function-call-'
const BYTES_PER_TOKEN = 4
/** Google's documented minimum for the models from Gemini 3 on; it is 2,048 for 2.5. */
const CACHE_MINIMUM = 4096

/**
 * The request as Gemini lays it before the model: system instruction, then tools, then contents, each as JSON. So a
 * change in the tools keeps the cached instruction and costs the contents. `toolConfig` is no part of it: a mask of
 * allowed names leaves the prefix alone.
 */
export function googleRenderOrder({ systemInstruction, tools, contents }: GoogleRequestBody): string {
  return [systemInstruction, tools, contents]
    .map((part) => (part === undefined || part === null ? '' : JSON.stringify(part)))
    .join('')
}

/**
 * What the implicit cache would have kept: the longest prefix shared with any earlier request, in whole tokens, and
 * nothing below 4,096. The cache is ideal: it never forgets, and every earlier request warmed it.
 */
function estimateCachedTokens(rendered: string, earlier: readonly string[]): number {
  const longest = earlier.reduce((length, other) => Math.max(length, commonPrefix(rendered, other)), 0)
  const tokens = Math.floor(Buffer.byteLength(rendered.slice(0, longest)) / BYTES_PER_TOKEN)
  return tokens >= CACHE_MINIMUM ? tokens : 0
}

/**
 * Arguments are objects on this wire. Those that are not, broken JSON included, end the answer as Gemini ends it: with
 * MALFORMED_FUNCTION_CALL, the text of the call in `finishMessage`, and without any call, so that a host has nothing
 * to run by mistake. `signed` gives the first call a thought signature.
 */
export function responseObject(
  answer: ScriptedAnswer,
  context: AnswerContext,
  signed: boolean,
): GoogleResponse {
  const { text = '', calls: scripted = [], finish } = answer
  const malformed = scripted.find((call) => argumentsOf(call) === undefined)
  const calls = malformed ? [] : scripted.map((call) => functionCall(call, context))
  const parts: GooglePart[] = [
    ...(text !== '' || scripted.length === 0 ? [{ text }] : []),
    ...calls.map((call, index) => ({
      functionCall: call,
      ...(signed && index === 0 && { thoughtSignature: signature(context) }),
    })),
  ]
  const prompt = estimateTokens(context.rendered)
  const cached = estimateCachedTokens(context.rendered, context.earlier)
  const written = estimateTokens(
    [text, ...calls.flatMap(({ name, args }) => [name, JSON.stringify(args)])].join(''),
  )
  return {
    candidates: [
      {
        content: { role: 'model', ...(parts.length > 0 && { parts }) },
        finishReason: finish ?? (malformed ? 'MALFORMED_FUNCTION_CALL' : 'STOP'),
        ...(malformed && {
          finishMessage: `Malformed function call: ${malformed.name}(${textOf(malformed)})`,
        }),
        index: 0,
      },
    ],
    usageMetadata: {
      promptTokenCount: prompt,
      ...(cached > 0 && { cachedContentTokenCount: cached }),
      candidatesTokenCount: written,
      totalTokenCount: prompt + written,
    },
    modelVersion: MODEL_VERSION,
    responseId: `response-${context.index + 1}`,
  }
}

/**
 * The same answer in pieces. Text comes eight characters at a time and each call whole, in a chunk of its own, where
 * it is always the first part: a client that tells parallel calls apart by their place fails here. Every chunk reports
 * the prompt, so a client that adds usage up counts it more than once. The end comes with the last call, as the
 * official client's chat needs it, and after text in a chunk of its own.
 */
export function* responseChunks(response: GoogleResponse): Generator<GoogleResponse> {
  const { candidatesTokenCount: _last, ...usage } = response.usageMetadata
  const usageMetadata = { ...usage, totalTokenCount: usage.promptTokenCount }
  const [{ content, ...ending }] = response.candidates
  const parts = (content.parts ?? []).flatMap(piecesOf)
  const last = parts.at(-1)?.functionCall ? parts.pop() : undefined
  for (const part of parts) {
    yield {
      ...response,
      candidates: [{ content: { role: 'model', parts: [part] }, index: 0 }],
      usageMetadata,
    }
  }
  // Empty text rather than no parts: the official client takes a chunk without parts for a failure.
  const closing = content.parts && { parts: [last ?? { text: '' }] }
  yield { ...response, candidates: [{ content: { role: 'model', ...closing }, ...ending }] }
}

function functionCall(call: ScriptedCall, context: AnswerContext): GoogleFunctionCall {
  return { id: call.id ?? context.nextCallId(CALL_ID_PREFIX), name: call.name, args: argumentsOf(call) ?? {} }
}

/** Undefined when they are no object. None at all are an empty one. */
function argumentsOf(call: ScriptedCall): GoogleFunctionCall['args'] {
  try {
    const value: unknown = JSON.parse(textOf(call))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

function textOf({ arguments: input }: ScriptedCall): string {
  return typeof input === 'string' ? input : JSON.stringify(input ?? {})
}

/** Base64, as the field is bytes. Equal on every run. */
function signature({ index }: AnswerContext): string {
  return Buffer.from(`thought ${index + 1}`).toString('base64')
}

function piecesOf(part: GooglePart): readonly GooglePart[] {
  return part.text === undefined ? [part] : pieces(part.text).map((text) => ({ text }))
}
