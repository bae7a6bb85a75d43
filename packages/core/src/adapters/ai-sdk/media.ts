/**
 * Images and files in results, as the SDK holds them: one form in the history, whatever provider it is sent to. Before a
 * request, what the provider does not take becomes words: its package would drop it, or write all its base64 as text.
 */
import { isRecord } from '../../base/data.js'
import { isMedia, type ResultPart } from '../../result/part.js'
import { isTaken } from '../../result/taken.js'
import type { Prompts } from '../../surface/prompts.js'
import { describePart } from '../../turn/describe-part.js'
import { mediaOf } from '../shared/media-of.js'
import { sameItems } from '../shared/same-items.js'
import type { Protocol } from './protocol.js'
import { type AiMessage, type AiPart, type AiResultPart, isResult, partsOf } from './types.js'

/** The output of a tool that gave more than text. It holds all that its history needs, however a host stores it. */
interface StoredResult {
  readonly type: 'toolwell-result'
  readonly parts: readonly ResultPart[]
}

export function storedResult(parts: readonly ResultPart[]): StoredResult {
  return { type: 'toolwell-result', parts }
}

export function isStored(output: unknown): output is StoredResult {
  return isRecord(output) && output.type === 'toolwell-result' && Array.isArray(output.parts)
}

/** The same as a result in a history. These kinds are known to versions 6 and 7. */
export function contentOutput(parts: readonly ResultPart[]): object {
  const value = parts.flatMap((part): object[] => {
    if (part.type === 'text') return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }]
    if (!isMedia(part)) return [{ type: 'text', text: JSON.stringify(part) }]
    const { data, mediaType, name } = part
    if (part.type === 'image') return [{ type: 'image-data', data, mediaType }]
    return [{ type: 'file-data', data, mediaType, ...(name === undefined ? {} : { filename: name }) }]
  })
  return { type: 'content', value }
}

/** The message itself where nothing in it changes. Of a provider that is not known here nothing is changed. */
export function withTakenMedia(message: AiMessage, protocol: Protocol, prompts: Prompts): AiMessage {
  if (message.role !== 'tool' || protocol === 'ai-sdk') return message
  const parts = partsOf(message)
  const made = parts.map((part) => (isResult(part) ? takenResult(part, protocol, prompts) : part))
  return sameItems(made, parts) ? message : { ...message, content: made }
}

function takenResult(part: AiResultPart, protocol: Protocol, prompts: Prompts): AiPart {
  const { output } = part
  if (!isRecord(output) || output.type !== 'content' || !Array.isArray(output.value)) return part
  const value: readonly unknown[] = output.value
  const made = value.map((item) => {
    const media = mediaOf(item)
    return media && !isTaken(protocol, media) ? { type: 'text', text: describePart(media, prompts) } : item
  })
  if (sameItems(made, value)) return part
  const words = made.flatMap((item) => (isRecord(item) && item.type === 'text' ? [String(item.text)] : []))
  // Servers of the Chat family take one text; the SDK would write a list as JSON.
  const changed =
    words.length === made.length ? { type: 'text', value: words.join('\n') } : { ...output, value: made }
  return { ...part, output: changed } as AiResultPart
}
