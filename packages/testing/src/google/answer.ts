/** Writes an answer on the Gemini wire: a single object or the chunks of a stream. */
import { isObject } from '../shared/guards.js'
import type { AnswerContext, ScriptedAnswer, ScriptedCall } from '../shared/protocol.js'
import { commonPrefix, estimateTokens, pieces } from '../shared/usage.js'
import type { GoogleFunctionCall, GooglePart, GoogleRequestBody } from './request.js'

export interface GoogleUsage {
  readonly promptTokenCount: number
  /** Absent if nothing was cached. */
  readonly cachedContentTokenCount?: number
  /** Only in the last chunk of a stream. */
  readonly candidatesTokenCount?: number
  readonly totalTokenCount: number
}

export interface GoogleCandidate {
  /** Without parts after a malformed call with no text before it. */
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

/** The model is in the path, which an answer does not see. */
const MODEL_VERSION = 'scripted'
const CALL_ID_PREFIX = 'function-call-'
const BYTES_PER_TOKEN = 4
/** Google's minimum for models from Gemini 3 on; 2,048 for 2.5. */
const CACHE_MINIMUM = 4096

/**
 * The request in the order in which Gemini shows it to the model: system instruction, tools, contents, each as JSON. A change of
 * tools keeps the cached instruction and loses the contents. `toolConfig` is not included, so allowed names do not change the
 * prefix.
 */
export function googleRenderOrder({ systemInstruction, tools, contents }: GoogleRequestBody): string {
  return [systemInstruction, tools, contents]
    .map((part) => (part === undefined || part === null ? '' : JSON.stringify(part)))
    .join('')
}

/**
 * Tokens that the implicit cache would have kept: the longest prefix shared with an earlier request, at least 4,096. The cache is
 * ideal: it never forgets.
 */
function estimateCachedTokens(rendered: string, earlier: readonly string[]): number {
  const longest = earlier.reduce((length, other) => Math.max(length, commonPrefix(rendered, other)), 0)
  const tokens = Math.floor(Buffer.byteLength(rendered.slice(0, longest)) / BYTES_PER_TOKEN)
  return tokens >= CACHE_MINIMUM ? tokens : 0
}

/**
 * Arguments are objects on this wire. Other arguments, such as broken JSON, end the answer as Gemini does:
 * MALFORMED_FUNCTION_CALL, the text of the call in `finishMessage`, and no call that a host could run. `signed` adds a thought
 * signature to the first call.
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
 * The answer in chunks: text in pieces of eight characters, each call in a separate chunk as its first part, so that a client
 * which tells parallel calls apart by index fails. Every chunk reports the prompt tokens, so a client must not add them up. The
 * finish reason comes with the last call, as the official client needs it, or in a last chunk after text.
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
  // Empty text instead of no parts: the official client treats a chunk without parts as a failure.
  const closing = content.parts && { parts: [last ?? { text: '' }] }
  yield { ...response, candidates: [{ content: { role: 'model', ...closing }, ...ending }] }
}

function functionCall(call: ScriptedCall, context: AnswerContext): GoogleFunctionCall {
  return { id: call.id ?? context.nextCallId(CALL_ID_PREFIX), name: call.name, args: argumentsOf(call) ?? {} }
}

/** Undefined if they are not an object. No arguments give an empty object. */
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

/** Base64, because the field holds bytes. The same on every run. */
function signature({ index }: AnswerContext): string {
  return Buffer.from(`thought ${index + 1}`).toString('base64')
}

function piecesOf(part: GooglePart): readonly GooglePart[] {
  return part.text === undefined ? [part] : pieces(part.text).map((text) => ({ text }))
}
