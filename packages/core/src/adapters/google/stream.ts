/** Reads a streamed reply: chunks to the one content they add up to. */
import { isRecord } from '../shared/thread.js'
import { type GoogleContent, type GooglePart, partsOf } from './wire.js'

export { readEvents } from '../shared/sse.js'

export interface StreamedReply<Content extends GoogleContent = StreamedContent> {
  /** Push it onto your contents. Without parts where the model gave none. */
  readonly content: Content
  /** Or why the prompt was blocked. */
  readonly finishReason: string | undefined
  readonly usage: unknown
  /** False where the stream broke off: do not run its calls, ask again with the same request id. */
  readonly complete: boolean
}

export interface StreamedContent extends GoogleContent {
  readonly role: 'model'
  readonly parts: readonly GooglePart[]
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

/** Adds up chunks, whether parsed here or given by an SDK. A source that fails half-way gives an incomplete reply, not a throw. */
export async function assemble<Content extends GoogleContent = StreamedContent>(
  chunks: AsyncIterable<unknown>,
): Promise<StreamedReply<Content>> {
  const parts: GooglePart[] = []
  let finishReason: string | undefined
  let usage: unknown
  try {
    for await (const chunk of chunks) {
      const { candidates, promptFeedback, usageMetadata, error } = (chunk ?? {}) as Chunk
      if (error) throw error
      usage = usageMetadata ?? usage
      const candidate = candidates?.find(({ index = 0 }) => index === 0)
      for (const part of partsOf(candidate?.content ?? {})) if (isRecord(part)) add(parts, part)
      finishReason = candidate?.finishReason ?? promptFeedback?.blockReason ?? finishReason
    }
  } catch {
    finishReason = undefined
  }
  const content: StreamedContent = { role: 'model', parts }
  return { content: content as unknown as Content, finishReason, usage, complete: finishReason !== undefined }
}

/** A part with a signature stays as it came, even one with empty text: the signature holds for that part alone. */
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
