/** Assembles the chunks of a streamed reply into one content. */
import type { Usage } from '../../accounting/measurement.js'
import { isRecord } from '../../base/data.js'
import { addFigures, checkEvents, readFigure, type StreamedReply } from '../shared/stream.js'
import { cutReplies, joinPieces } from './partial-args.js'
import { type GoogleContent, type GooglePart, listParts } from './types.js'

export { readEvents } from '../shared/stream.js'

export interface StreamedContent extends GoogleContent {
  readonly role: 'model'
  readonly parts: readonly GooglePart[]
}

/** Converts `usageMetadata` of a response for `recordRequest`. This API omits zeros. */
export function readUsage(usage: unknown): Usage {
  const inputTokens = readFigure(usage, 'promptTokenCount')
  const rest = inputTokens === undefined ? undefined : 0
  return {
    inputTokens,
    cachedTokens: readFigure(usage, 'cachedContentTokenCount') ?? rest,
    outputTokens:
      addFigures(readFigure(usage, 'candidatesTokenCount'), readFigure(usage, 'thoughtsTokenCount')) ?? rest,
  }
}

interface Chunk {
  readonly candidates?: readonly {
    readonly content?: GoogleContent
    readonly finishReason?: string
    readonly index?: number
  }[]
  readonly promptFeedback?: { readonly blockReason?: string }
  readonly usageMetadata?: unknown
  readonly error?: unknown
}

/**
 * Assembles chunks that were parsed here or by an SDK. If the source fails, returns an incomplete reply instead of
 * throwing.
 */
export async function assemble<Content extends GoogleContent = StreamedContent>(
  chunks: AsyncIterable<unknown>,
): Promise<StreamedReply<Content, Content>> {
  const parts: GooglePart[] = []
  let finish: string | undefined
  let rawUsage: unknown
  let error: unknown
  try {
    for await (const chunk of checkEvents(chunks)) {
      const { candidates, promptFeedback, usageMetadata, error: failure } = (chunk ?? {}) as Chunk
      if (failure) throw failure
      rawUsage = usageMetadata ?? rawUsage
      const candidate = candidates?.find(({ index = 0 }) => index === 0)
      for (const part of listParts(candidate?.content ?? {})) if (isRecord(part)) add(parts, part)
      // Or the reason why the prompt was blocked.
      finish = candidate?.finishReason ?? promptFeedback?.blockReason ?? finish
    }
  } catch (cause) {
    error = cause ?? 'the stream broke off'
  }
  const content = { role: 'model', parts: joinPieces(parts) } as GoogleContent as Content
  if (finish === 'MAX_TOKENS') cutReplies.add(content)
  return {
    reply: content,
    messages: parts.length > 0 ? [content] : [],
    finish,
    usage: readUsage(rawUsage),
    rawUsage,
    error,
    complete: error === undefined && finish !== undefined,
  }
}

/** A part with a signature stays separate, even with empty text: the signature is valid only for that part. */
function add(parts: GooglePart[], part: GooglePart): void {
  const last = parts.at(-1)
  if (!isPlainText(part)) parts.push(part)
  else if (last && isPlainText(last) && (last.thought ?? false) === (part.thought ?? false))
    parts[parts.length - 1] = { ...last, text: `${last.text}${part.text}` }
  else if (part.text !== '') parts.push(part)
}

function isPlainText(part: GooglePart): boolean {
  return (
    Object.entries(part).every(
      ([field, value]) => field === 'text' || field === 'thought' || value === undefined,
    ) && typeof part.text === 'string'
  )
}
