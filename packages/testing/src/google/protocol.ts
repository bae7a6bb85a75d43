/** The Gemini wire for the scripted endpoint: `generateContent` and `streamGenerateContent` of the Gemini API. */
import type { Protocol } from '../shared/protocol.js'
import { googleRenderOrder, responseChunks, responseObject } from './answer.js'
import type { GoogleRequestBody, GoogleRuleOptions } from './request.js'
import { findGoogleViolation } from './rules.js'

/** `@google/genai` 3 sends to `v1`, earlier versions to `v1beta`. */
const PATH = /^\/v1(?:beta)?\/(?:models|tunedModels)\/[^/:]+:(generateContent|streamGenerateContent)$/

/** Google's names for HTTP status codes. */
const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

/** The options apply the limits of one model. */
export function googleProtocol(options: GoogleRuleOptions = {}): Protocol<GoogleRequestBody> {
  return {
    name: 'google',
    // The client adds the version.
    basePath: '',
    /** The query is not passed here, so streams are always events. Without `alt=sse`, Google sends an array. */
    match(path) {
      const method = PATH.exec(path)?.[1]
      return method === undefined ? undefined : { stream: method === 'streamGenerateContent' }
    },
    authorised: (headers, apiKey) => headers['x-goog-api-key'] === apiKey,
    violationOf: (body) => findGoogleViolation(body, options),
    // Only the path selects streaming.
    wantsStream: () => false,
    renderOrder: googleRenderOrder,
    answer(answer, _body, context) {
      const object = responseObject(answer, context, options.thoughtSignatures ?? false)
      return {
        object,
        *stream() {
          for (const chunk of responseChunks(object)) yield `data: ${JSON.stringify(chunk)}\r\n\r\n`
        },
      }
    },
    /** This wire has no error codes. */
    errorObject(status, message, _code, param) {
      const details =
        param === null
          ? {}
          : {
              details: [
                {
                  '@type': 'type.googleapis.com/google.rpc.BadRequest',
                  fieldViolations: [{ field: param, description: message }],
                },
              ],
            }
      return { error: { code: status, message, status: STATUS[status] ?? 'UNKNOWN', ...details } }
    },
  }
}
