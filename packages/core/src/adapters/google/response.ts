/** What a function gave, as Gemini takes it: words in the response, media beside them in its parts. */
import type { ResultPart } from '../../result/part.js'
import { isTaken } from '../../result/taken.js'
import type { Prompts } from '../../surface/prompts.js'
import { writeParts } from '../shared/media.js'
import { type GoogleFunctionResponse, type GoogleResponseMedia, WIRE } from './types.js'

/**
 * No `displayName`, and no `$ref` to one: the Gemini API refuses references that Vertex documents, and neither needs them.
 * `media`: whether the model takes any.
 */
export function responseOf(
  parts: readonly ResultPart[],
  key: 'result' | 'error',
  media: boolean,
  prompts: Prompts,
): Pick<GoogleFunctionResponse, 'response' | 'parts'> {
  const made = writeParts<GoogleResponseMedia>(
    parts,
    (part) =>
      media && isTaken(WIRE, part)
        ? { inlineData: { mimeType: part.mediaType, data: part.data } }
        : undefined,
    prompts,
  )
  const beside = made.filter((each) => typeof each !== 'string')
  const words = made.filter((each) => typeof each === 'string').join('\n')
  return { response: { [key]: words }, ...(beside.length > 0 ? { parts: beside } : {}) }
}
